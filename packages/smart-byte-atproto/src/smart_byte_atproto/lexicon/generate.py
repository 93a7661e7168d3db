"""Typed Python from Lexicon documents: one small module for each, which imports nothing.

An object becomes a `TypedDict`, so that typed data are the very maps that are encoded, signed and
sent, and fields that no schema names survive. What an object refers to in other documents is
imported for type checkers alone: a module that is not used costs nothing, and one that is used
costs itself.

| def                     | becomes                                                    |
|-------------------------|------------------------------------------------------------|
| `main` of a record      | a TypedDict named after the NSID's last part, with `$type` |
| object `replyRef`       | TypedDict `ReplyRef`                                       |
| string, array, ... `x`  | alias `X`                                                  |
| token `x`               | constant `X`, its full name                                |
| query, procedure        | `Params`, `Input`, `Output`, `ErrorName`                   |
| subscription            | `Params`, `Message`, `ErrorName`                           |

Every module has `NSID`. Open unions, blobs and references to documents that are not at hand take
any map.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass, field as dataclass_field
from typing import Final

from .catalog import Catalog
from .schema import (
    MAIN,
    Array,
    Body,
    Boolean,
    Bytes,
    CIDLink,
    Definition,
    Integer,
    Lexicon,
    NamedError,
    Object,
    Params,
    Procedure,
    Query,
    Record,
    Ref,
    String,
    Subscription,
    Token,
    Union,
)

_HEADER: Final = '"""Made by `smart-byte lexicon generate`; change the schema instead."""\n'
_VALUE: Final = "dict[str, object]"
_INDENT: Final = "    "


@dataclass(slots=True)
class _Module:
    """One module that is being written."""

    lexicon: Lexicon
    package: str
    names: dict[str, str]
    lines: list[str] = dataclass_field(default_factory=list)
    imports: set[tuple[str, str]] = dataclass_field(default_factory=set)
    typing: set[str] = dataclass_field(default_factory=set)


def generate(catalog: Catalog, *, package: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a package: path relative to its folder, and text.

    Args:
        catalog: Documents.
        package: Import path of the package, for example `lexicons`.

    Raises:
        InvalidData: A file of the catalogue that is no Lexicon document.
    """
    folders: set[tuple[str, ...]] = {()}
    for nsid in catalog:
        parts = tuple(_module_name(part) for part in nsid.split("."))
        folders |= {parts[:length] for length in range(1, len(parts))}
        yield "/".join(parts) + ".py", _module(catalog, catalog[nsid], package)
    for folder in sorted(folders):
        yield "/".join((*folder, "__init__.py")), _HEADER
    yield "py.typed", ""


def _module(catalog: Catalog, lexicon: Lexicon, package: str) -> str:
    module = _Module(lexicon, package, _class_names(lexicon))
    for name, schema in lexicon.defs.items():
        _write(module, catalog, name, schema)
    head = [_HEADER, "from __future__ import annotations", ""]
    typing = {"Final", *module.typing}
    if module.imports:
        typing.add("TYPE_CHECKING")
    head.append(f"from typing import {', '.join(sorted(typing))}")
    if module.imports:
        head += ["", "if TYPE_CHECKING:"]
        head += [f"{_INDENT}from {origin} import {what}" for origin, what in sorted(module.imports)]
    head += ["", f'NSID: Final = "{lexicon.id}"']
    return "\n".join([*head, *module.lines, ""])


def _write(module: _Module, catalog: Catalog, name: str, schema: Definition) -> None:
    wanted = module.names[name]
    match schema:
        case Record():
            nsid = module.lexicon.id
            _typed_dict(module, catalog, wanted, schema.record, type_name=nsid, is_record=True)
        case Object():
            _typed_dict(module, catalog, wanted, schema, type_name=_full(module.lexicon, name))
        case Query() | Procedure() | Subscription():
            _call(module, catalog, schema)
        case Token():
            module.lines += ["", "", f'{wanted}: Final = "{_full(module.lexicon, name)}"']
        case _:
            written = _type(module, catalog, schema)
            _alias(module, wanted, written)


def _call(module: _Module, catalog: Catalog, schema: Query | Procedure | Subscription) -> None:
    parameters = schema.parameters or Params()
    _typed_dict(module, catalog, "Params", parameters, type_name=None)
    if isinstance(schema, Procedure):
        _body(module, catalog, "Input", schema.input)
    if isinstance(schema, Subscription):
        if schema.message is not None:
            _alias(module, "Message", _type(module, catalog, schema.message.schema))
    else:
        _body(module, catalog, "Output", schema.output)
    _errors(module, schema.errors)


def _body(module: _Module, catalog: Catalog, name: str, body: Body | None) -> None:
    if body is None:
        _alias(module, name, "None")
    elif body.schema is None:
        _alias(module, name, "bytes")
    elif isinstance(body.schema, Object):
        _typed_dict(module, catalog, name, body.schema, type_name=None)
    else:
        _alias(module, name, _type(module, catalog, body.schema))


def _errors(module: _Module, errors: tuple[NamedError, ...]) -> None:
    if errors:
        module.typing.add("Literal")
        _alias(module, "ErrorName", f"Literal[{', '.join(repr(one.name) for one in errors)}]")


def _alias(module: _Module, name: str, written: str) -> None:
    module.typing.add("TypeAlias")
    shown = written if written == "None" else f'"{written}"'
    module.lines += ["", "", f"{name}: TypeAlias = {shown}"]


