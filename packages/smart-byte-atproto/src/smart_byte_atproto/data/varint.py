"""Unsigned LEB128 as the multiformats use it: at most 9 bytes (63 bits), shortest form only.

Source: multiformats unsigned-varint; CARv1, section "Format".
"""

from __future__ import annotations

from smart_byte_atproto.errors import InvalidData, NotCanonical, Truncated

MAX_BYTES = 9
_MORE = 0x80


def encode(number: int) -> bytes:
    """Write `number` (0 to 2^63 - 1) in 1 to 9 bytes.

    Raises:
        ValueError: The number is out of range.
    """
    if not 0 <= number < 1 << 63:
        raise ValueError(f"varint out of range: {number}")
    out = bytearray()
    while number >= _MORE:
        out.append(number & 0x7F | _MORE)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode(data: bytes | bytearray | memoryview, offset: int = 0) -> tuple[int, int]:
    """Read one number at `offset`; return it and the offset after it.

    Raises:
        Truncated: The data ends inside the number.
        NotCanonical: There is a shorter form.
        InvalidData: More than 9 bytes.
    """
    number = 0
    for count, byte in enumerate(data[offset : offset + MAX_BYTES]):
        number |= (byte & 0x7F) << 7 * count
        if byte < _MORE:
            if byte == 0 and count:
                raise NotCanonical("varint is longer than needed", at=offset)
            return number, offset + count + 1
    if len(data) - offset < MAX_BYTES:
        raise Truncated("varint is cut off", at=offset)
    raise InvalidData("varint has more than 9 bytes", at=offset)
