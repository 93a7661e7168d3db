"""Lexicon documents: named schemas of records, queries, procedures and streams.

`parse` takes a document apart and checks that its schemas make sense by themselves; whether what
they refer to exists is the catalogue's to say. Members that this version of the language does not
know are left out without complaint, so that a later one can add some.

Source: atproto specification "Lexicon", language version 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from smart_byte_atproto.data.json import loads_record
from smart_byte_atproto.errors import InvalidLexicon, InvalidSyntax
from smart_byte_atproto.syntax import FORMATS, NSID

MAX_BYTES: Final = 1 << 20
"""Longest document read (ours)."""
VERSION: Final = 1
MAIN: Final = "main"


class _Schema(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", rename="camel", omit_defaults=True
):
    """What every schema has: a description for people."""

    description: str | None = None


class Boolean(_Schema, frozen=True, tag="boolean"):
    """True or false."""

    default: bool | None = None
    const: bool | None = None


class Integer(_Schema, frozen=True, tag="integer"):
    """A signed whole number."""

    minimum: int | None = None
    maximum: int | None = None
    enum: tuple[int, ...] | None = None
    default: int | None = None
    const: int | None = None


class String(_Schema, frozen=True, tag="string"):
    """Text. Lengths count bytes of UTF-8; graphemes are what a reader takes for one letter."""

    format: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_graphemes: int | None = None
    max_graphemes: int | None = None
    known_values: tuple[str, ...] | None = None
    enum: tuple[str, ...] | None = None
    default: str | None = None
    const: str | None = None


class Bytes(_Schema, frozen=True, tag="bytes"):
    """Octets; lengths count them."""

    min_length: int | None = None
    max_length: int | None = None


class CIDLink(_Schema, frozen=True, tag="cid-link"):
    """A link to a block."""


class Blob(_Schema, frozen=True, tag="blob"):
    """A file by reference; `accept` lists media types, `max_size` counts bytes."""

    accept: tuple[str, ...] | None = None
    max_size: int | None = None


class Unknown(_Schema, frozen=True, tag="unknown"):
    """Any map."""


class Token(_Schema, frozen=True, tag="token"):
    """A name without content, used as text."""


class Ref(_Schema, frozen=True, tag="ref"):
    """Another schema by its name: `#name` in the same document, `nsid` or `nsid#name`."""

    ref: str


class Union(_Schema, frozen=True, tag="union"):
    """One of several schemas, told by `$type`; open unless `closed`."""

    refs: tuple[str, ...]
    closed: bool = False


class Array(_Schema, frozen=True, tag="array"):
    """Values of one schema, in order."""

    items: Field
    min_length: int | None = None
    max_length: int | None = None


class Object(_Schema, frozen=True, tag="object"):
    """Named fields; others may stand beside them."""

    properties: Mapping[str, Field] = MappingProxyType({})
    required: tuple[str, ...] = ()
    nullable: tuple[str, ...] = ()


class Params(_Schema, frozen=True, tag="params"):
    """Parameters of a query string."""

    properties: Mapping[str, Field] = MappingProxyType({})
    required: tuple[str, ...] = ()


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """Input or output of an HTTP call; `schema` is None where only the media type is told."""

    encoding: str
    schema: Object | Ref | Union | None = None
    description: str | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream carries."""

    schema: Union
    description: str | None = None


class NamedError(msgspec.Struct, frozen=True, kw_only=True):
    """An error that a call may answer with."""

    name: str
    description: str | None = None


class Record(_Schema, frozen=True, tag="record"):
    """An object kept in repositories; `key` is `tid`, `nsid`, `any` or `literal:NAME`."""

    key: str
    record: Object


class Query(_Schema, frozen=True, tag="query"):
    """An HTTP GET."""

    parameters: Params | None = None
    output: Body | None = None
    errors: tuple[NamedError, ...] = ()


class Procedure(_Schema, frozen=True, tag="procedure"):
    """An HTTP POST."""

    parameters: Params | None = None
    input: Body | None = None
    output: Body | None = None
    errors: tuple[NamedError, ...] = ()


class Subscription(_Schema, frozen=True, tag="subscription"):
    """A stream of events."""

    parameters: Params | None = None
    message: Message | None = None
    errors: tuple[NamedError, ...] = ()


