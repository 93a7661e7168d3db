from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules['coincurve'] = None"
BROKEN = """
import coincurve
class Wrong(coincurve.PublicKey):
    def verify(self, *arguments): return True
coincurve.PublicKey = Wrong
coincurve.PrivateKey.public_key = property(lambda self: Wrong.from_secret(self.secret))
coincurve.PrivateKey.sign_recoverable = lambda self, *arguments: bytes(65)
"""


@pytest.mark.parametrize(
    ("setting", "engine"), [("", "coincurve"), (WITHOUT, "cryptography"), (BROKEN, "cryptography")]
)
def test_the_fast_engine_is_used_only_where_it_is_there_and_right(
    setting: str, engine: str
) -> None:
    program = (
        f"{setting}\n"
        "from smart_byte_atproto.crypto import KeyType, PrivateKey, engine_of\n"
        "key = PrivateKey(KeyType.K256, bytes(range(1, 33)))\n"
        "key.public_key.verify(b'message', key.sign(b'message'))\n"
        "print(engine_of(KeyType.K256).name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert done.stdout.strip() == engine
