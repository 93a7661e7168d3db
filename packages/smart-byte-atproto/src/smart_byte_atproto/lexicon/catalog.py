"""The schemas at hand, by name.

Documents are parsed when they are asked for, so a catalogue of hundreds costs what is used of it.

Source: atproto specification "Lexicon", section "References".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Self

from smart_byte_atproto.errors import InvalidData, InvalidLexicon, UnknownSchema

from .schema import (
    MAIN,
    Array,
    Definition,
    Lexicon,
    Object,
    Params,
    Procedure,
    Query,
    Record,
    Ref,
    Subscription,
    Union,
    parse,
)

MAX_FILES: Final = 10_000
"""Documents that one folder may hold (ours)."""


class Catalog:
    """Lexicon documents by NSID.

    Args:
        lexicons: Documents to start with.
    """

    def __init__(self, lexicons: Iterable[Lexicon] = ()) -> None:
        self._parsed: dict[str, Lexicon] = {}
        self._files: dict[str, Path] = {}
        self._resolved: dict[str, tuple[Lexicon, Definition]] = {}
        for lexicon in lexicons:
            self.add(lexicon)

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """Take every `.json` file below a folder; each says itself what it is called.

        Files in the usual place (`app/bsky/feed/post.json`) are read when they are asked for;
        others at once.

        Raises:
            InvalidData: A file that is no Lexicon document, or a name that stands twice.
            OSError: The folder cannot be read.
        """
        catalog = cls()
        files = sorted(folder.rglob("*.json"))
        if len(files) > MAX_FILES:
            raise InvalidLexicon(f"more than {MAX_FILES} files", at=str(folder))
        for file in files:
            name = ".".join(file.relative_to(folder).with_suffix("").parts)
            if name.count(".") > 1:
                catalog._files[name] = file
            else:
                catalog.add(_read(file))
        return catalog

    def add(self, lexicon: Lexicon) -> None:
        """Take a document in.

        Raises:
            InvalidLexicon: One of that name is here.
        """
        if lexicon.id in self:
            raise InvalidLexicon("a document of this name is here already", at=lexicon.id)
        self._parsed[lexicon.id] = lexicon

    def __contains__(self, nsid: object) -> bool:
        return nsid in self._parsed or nsid in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._parsed.keys() | self._files.keys()))

    def __len__(self) -> int:
        return len(self._parsed.keys() | self._files.keys())

    def __getitem__(self, nsid: str) -> Lexicon:
        """Return a document.

        Raises:
            UnknownSchema: There is none of that name.
            InvalidData: Its file is no Lexicon document, or says that it is another.
        """
        found = self._parsed.get(nsid)
        if found is None:
            file = self._files.get(nsid)
            if file is None:
                raise UnknownSchema(nsid)
            found = _read(file)
            if found.id != nsid:
                raise InvalidLexicon(f"the file of {nsid} holds {found.id}", at=str(file))
            self._parsed[nsid] = found
        return found

    def resolve(self, name: str) -> tuple[Lexicon, Definition]:
        """Return the schema of a full name, `nsid` or `nsid#name`, and the document it is in.

        Raises:
            UnknownSchema: There is none.
            InvalidData: See `__getitem__`.
        """
        known = self._resolved.get(name)
        if known is None:
            nsid, _, inner = name.partition("#")
            lexicon = self[nsid]
            schema = lexicon.defs.get(inner or MAIN)
            if schema is None:
                raise UnknownSchema(name)
            known = self._resolved[name] = (lexicon, schema)
        return known

    def dangling(self) -> Iterator[tuple[str, str]]:
        """Yield each reference that leads nowhere: where it stands, and to what.

        Raises:
            InvalidData: A file that is no Lexicon document.
        """
        for nsid in self:
            lexicon = self[nsid]
            for ref in sorted({lexicon.absolute(ref) for ref in references(lexicon.defs)}):
                try:
                    self.resolve(ref)
                except UnknownSchema:
                    yield nsid, ref


def references(defs: Mapping[str, Definition]) -> Iterator[str]:
    """Yield the references in schemas, as they stand there."""
    pending: list[Definition | None] = list(defs.values())
    while pending:
        schema = pending.pop()
        match schema:
            case Ref():
                yield schema.ref
            case Union():
                yield from schema.refs
            case Array():
                pending.append(schema.items)
            case Object() | Params():
                pending += schema.properties.values()
            case Record():
                pending.append(schema.record)
            case Query() | Procedure():
                bodies = [schema.output, schema.input if isinstance(schema, Procedure) else None]
                pending += [body.schema for body in bodies if body is not None]
                pending.append(schema.parameters)
            case Subscription():
                pending.append(schema.parameters)
                pending.append(None if schema.message is None else schema.message.schema)
            case _:
                pass


def _read(file: Path) -> Lexicon:
    try:
        return parse(file.read_bytes())
    except InvalidData as bad:
        raise InvalidLexicon(f"{file.name}: {bad}") from bad