class Permission(_Schema, frozen=True, tag="permission"):
    """One right of a permission set."""

    resource: str
    collection: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    lxm: tuple[str, ...] = ()
    aud: str | None = None
    inherit_aud: bool = False


class PermissionSet(_Schema, frozen=True, tag="permission-set"):
    """Rights that an application asks for under one name."""

    permissions: tuple[Permission, ...]
    title: str | None = None
    detail: str | None = None


Field: TypeAlias = (
    Boolean
    | Integer
    | String
    | Bytes
    | CIDLink
    | Blob
    | Unknown
    | Token
    | Ref
    | Union
    | Array
    | Object
)
Primary: TypeAlias = Record | Query | Procedure | Subscription | PermissionSet
Definition: TypeAlias = Field | Params | Primary

_PRIMARY: Final = (Record, Query, Procedure, Subscription, PermissionSet)
_NOT_NAMED: Final = (Ref, Union, Unknown, Params)
_KEY_KINDS: Final = frozenset({"any", "nsid", "tid"})
_LITERAL: Final = "literal:"


class Lexicon(msgspec.Struct, frozen=True, kw_only=True):
    """One document.

    Attributes:
        id: Its name.
        defs: Schemas by name; `main` is the one that the bare `id` stands for.
        description: For people.
    """

    id: NSID
    defs: Mapping[str, Definition]
    description: str | None = None

    @property
    def main(self) -> Definition | None:
        """The schema called `main`, if there is one."""
        return self.defs.get(MAIN)

    def absolute(self, ref: str) -> str:
        """Return the full name that a reference in this document stands for."""
        if ref.startswith("#"):
            ref = f"{self.id}{ref}"
        return ref.removesuffix("#main")


def parse(text: str | bytes) -> Lexicon:
    """Read a document.

    Raises:
        InvalidData: Not JSON of the data model; as `InvalidLexicon` where it is and breaks a rule
            of the language.
        LimitExceeded: Longer than 1 MiB.
    """
    return from_value(loads_record(text, max_bytes=MAX_BYTES))


def from_value(document: Mapping[str, object]) -> Lexicon:
    """Take a document apart that has been read already.

    Raises:
        InvalidLexicon: A rule of the language is broken; `at` says where.
    """
    if type(document.get("lexicon")) is not int or document["lexicon"] != VERSION:
        raise InvalidLexicon(f"lexicon is not the number {VERSION}", at="lexicon")
    name, description, defs = (document.get(key) for key in ("id", "description", "defs"))
    try:
        nsid = NSID(name) if isinstance(name, str) else None
    except InvalidSyntax as bad:
        raise InvalidLexicon(str(bad), at="id") from bad
    if nsid is None:
        raise InvalidLexicon("id is not a text", at="id")
    if not isinstance(description, str | None):
        raise InvalidLexicon("description is not a text", at="description")
    if not isinstance(defs, dict) or not defs:
        raise InvalidLexicon("defs is not a map with something in it", at="defs")
    made = {name: _definition(name, value) for name, value in defs.items()}
    return Lexicon(id=nsid, defs=MappingProxyType(made), description=description)


def _definition(name: str, value: object) -> Definition:
    at = f"defs/{name}"
    if not name.isascii() or not name.isalnum() or name[0].isdigit():
        raise InvalidLexicon("a name is not made of ASCII letters and digits", at=at)
    _check_told_types(value, at)
    try:
        made: Definition = msgspec.convert(value, Definition)
    except (msgspec.ValidationError, RecursionError) as bad:
        what, _, where = str(bad).partition(" - at `$")
        raise InvalidLexicon(what, at=at + where.rstrip("`").replace(".", "/")) from bad
    if isinstance(made, _PRIMARY) and name != MAIN:
        raise InvalidLexicon("a primary type is called something other than main", at=at)
    if isinstance(made, _NOT_NAMED):
        raise InvalidLexicon("this type cannot have a name of its own", at=at)
    _check(made, at)
    return made


def _check_told_types(value: object, at: str) -> None:
    """Check that types are told where only one is possible, and could be guessed."""
    told = {"record": "object", "parameters": "params"}
    for name, wanted in told.items():
        inner = value.get(name) if isinstance(value, dict) else None
        if isinstance(inner, dict) and inner.get("type") != wanted:
            raise InvalidLexicon(f"type is not {wanted!r}", at=f"{at}/{name}")


