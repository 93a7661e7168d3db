from __future__ import annotations

from datetime import UTC, datetime

import pytest

from op_openbanking.banks.load import example_profile, example_profiles, parse_profile
from op_openbanking.banks.profile import ConsentRules
from op_openbanking.errors import CapabilityMissing, ConfigError, UnknownPlugin
from op_openbanking.standards.uk_obie.client.quirks import Quirks
from op_openbanking.traits.capability import YES, Operation, Support, no, stated
from op_openbanking.traits.dialect import capabilities, dialect, dialects

TEXT = """
name = "my-bank"
title = "My Bank"
standard = "uk-obie"
version = "3.1.11"
issuer = "https://auth.bank.example"
[services]
aisp = "https://rs.bank.example/aisp"
"""


@pytest.mark.parametrize("name", example_profiles())
def test_every_example_is_read_and_can_be_spoken(name: str) -> None:
    profile = example_profile(name, base="https://127.0.0.1:8443/")
    matrix = capabilities(profile)
    assert profile.example
    assert matrix.bank == profile.name
    assert "{base}" not in repr(profile)


def test_an_address_that_is_known_at_run_time_must_be_given() -> None:
    with pytest.raises(ConfigError, match="needs a base"):
        example_profile("sandbox")
    with pytest.raises(UnknownPlugin):
        example_profile("none-such")


BAD = {
    "unknown": (TEXT + "[limits]\nmax_page = 3\n", "max_page"),
    "type": (TEXT + '[limits]\nmax_pages = "3"\n', r"limits\.max_pages"),
    "http": (TEXT.replace("https://rs", "http://rs"), "aisp"),
    "slash": (TEXT.replace("example/aisp", "example/aisp/"), "aisp"),
    "name": (TEXT.replace('"my-bank"', '"My Bank"'), "lower-case"),
    "missing": (TEXT.replace('title = "My Bank"', ""), "title"),
    "issuer": (TEXT.replace('issuer = "https://auth.bank.example"', ""), "issuer"),
    "enum": (TEXT + '[signing]\nmode = "pgp"\n', "pgp"),
    "limit": (TEXT + "[limits]\nmax_pages = 0\n", "max_pages"),
    "toml": (TEXT + "][", "not TOML"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_profile_is_refused_with_its_place(case: str) -> None:
    text, place = BAD[case]
    with pytest.raises(ConfigError, match=place) as caught:
        parse_profile(text.encode(), where="my-bank.toml")
    assert str(caught.value).startswith("my-bank.toml: ")


def test_quirks_are_the_standards_switches_or_refused() -> None:
    profile = parse_profile((TEXT + "[quirks]\nmilliseconds = true\n").encode())
    assert profile.quirks_as(Quirks) == Quirks(milliseconds=True)
    for wrong in ("miliseconds = true", 'milliseconds = "yes"'):
        refused = parse_profile(f"{TEXT}[quirks]\n{wrong}\n".encode())
        with pytest.raises(ConfigError, match=r"my-bank.*quirks"):
            refused.quirks_as(Quirks)


def test_what_a_bank_lacks_is_refused_with_its_reason() -> None:
    profile = parse_profile((TEXT + '[lacks]\nvrp-payment = "not yet"\n').encode())
    matrix = capabilities(profile)
    matrix.require(Operation.ACCOUNTS)
    with pytest.raises(CapabilityMissing) as caught:
        matrix.require(Operation.ACCOUNTS, Operation.VRP_PAYMENT)
    assert (caught.value.standard, caught.value.operation) == ("uk-obie", "vrp-payment")
    assert (caught.value.bank, caught.value.reason) == ("my-bank", "not yet")
    assert matrix[Operation.STATEMENTS].support is Support.OPTIONAL


@pytest.mark.parametrize(
    ("offers", "problem"),
    [("embedded", "which uk-obie 3.1.11 lacks"), ("cheese", "no operation")],
)
def test_a_bank_cannot_offer_what_its_standard_lacks(offers: str, problem: str) -> None:
    text = TEXT.replace("[services]", f'offers = ["{offers}"]\n[services]')
    with pytest.raises(ConfigError, match=problem):
        capabilities(parse_profile(text.encode()))


def test_a_version_that_nobody_speaks_is_refused() -> None:
    with pytest.raises(UnknownPlugin, match=r"9\.9"):
        capabilities(parse_profile(TEXT.replace("3.1.11", "9.9").encode()))


@pytest.mark.parametrize("name", dialects())
def test_every_standard_states_every_operation_with_a_reason(name: str) -> None:
    spoken = dialect(name)
    for version in spoken.versions:
        table = spoken.capabilities(version).table
        assert set(table) == set(Operation)
        for found in table.values():
            assert bool(found.reason) is (found.support is not Support.YES)


def test_silence_of_a_standard_is_no_statement() -> None:
    with pytest.raises(ConfigError, match="does not state"):
        stated("x", "1", {Operation.ACCOUNTS: YES, Operation.BALANCES: no("x")})


def test_the_longest_consent_leaves_a_margin_and_no_rule_means_no_end() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    rules = ConsentRules(longest_days=1, reauthenticate_after_days=180, margin_s=60)
    assert rules.longest_until(now) == datetime(2026, 1, 1, 23, 59, tzinfo=UTC)
    assert rules.reauthenticate_at_s(0) == 180 * 86_400
    assert ConsentRules().longest_until(now) is None
    assert ConsentRules().reauthenticate_at_s(0) is None
