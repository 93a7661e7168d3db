"""How every standard's JSON is read and written without losing anything.

A wire shape is a frozen msgspec Struct derived from `Wire`, written by hand, whose members are the
JSON's: snake_case here, the specification's spelling on the wire. Four rules hold for all of them:

* What is absent is `UNSET`, what is null is None: `Maybe[T]` says so in the type. Nothing absent is
  ever written.
* Members that a shape does not declare are kept, as the octets that came, in `Wire.unknown`, at
  every depth. They are an ordinary field: equality, `msgspec.structs.replace` and copies carry
  them, so a consent's Initiation can be sent back whole with what a bank added to it.
* Codes are `str`. A value that no list names is a value like any other.
* A JSON number that is a quantity is a `Number`: the text that came, never a float. Counters are
  int.

How: structs refuse unknown members, so a document without any is read by C code alone. Where that
fails, `_Reader` opens the offending objects one level at a time, reads the declared members with
their own decoders, keeps the rest as `msgspec.Raw`, and leaves each part that is clean to C again.
Writing is the same in mirror image: the encoder meets a `Remainder` only where there is one, and
then the objects on the way to it are put together from their members.

Members required by the specification are required here: a body without one is refused, with its
path (some published examples are; the conformance tests list them). Lengths, patterns and code
lists are not checked while reading: banks break them daily, and no page may fail for a code that
is new. Check what you send with the standard's schema.

Source: OBIE Read/Write 3.1.11 "Optional Fields", "Extensibility"; Berlin Group 1.3.12 section 4;
RFC 8259; RFC 7493.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import NoneType, UnionType
from typing import (
    Any,
    TypeAlias,
    TypeVar,
    Union,
    assert_never,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import UNSET, Raw, UnsetType

from op_openbanking.errors import MalformedBody
from op_openbanking.standards import strictness

T = TypeVar("T")
W = TypeVar("W", bound="Wire")

Maybe: TypeAlias = Union[T, UnsetType, None]  # noqa: UP007  (a generic alias needs Union)
"""A member that may be absent (`UNSET`) or null (None)."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_EXPONENT_DIGITS = 4