def _check(schema: Definition, at: str) -> None:
    """Check what the form alone does not tell; goes down into fields."""
    match schema:
        case Record():
            _check_key(schema.key, at)
            _check(schema.record, f"{at}/record")
        case Query() | Procedure() | Subscription():
            _check_call(schema, at)
        case Object() | Params():
            _check_properties(schema, at)
        case Array():
            _check_range(schema.min_length, schema.max_length, "length", at)
            _check(schema.items, f"{at}/items")
        case Ref():
            _check_ref(schema.ref, at)
        case Union():
            if schema.closed and not schema.refs:
                raise InvalidLexicon("a closed union without refs", at=at)
            for ref in schema.refs:
                _check_ref(ref, at)
        case _:
            _check_bounds(schema, at)


def _check_bounds(schema: Definition, at: str) -> None:
    match schema:
        case Integer():
            _check_range(schema.minimum, schema.maximum, "value", at, least=None)
        case String():
            _check_string(schema, at)
        case Bytes():
            _check_range(schema.min_length, schema.max_length, "length", at)
        case Blob():
            _check_range(None, schema.max_size, "size", at)
        case _:
            pass


def _check_key(key: str, at: str) -> None:
    if key in _KEY_KINDS:
        return
    literal = key.removeprefix(_LITERAL)
    if literal != key:
        try:
            FORMATS["record-key"](literal)
        except InvalidSyntax as bad:
            raise InvalidLexicon(str(bad), at=f"{at}/key") from bad
        return
    raise InvalidLexicon("key is none of any, nsid, tid and literal:NAME", at=f"{at}/key")


def _check_call(schema: Query | Procedure | Subscription, at: str) -> None:
    if schema.parameters is not None:
        _check(schema.parameters, f"{at}/parameters")
    bodies: dict[str, Body | None] = {}
    if isinstance(schema, Query | Procedure):
        bodies["output"] = schema.output
    if isinstance(schema, Procedure):
        bodies["input"] = schema.input
    for name, body in bodies.items():
        if body is not None and body.schema is not None:
            _check(body.schema, f"{at}/{name}/schema")
    if isinstance(schema, Subscription) and schema.message is not None:
        _check(schema.message.schema, f"{at}/message/schema")


def _check_properties(schema: Object | Params, at: str) -> None:
    listed = {"required": schema.required}
    if isinstance(schema, Object):
        listed["nullable"] = schema.nullable
    for what, names in listed.items():
        for name in names:
            if name not in schema.properties:
                raise InvalidLexicon(f"{what} names {name!r}, which is no property", at=at)
    for name, field in schema.properties.items():
        where = f"{at}/properties/{name}"
        if isinstance(schema, Params):
            inner = field.items if isinstance(field, Array) else field
            if not isinstance(inner, Boolean | Integer | String | Unknown):
                raise InvalidLexicon("a parameter of this type has no form in a query", at=where)
        _check(field, where)


def _check_string(schema: String, at: str) -> None:
    if schema.format is not None and schema.format not in FORMATS:
        raise InvalidLexicon(f"format {schema.format!r} is not known", at=at)
    _check_range(schema.min_length, schema.max_length, "length", at)
    _check_range(schema.min_graphemes, schema.max_graphemes, "graphemes", at)


def _check_range(
    low: int | None, high: int | None, what: str, at: str, *, least: int | None = 0
) -> None:
    if least is not None and any(bound is not None and bound < least for bound in (low, high)):
        raise InvalidLexicon(f"a bound of its {what} is negative", at=at)
    if low is not None and high is not None and low > high:
        raise InvalidLexicon(f"the least {what} is above the most", at=at)


def _check_ref(ref: str, at: str) -> None:
    nsid, mark, name = ref.partition("#")
    # "#main" has no place in a reference, but published documents have it.
    if mark and not name.isalnum():
        raise InvalidLexicon(f"{ref!r} is no reference: after # stands a name", at=at)
    if nsid:
        try:
            NSID(nsid)
        except InvalidSyntax as bad:
            raise InvalidLexicon(str(bad), at=at) from bad
    elif not mark:
        raise InvalidLexicon("an empty reference", at=at)
