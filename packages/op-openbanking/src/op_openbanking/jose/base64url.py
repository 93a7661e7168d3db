"""Base64url without padding, decoded strictly.

Refused: padding, blanks, the `+` and `/` of the standard alphabet, a length that no octet string
has, and non-zero bits behind the last octet. So two different texts never decode to the same
octets, which keeps a signed text unambiguous.

Source: RFC 7515 section 2 and appendix C; RFC 4648 sections 3.5 and 5.
"""

from __future__ import annotations

import binascii

from op_openbanking.errors import ProtocolViolation

# One pass maps the url alphabet to the standard one and everything else to an octet that the
# strict decoder refuses, so that `=`, `+` and `/` fail like any other stranger.
_STANDARD = bytes(
    {0x2D: 0x2B, 0x5F: 0x2F}.get(octet, 0x80 if octet in b"+/=" else octet) for octet in range(256)
)
_URL = bytes({0x2B: 0x2D, 0x2F: 0x5F}.get(octet, octet) for octet in range(256))
_PADDING = (b"", b"", b"==", b"=")
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# The last letter of an incomplete group carries 2 or 4 bits that must be zero.
_LAST = (None, b"", frozenset(_ALPHABET[::16]), frozenset(_ALPHABET[::4]))


def encode(octets: bytes) -> bytes:
    """Encode octets as ASCII base64url without padding."""
    return binascii.b2a_base64(octets, newline=False).translate(_URL).rstrip(b"=")


def decode(text: bytes, *, what: str) -> bytes:
    """Decode ASCII base64url without padding.

    Args:
        text: The letters; empty text is empty octets.
        what: Name of the part, for the error message.

    Raises:
        ProtocolViolation: The text is not the one canonical form of some octets.
    """
    left = len(text) & 3
    last = _LAST[left]
    if last is not None and text[-1] not in last:
        raise ProtocolViolation(f"{what} is not canonical base64url", section="RFC 7515 2")
    try:
        return binascii.a2b_base64(text.translate(_STANDARD) + _PADDING[left], strict_mode=True)
    except binascii.Error as error:
        raise ProtocolViolation(
            f"{what} is not base64url without padding", section="RFC 7515 2"
        ) from error
