from __future__ import annotations

import pytest

from op_openbanking.errors import ConfigError
from op_openbanking.jose import hashes


@pytest.mark.parametrize(("alg", "letters"), [("ES256", 22), ("PS384", 32), ("RS512", 43)])
def test_half_hash_follows_the_digits_of_the_algorithm(alg: str, letters: int) -> None:
    assert len(hashes.half_hash("af0ifjsldkj", alg=alg)) == letters


def test_c_hash_and_at_hash_of_openid_connect_core() -> None:
    code = "Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk"
    assert hashes.c_hash(code) == "LDktKdoQak3Pk0cnXxCltA"
    assert hashes.at_hash("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y") == "77QmUPtjPfzWtF2AnpK9RQ"


@pytest.mark.parametrize(("value", "alg"), [("stäte", "PS256"), ("state", "none"), ("state", "")])
def test_half_hash_refuses_other_text_and_unknown_algorithms(value: str, alg: str) -> None:
    with pytest.raises(ConfigError):
        hashes.half_hash(value, alg=alg)