def _typed_dict(
    module: _Module,
    catalog: Catalog,
    name: str,
    schema: Object | Params,
    *,
    type_name: str | None,
    is_record: bool = False,
) -> None:
    """Write a TypedDict, and before it those that it is built on.

    What is required and what is not stand in classes of their own, since `NotRequired` in the text
    of an annotation is not seen when the class is made; fields whose names are no Python names
    need the form of a call.
    """
    fields: dict[bool, dict[str, str]] = {True: {}, False: {}}
    if type_name is not None:
        module.typing.add("Literal")
        fields[is_record]["$type"] = f"Literal[{type_name!r}]"
    nullable = schema.nullable if isinstance(schema, Object) else ()
    for field_name, field in schema.properties.items():
        written = _type(module, catalog, field)
        if field_name in nullable:
            written += " | None"
        fields[field_name in schema.required][field_name] = written
    module.typing.add("TypedDict")
    bases = [
        base
        for base in (
            _odd(module, f"_{name}Odd", fields[True], total=True),
            _odd(module, f"_{name}OddOptional", fields[False], total=False),
        )
        if base
    ]
    required, optional = (_plain(fields[needed]) for needed in (True, False))
    if required and optional:
        _class(module, f"_{name}", bases, required)
        _class(module, name, [f"_{name}"], optional, text=schema.description, total=False)
    else:
        body = required or optional
        _class(module, name, bases, body, text=schema.description, total=not optional)


def _is_plain(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _plain(fields: dict[str, str]) -> list[str]:
    return [f"{_INDENT}{name}: {written}" for name, written in fields.items() if _is_plain(name)]


def _odd(module: _Module, name: str, fields: dict[str, str], *, total: bool) -> str:
    """Write a TypedDict of the fields whose names are no Python names; return its name or ""."""
    odd = [f'{key!r}: "{written}"' for key, written in fields.items() if not _is_plain(key)]
    if not odd:
        return ""
    end = "" if total else ", total=False"
    module.lines += ["", "", f'{name} = TypedDict("{name}", {{{", ".join(odd)}}}{end})']
    return name


def _class(
    module: _Module,
    name: str,
    bases: list[str],
    fields: list[str],
    *,
    text: str | None = None,
    total: bool = True,
) -> None:
    plain = (text or "").replace("\\", "\\\\").replace('"""', "'''").strip()
    body = [f'{_INDENT}"""{plain}"""', ""] if plain and not plain.endswith('"') else []
    heads = ", ".join([*(bases or ["TypedDict"]), *([] if total else ["total=False"])])
    module.lines += ["", "", f"class {name}({heads}):", *body, *(fields or [f"{_INDENT}pass"])]


def _type(module: _Module, catalog: Catalog, schema: Definition) -> str:  # noqa: PLR0911 - one line for each type of the language
    match schema:
        case Boolean():
            return "bool"
        case Integer():
            return _literal(module, schema.enum, schema.const, "int")
        case String():
            return _literal(module, schema.enum, schema.const, "str")
        case Token():
            return "str"
        case Bytes():
            return "bytes"
        case CIDLink():
            module.imports.add(("smart_byte_atproto.data.cid", "CID"))
            return "CID"
        case Array():
            return f"list[{_type(module, catalog, schema.items)}]"
        case Ref():
            return _reference(module, catalog, schema.ref)
        case Union():
            members = [_reference(module, catalog, ref) for ref in schema.refs]
            return " | ".join(dict.fromkeys(members if schema.closed else [*members, _VALUE]))
        case _:
            return _VALUE


def _literal(
    module: _Module, enum: tuple[object, ...] | None, const: object, otherwise: str
) -> str:
    values = enum if const is None else (const,)
    if not values:
        return otherwise
    module.typing.add("Literal")
    return f"Literal[{', '.join(map(repr, values))}]"


def _reference(module: _Module, catalog: Catalog, ref: str) -> str:
    """Return the name of what a reference means, imported where it is elsewhere."""
    nsid, _, name = module.lexicon.absolute(ref).partition("#")
    name = name or MAIN
    if nsid == module.lexicon.id:
        return module.names.get(name, _VALUE)
    if nsid not in catalog or name not in catalog[nsid].defs:
        return _VALUE
    if isinstance(catalog[nsid].defs[name], Token):
        return "str"
    parts = [_module_name(part) for part in nsid.split(".")]
    local = "_".join((*parts, name))
    wanted = _class_names(catalog[nsid])[name]
    module.imports.add((".".join((module.package, *parts)), f"{wanted} as {local}"))
    return local


def _class_names(lexicon: Lexicon) -> dict[str, str]:
    """Return the Python name of each schema of a document; no two are alike."""
    names: dict[str, str] = {}
    taken = {"NSID", "Final", "TypedDict", "Params", "Input", "Output", "Message", "ErrorName"}
    for name in lexicon.defs:
        word = lexicon.id.rpartition(".")[2] if name == MAIN else name
        wanted = word[0].upper() + word[1:]
        while wanted in taken or keyword.iskeyword(wanted):
            wanted += "_"
        taken.add(wanted)
        names[name] = wanted
    return names


def _full(lexicon: Lexicon, name: str) -> str:
    return str(lexicon.id) if name == MAIN else f"{lexicon.id}#{name}"


def _module_name(part: str) -> str:
    """Return a part of an NSID as a Python name."""
    name = part.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) or not name.isidentifier() else name