class Number:
    """A JSON number as it was written: `10.00` stays `10.00`.

    Attributes:
        text: The number in JSON's grammar (RFC 8259 section 6).

    Raises:
        ValueError: If the text is no JSON number.
    """

    __slots__ = ("text",)
    text: str

    def __init__(self, text: str) -> None:
        if _NUMBER.fullmatch(text) is None:
            raise ValueError(f"not a JSON number: {text[:80]!a}")
        self.text = text

    def decimal(self) -> Decimal:
        """The number, exactly.

        Raises:
            ValueError: If its exponent has more than four digits: nothing anyone can pay.
        """
        exponent = re.split("[eE]", self.text)[1:]
        if exponent and len(exponent[0].lstrip("+-0")) > _EXPONENT_DIGITS:
            raise ValueError(f"exponent out of range: {self.text[:80]}")
        return Decimal(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Number({self.text!r})"


class Remainder(Mapping[str, Raw]):
    """The members of one object that its shape does not declare, each as the octets that came."""

    __slots__ = ("_members",)
    _members: dict[str, Raw]

    def __init__(self, members: Mapping[str, Raw]) -> None:
        self._members = dict(members)

    def __getitem__(self, name: str) -> Raw:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __hash__(self) -> int:
        return hash(frozenset((name, bytes(raw)) for name, raw in self._members.items()))

    def __repr__(self) -> str:
        return f"Remainder({', '.join(self._members)})"


class Wire(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    repr_omit_defaults=True,
    gc=False,  # frozen trees of scalars cannot form cycles
):
    """One JSON object of a standard.

    Attributes:
        unknown: Members that this shape does not declare, or UNSET where there were none.
    """

    unknown: Remainder | UnsetType = msgspec.field(default=UNSET, name="(unknown members)")


def known(value: Maybe[T]) -> T | None:
    """The value of a member, or None where it is absent or null."""
    return None if value is UNSET else value


def decode(
    octets: bytes,
    shape: type[W],
    *,
    standard: str,
    resource: str,
    limit_bytes: int = strictness.LIMIT_BYTES,
) -> W:
    """Read one body.

    Args:
        octets: UTF-8 JSON text.
        shape: The wire shape expected; `Wire` itself takes any object and keeps it whole.
        standard: Name for error messages, for example `uk-obie`.
        resource: Name for error messages, for example `accounts`.
        limit_bytes: Longest text accepted.

    Raises:
        MalformedBody: The text is not strict JSON, or not of that shape; names the path.
    """
    strictness.check_text(octets, standard=standard, resource=resource, limit_bytes=limit_bytes)
    try:
        value = _decoder(shape).decode(octets)
        # Equal length proves that no member was lost (see strictness).
        if strictness.written_alike(octets, _write_plain(value)[0]):
            return value
    except msgspec.ValidationError:
        value = None
    except (ValueError, RecursionError) as error:
        raise strictness.not_json(error, standard=standard, resource=resource) from None
    strictness.check_members(octets, standard=standard, resource=resource)
    if value is not None:
        return value
    reader = _Reader(standard=standard, resource=resource)
    return reader.read_struct(shape, octets, "$")


def encode(value: Wire) -> bytes:
    """Write one body as compact UTF-8 JSON: declared members in their order, then the unknown."""
    written, complete = _write_plain(value)
    return written if complete else _write(value)


def _dec_hook(wanted: type, value: object) -> object:
    if wanted is not Number:
        # A peer used the very name of `Wire.unknown`: refused here, kept by the reader below.
        raise ValueError("Object contains unknown field")
    if isinstance(value, _FloatText):
        return Number(value.text)
    # Zero is left to the reader below: its text may have been -0.
    if isinstance(value, int) and not isinstance(value, bool) and value != 0:
        return Number(str(value))
    raise ValueError(f"Expected `number`, got `{type(value).__name__}`")


@dataclass(frozen=True, slots=True)
class _FloatText:
    text: str


@functools.cache
def _cached_decoder(shape: type[Wire]) -> msgspec.json.Decoder[Wire]:
    return msgspec.json.Decoder(shape, dec_hook=_dec_hook, float_hook=_FloatText)


def _decoder(shape: type[W]) -> msgspec.json.Decoder[W]:
    return cast("msgspec.json.Decoder[W]", _cached_decoder(shape))


def _write_plain(value: object) -> tuple[bytes, bool]:
    """Octets by C code alone, and whether that is all of the value (no remainder was met)."""
    complete = True

    def hook(item: object) -> object:
        nonlocal complete
        if isinstance(item, Number):
            return Raw(item.text.encode())
        if isinstance(item, Remainder):
            complete = False
            return None
        raise TypeError(f"{type(item).__name__} is no part of a wire shape")

    return msgspec.json.encode(value, enc_hook=hook), complete


def _write(value: object) -> bytes:
    if isinstance(value, Wire) and isinstance(value.unknown, Remainder):
        own = _joined(value.unknown)
        declared = _write(msgspec.structs.replace(value, unknown=UNSET))
        if _EMPTY in (own, declared):
            return own if declared == _EMPTY else declared
        return declared[:-1] + b"," + own[1:]
    written, complete = _write_plain(value)
    if complete:
        return written
    if isinstance(value, list):
        return b"[" + b",".join(map(_write, value)) + b"]"
    if isinstance(value, dict):
        return _joined({name: _write(member) for name, member in value.items()})
    if not isinstance(value, Wire):
        raise TypeError(f"{type(value).__name__} is no part of a wire shape")
    members = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
    return _joined(
        {
            name: _write(member)
            for name, attribute in members
            if (member := getattr(value, attribute)) is not UNSET
        }
    )


def _joined(members: Mapping[str, bytes | Raw]) -> bytes:
    """An object of members whose octets are known."""
    parts = [b"%b:%b" % (_encode_name(name), raw) for name, raw in members.items()]
    return b"{" + b",".join(parts) + b"}"


_EMPTY = b"{}"
_encode_name = msgspec.json.Encoder().encode


# The tolerant reader. A node says how one declared type is read from its octets.


@dataclass(frozen=True, slots=True)
class _Leaf:
    decode: Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class _Array:
    item: _Node


@dataclass(frozen=True, slots=True)
class _Map:
    value: _Node


@dataclass(frozen=True, slots=True)
class _Object:
    shape: type[Wire]


@dataclass(frozen=True, slots=True)
class _Optional:
    node: _Node


@dataclass(frozen=True, slots=True)
class _Either:
    """One of several, told apart by the first octet: an object, an array, or anything else."""

    nodes: Mapping[bytes, _Node]


_Node = _Leaf | _Array | _Map | _Object | _Optional | _Either

_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])


def _decode_number(octets: bytes) -> Number:
    try:
        return Number(octets.decode())
    except ValueError:
        raise msgspec.ValidationError("Expected `number`") from None


def _node(annotation: object) -> _Node:
    arguments = tuple(a for a in get_args(annotation) if a is not UnsetType)
    origin = get_origin(annotation)
    if origin in {Union, UnionType}:
        others = tuple(a for a in arguments if a is not NoneType)
        inner = _node(others[0]) if len(others) == 1 else _either(others)
        return _Optional(inner) if NoneType in arguments else inner
    if origin is list:
        return _Array(_node(arguments[0]))
    if origin is dict:
        return _Map(_node(arguments[1]))
    if annotation is Number:
        return _Leaf(_decode_number)
    if isinstance(annotation, type) and issubclass(annotation, Wire):
        return _Object(annotation)
    return _leaf(annotation)


