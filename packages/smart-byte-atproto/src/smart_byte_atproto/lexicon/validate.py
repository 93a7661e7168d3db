"""Data against its schema: records, parameters, bodies of calls, events of streams.

Every check yields `SchemaMismatch` with a path and goes on, so a caller sees all that is wrong;
the functions whose names begin with `check` raise the first. Fields that no schema names are left
alone, as the language demands; nothing is ever changed.

Source: atproto specification "Lexicon".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from smart_byte_atproto.data.blob import Blob as BlobValue
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    InvalidData,
    InvalidSyntax,
    SchemaMismatch,
    UnknownSchema,
)
from smart_byte_atproto.syntax import FORMATS

from .catalog import Catalog
from .graphemes import count_graphemes
from .schema import (
    Array,
    Blob,
    Body,
    Boolean,
    Bytes,
    CIDLink,
    Definition,
    Integer,
    Lexicon,
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
    Unknown,
)

MOST_PROBLEMS: Final = 100
"""How many mismatches of one value are told (ours)."""

Problems = Iterator[SchemaMismatch]


class Validator:
    """Checks data against the schemas of a catalogue.

    Args:
        catalog: The schemas.
        lenient: Whether blobs may be in the form of 2022, without a size, and their links of any
            codec: published records and the interop tests have both.
    """

    def __init__(self, catalog: Catalog, *, lenient: bool = False) -> None:
        self._catalog = catalog
        self._lenient = lenient

    def problems(
        self, value: Value, *, collection: str | None = None, record_key: str | None = None
    ) -> list[SchemaMismatch]:
        """Return what is wrong with a record, at most 100 things; nothing if it is right.

        Args:
            value: The record.
            collection: NSID that it is kept under; what its `$type` says by default.
            record_key: Key that it is kept under, where that is to be checked too.

        Raises:
            UnknownSchema: No schema of that name is at hand, or none of a record.
        """
        return list(islice(self._record(value, collection, record_key), MOST_PROBLEMS))

    def check_record(
        self, value: Value, *, collection: str | None = None, record_key: str | None = None
    ) -> None:
        """Check a record; see `problems`.

        Raises:
            SchemaMismatch: The first thing that is wrong.
            UnknownSchema: No schema of that name is at hand, or none of a record.
        """
        _raise_first(self._record(value, collection, record_key))

    def check_params(self, nsid: str, params: Mapping[str, Value]) -> None:
        """Check the parameters of a query, procedure or subscription, as typed values.

        Raises:
            SchemaMismatch: The first thing that is wrong.
            UnknownSchema: No such call is at hand.
        """
        lexicon, schema = self._call(nsid)
        _raise_first(self._fields(schema.parameters or Params(), dict(params), "", lexicon))

    def check_input(self, nsid: str, value: Value | bytes, *, encoding: str) -> None:
        """Check the body of a procedure's request; one that is not JSON only by its media type.

        Raises:
            SchemaMismatch: The first thing that is wrong.
            UnknownSchema: No such procedure is at hand.
        """
        lexicon, schema = self._call(nsid)
        body = schema.input if isinstance(schema, Procedure) else None
        _raise_first(self._body(body, value, encoding, lexicon))

    def check_output(self, nsid: str, value: Value | bytes, *, encoding: str) -> None:
        """Check the body of an answer; one that is not JSON only by its media type.

        Raises:
            SchemaMismatch: The first thing that is wrong.
            UnknownSchema: No such query or procedure is at hand.
        """
        lexicon, schema = self._call(nsid)
        body = None if isinstance(schema, Subscription) else schema.output
        _raise_first(self._body(body, value, encoding, lexicon))

    def check_message(self, nsid: str, name: str, value: Value) -> None:
        """Check an event of a stream.

        Args:
            nsid: The subscription.
            name: Type as the frame's header has it: `#name`, or a full one.
            value: The payload.

        Raises:
            SchemaMismatch: The first thing that is wrong.
            UnknownSchema: No such subscription is at hand.
        """
        lexicon, schema = self._call(nsid)
        if not isinstance(schema, Subscription) or schema.message is None:
            raise UnknownSchema(nsid)
        if not isinstance(value, dict):
            raise SchemaMismatch("not a map", at="", code="type")
        typed: Value = {**value, "$type": lexicon.absolute(name)}
        _raise_first(self._union(schema.message.schema, typed, "", lexicon))

    # What each kind of schema asks for.

    def _call(self, nsid: str) -> tuple[Lexicon, Query | Procedure | Subscription]:
        lexicon, schema = self._catalog.resolve(nsid)
        if not isinstance(schema, Query | Procedure | Subscription):
            raise UnknownSchema(nsid)
        return lexicon, schema

    def _record(self, value: Value, collection: str | None, record_key: str | None) -> Problems:
        told = value.get("$type") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(told, str):
            yield SchemaMismatch("a record is a map with a $type", at="", code="type")
            return
        name = told if collection is None else collection
        lexicon, schema = self._catalog.resolve(name)
        if not isinstance(schema, Record) or "#" in name:
            raise UnknownSchema(name)
        if told != name:
            yield SchemaMismatch(f"{told!r} is not {name}", at="$type", code="const")
        if record_key is not None and not _fits_key(schema.key, record_key):
            yield SchemaMismatch(
                f"the record key {record_key!r} is not of the kind {schema.key}", at="", code="key"
            )
        yield from self._fields(schema.record, value, "", lexicon)

    def _body(
        self, body: Body | None, value: Value | bytes, encoding: str, lexicon: Lexicon
    ) -> Problems:
        if body is None:
            if value not in (None, b""):
                yield SchemaMismatch("there is no body here", at="", code="encoding")
            return
        plain = encoding.partition(";")[0].strip().lower()
        if not _accepts(body.encoding, plain):
            yield SchemaMismatch(f"{plain!r} is not {body.encoding}", at="", code="encoding")
        elif body.schema is not None:
            yield from self._any(body.schema, value, "", lexicon)

    def _fields(
        self, schema: Object | Params, value: dict[str, Value], at: str, lexicon: Lexicon
    ) -> Problems:
        for name in schema.required:
            if name not in value:
                yield SchemaMismatch(
                    "a required field is missing", at=_join(at, name), code="required"
                )
        nullable = schema.nullable if isinstance(schema, Object) else ()
        for name, field in schema.properties.items():
            if name not in value:
                continue
            item = value[name]
            if item is None:
                if name not in nullable:
                    yield SchemaMismatch("null is no value here", at=_join(at, name), code="null")
            else:
                yield from self._any(field, item, _join(at, name), lexicon)

    def _any(self, schema: Definition, value: Value, at: str, lexicon: Lexicon) -> Problems:  # noqa: C901, PLR0912 - one line for each type of the language
        match schema:
            case Boolean():
                yield from _boolean(schema, value, at)
            case Integer():
                yield from _integer(schema, value, at)
            case String():
                yield from _string(schema, value, at)
            case Bytes():
                yield from _bytes(schema, value, at)
            case CIDLink():
                if not isinstance(value, CID):
                    yield _not("a link", at)
            case Blob():
                yield from _blob(schema, value, at, lenient=self._lenient)
            case Unknown():
                if not isinstance(value, dict) or value.get("$type") == "blob":
                    yield _not("a map", at)
            case Token():
                if not isinstance(value, str):
                    yield _not("a text", at)
            case Ref():
                yield from self._ref(lexicon.absolute(schema.ref), value, at)
            case Union():
                yield from self._union(schema, value, at, lexicon)
            case Array():
                yield from self._array(schema, value, at, lexicon)
            case Object():
                if isinstance(value, dict):
                    yield from self._fields(schema, value, at, lexicon)
                else:
                    yield _not("a map", at)
            case Record():
                if isinstance(value, dict):
                    yield from self._fields(schema.record, value, at, lexicon)
                else:
                    yield _not("a map", at)
            case _:
                yield SchemaMismatch("a schema of this type has no values", at=at, code="type")

    def _ref(self, name: str, value: Value, at: str) -> Problems:
        try:
            lexicon, schema = self._catalog.resolve(name)
        except UnknownSchema as missing:
            yield SchemaMismatch(str(missing), at=at, code="unknown-schema")
        else:
            yield from self._any(schema, value, at, lexicon)

    def _union(self, schema: Union, value: Value, at: str, lexicon: Lexicon) -> Problems:
        told = value.get("$type") if isinstance(value, dict) else None
        if not isinstance(told, str) or not told or told.endswith("#main"):
            yield SchemaMismatch("a member of a union is a map with a $type", at=at, code="union")
        elif told in {lexicon.absolute(ref) for ref in schema.refs}:
            yield from self._ref(told, value, at)
        elif schema.closed:
            yield SchemaMismatch(f"{told!r} is none of the union", at=at, code="union")

    def _array(self, schema: Array, value: Value, at: str, lexicon: Lexicon) -> Problems:
        if not isinstance(value, list):
            yield _not("a list", at)
            return
        yield from _within(len(value), schema.min_length, schema.max_length, "items", "length", at)
        for index, item in enumerate(value):
            yield from self._any(schema.items, item, _join(at, index), lexicon)


def _boolean(schema: Boolean, value: Value, at: str) -> Problems:
    if not isinstance(value, bool):
        yield _not("a boolean", at)
    elif schema.const is not None and value is not schema.const:
        yield SchemaMismatch(f"not {schema.const}", at=at, code="const")


def _integer(schema: Integer, value: Value, at: str) -> Problems:
    if type(value) is not int:
        yield _not("an integer", at)
        return
    if schema.const is not None and value != schema.const:
        yield SchemaMismatch(f"{value} is not {schema.const}", at=at, code="const")
    if schema.enum is not None and value not in schema.enum:
        yield SchemaMismatch(f"{value} is not in the list of values", at=at, code="enum")
    if schema.minimum is not None and value < schema.minimum:
        yield SchemaMismatch(f"{value} is below {schema.minimum}", at=at, code="range")
    if schema.maximum is not None and value > schema.maximum:
        yield SchemaMismatch(f"{value} is above {schema.maximum}", at=at, code="range")


def _string(schema: String, value: Value, at: str) -> Problems:
    if not isinstance(value, str):
        yield _not("a text", at)
        return
    if schema.const is not None and value != schema.const:
        yield SchemaMismatch(f"not {schema.const!r}", at=at, code="const")
    if schema.enum is not None and value not in schema.enum:
        yield SchemaMismatch("not in the list of values", at=at, code="enum")
    size = len(value.encode("utf-8", "surrogatepass"))
    yield from _within(size, schema.min_length, schema.max_length, "bytes", "length", at)
    low, high = schema.min_graphemes, schema.max_graphemes
    # No grapheme is shorter than a byte: most texts need not be counted.
    if low is not None or (high is not None and size > high):
        yield from _within(count_graphemes(value), low, high, "graphemes", "graphemes", at)
    if schema.format is not None:
        try:
            FORMATS[schema.format](value)
        except InvalidSyntax as bad:
            yield SchemaMismatch(str(bad), at=at, code="format")


def _bytes(schema: Bytes, value: Value, at: str) -> Problems:
    if isinstance(value, bytes):
        low, high = schema.min_length, schema.max_length
        yield from _within(len(value), low, high, "bytes", "length", at)
    else:
        yield _not("bytes", at)


def _blob(schema: Blob, value: Value, at: str, *, lenient: bool) -> Problems:
    try:
        blob = BlobValue.from_value(value, any_codec=lenient)
    except InvalidData as bad:
        yield SchemaMismatch(str(bad), at=at, code="blob")
        return
    if blob.is_legacy and not lenient:
        yield SchemaMismatch("a blob in its legacy form", at=at, code="blob")
    if schema.max_size is not None and blob.size > schema.max_size:
        yield SchemaMismatch(
            f"a blob of {blob.size} bytes, {schema.max_size} allowed", at=at, code="blob"
        )
    if schema.accept is not None and not any(
        _accepts(pattern, blob.mime_type) for pattern in schema.accept
    ):
        yield SchemaMismatch(f"a blob of the type {blob.mime_type!r}", at=at, code="blob")


def _accepts(pattern: str, media_type: str) -> bool:
    """Tell if a media type is one that a pattern such as `image/*` allows."""
    if pattern == "*/*":
        return True
    if pattern.endswith("/*"):
        return media_type.startswith(pattern[:-1])
    return pattern == media_type


def _within(
    size: int, low: int | None, high: int | None, unit: str, code: str, at: str
) -> Problems:
    if low is not None and size < low:
        yield SchemaMismatch(f"{size} {unit}, at least {low} needed", at=at, code=code)
    if high is not None and size > high:
        yield SchemaMismatch(f"{size} {unit}, {high} allowed", at=at, code=code)


def _fits_key(kind: str, key: str) -> bool:
    literal = kind.removeprefix("literal:")
    if literal != kind:
        return key == literal
    try:
        FORMATS["record-key" if kind == "any" else kind](key)
    except InvalidSyntax:
        return False
    return True


def _not(what: str, at: str) -> SchemaMismatch:
    return SchemaMismatch(f"not {what}", at=at, code="type")


def _join(at: str, name: str | int) -> str:
    return f"{at}/{name}" if at else f"{name}"


def _raise_first(problems: Problems) -> None:
    for problem in problems:
        raise problem