def _either(annotations: tuple[object, ...]) -> _Node:
    nodes: dict[bytes, _Node] = {}
    leaves = []
    for annotation in annotations:
        match node := _node(annotation):
            case _Object() | _Map():
                nodes[b"{"] = node
            case _Array():
                nodes[b"["] = node
            case _:
                leaves.append(annotation)
    leaf = _leaf(Union[tuple(leaves)]) if leaves else _leaf(Union[annotations])  # noqa: UP007
    return _Either({**nodes, b"": leaf})


def _leaf(annotation: object) -> _Leaf:
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(cast("type[object]", annotation))
    return _Leaf(decoder.decode)


@dataclass(frozen=True, slots=True)
class _Plan:
    fields: Mapping[str, tuple[str, _Node]]
    prefixes: Mapping[str, bytes]
    required: frozenset[str]


@functools.cache
def _plan(shape: type[Wire]) -> _Plan:
    hints = get_type_hints(shape)
    fields = [field for field in msgspec.structs.fields(shape) if field.name != "unknown"]
    return _Plan(
        fields={f.encode_name: (f.name, _node(hints[f.name])) for f in fields},
        prefixes={f.encode_name: b",%b:" % _encode_name(f.encode_name) for f in fields},
        required=frozenset(f.encode_name for f in fields if f.required),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    standard: str
    resource: str

    def read(self, node: _Node, octets: bytes, path: str) -> object:
        try:
            match node:
                case _Optional(inner):
                    return None if octets == b"null" else self.read(inner, octets, path)
                case _Leaf(leaf):
                    return leaf(octets)
                case _Array(item):
                    return [
                        self.read(item, bytes(raw), f"{path}[{index}]")
                        for index, raw in enumerate(_items.decode(octets))
                    ]
                case _Map(value):
                    return {
                        name: self.read(value, bytes(raw), f"{path}.{name}")
                        for name, raw in _members.decode(octets).items()
                    }
                case _Object(shape):
                    return self.read_struct(shape, octets, path)
                case _Either(nodes):
                    return self.read(nodes.get(octets[:1], nodes[b""]), octets, path)
                case _:
                    assert_never(node)
        except msgspec.ValidationError as error:
            raise self._refusal(error, path) from None

    def read_struct(self, shape: type[W], octets: bytes, path: str) -> W:
        decoder, plan = _decoder(shape), _plan(shape)
        try:
            return decoder.decode(octets)
        except msgspec.ValidationError:
            pass  # something is unknown, or wrong: the rest of this method finds out
        try:
            members = _members.decode(octets)
        except msgspec.ValidationError as error:
            raise self._refusal(error, path) from None
        pieces: list[bytes | Raw] = []
        unknown: dict[str, Raw] = {}
        for name, raw in members.items():
            prefix = plan.prefixes.get(name)
            if prefix is None:
                self._check_depth(raw, f"{path}.{name}")
                unknown[name] = raw.copy()
            else:
                pieces += (prefix, raw)
        remainder = Remainder(unknown) if unknown else UNSET
        try:
            # Without the unknown members; the first prefix's comma is cut off.
            read = decoder.decode(b"{" + b"".join(pieces)[1:] + b"}")
        except msgspec.ValidationError:
            for name in unknown:
                del members[name]
            return self._read_members(shape, members, remainder, path)
        return msgspec.structs.replace(read, unknown=remainder)

    def _check_depth(self, raw: Raw, path: str) -> None:
        strictness.check_depth(
            bytes(raw), standard=self.standard, resource=self.resource, path=path
        )

    def _read_members(
        self,
        shape: type[W],
        declared: Mapping[str, Raw],
        remainder: Remainder | UnsetType,
        path: str,
    ) -> W:
        plan = _plan(shape)
        missing = sorted(plan.required - declared.keys())
        if missing:
            raise MalformedBody(
                f"required member `{missing[0]}` is missing",
                standard=self.standard,
                resource=self.resource,
                path=path,
            )
        read: dict[str, Any] = {"unknown": remainder}
        for name, raw in declared.items():
            attribute, node = plan.fields[name]
            read[attribute] = self.read(node, bytes(raw), f"{path}.{name}")
        return shape(**read)

    def _refusal(self, error: Exception, path: str) -> MalformedBody:
        what, _, _ = str(error).partition(" - at `")
        return MalformedBody(what, standard=self.standard, resource=self.resource, path=path)
