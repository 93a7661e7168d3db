from __future__ import annotations

import gzip
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from statistics import fmean, median, pstdev

import pytest

from eoc_distributed.errors import TraceInvalid
from eoc_distributed.sim.traces import Shape, TracedRequest, read_trace, synthetic

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:46.6805901,396,109
2023-11-16 18:15:50.9951690,5,0
"""
AZURE_2024 = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00.009930+00:00,2162,5
2024-05-10 00:00:01.009930+00:00,2399,6
"""
MOONCAKE = (
    '{"timestamp": 500, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}\n'
    '{"timestamp": 2000, "input_length": 7322, "output_length": 490, "hash_ids": [0, 14]}\n'
)
BURSTGPT = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,0,1087,Conversation log
118,GPT-4,417,276,693,API log
"""
BURSTGPT_2 = """\
Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
5.0,a-1,3.5,ChatGPT,472,18,490,Conversation log
9.5,,1,ChatGPT,10.0,20.0,30.0,"Conversation, log"
"""


def read(tmp_path: Path, text: str) -> list[TracedRequest]:
    path = tmp_path / "trace"
    path.write_text(text)
    return list(read_trace(path))


def test_azure_keeps_the_seventh_digit_and_counts_from_the_first_request(tmp_path: Path) -> None:
    requests = read(tmp_path, AZURE)
    assert [(r.prompt_tokens, r.output_tokens) for r in requests] == [(374, 44), (396, 109), (5, 1)]
    assert requests[0].arrival_s == 0.0
    assert 0 < requests[1].arrival_s < 1e-6
    assert requests[2].arrival_s == pytest.approx(4.314579, abs=1e-6)


def test_azure_times_may_have_an_offset(tmp_path: Path) -> None:
    assert read(tmp_path, AZURE_2024)[1].arrival_s == pytest.approx(1.0)


def test_mooncake_counts_in_milliseconds(tmp_path: Path) -> None:
    assert read(tmp_path, MOONCAKE) == [
        TracedRequest(0.0, 6758, 500, (0, 1)),
        TracedRequest(1.5, 7322, 490, (0, 14)),
    ]


def test_burstgpt_leaves_failed_requests_out(tmp_path: Path) -> None:
    assert read(tmp_path, BURSTGPT) == [TracedRequest(0.0, 472, 18), TracedRequest(113.0, 417, 276)]


def test_burstgpt_columns_are_found_by_name(tmp_path: Path) -> None:
    assert read(tmp_path, BURSTGPT_2) == [TracedRequest(0.0, 472, 18), TracedRequest(4.5, 10, 20)]


def test_gzip_is_read_as_plain(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(AZURE.encode()))
    assert len(list(read_trace(path))) == 3


def test_reading_stops_where_the_reader_stops(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text(AZURE + "nonsense\n")
    assert len(list(islice(read_trace(path), 3))) == 3


def test_requests_out_of_order_come_with_the_one_before(tmp_path: Path) -> None:
    swapped = MOONCAKE + '{"timestamp": 1000, "input_length": 1, "output_length": 1}\n'
    assert [request.arrival_s for request in read(tmp_path, swapped)] == [0.0, 1.5, 1.5]


HEAD = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 0, "empty"),
        ("hello\n", 1, "known format"),
        (HEAD + "2023-11-16 18:15:46,1\n", 2, "three columns"),
        (HEAD + "2023-11-16 18:15:46,-1,4\n", 2, "ContextTokens"),
        (HEAD + "2023-11-16 18:15:46,1,99999999999\n", 2, "GeneratedTokens"),
        (HEAD + "yesterday,1,4\n", 2, "TIMESTAMP"),
        (HEAD + "2023-99-16 18:15:46,1,4\n", 2, "TIMESTAMP"),
        ('{"timestamp": 0}\n', 1, "input_length"),
        ('{"timestamp": -1, "input_length": 1, "output_length": 1}\n', 1, "timestamp"),
        ('{"timestamp": 0, "input_length": 1, "output_length": 1}\n{\n', 2, ""),
        ("{" * 100_000 + "\n", 1, ""),
        (BURSTGPT + "1,2,3\n", 5, "columns"),
        (BURSTGPT + "soon,ChatGPT,1,1,2,API log\n", 5, "Timestamp"),
        (BURSTGPT + "nan,ChatGPT,1,1,2,API log\n", 5, "Timestamp"),
        (BURSTGPT + "1,ChatGPT,one,1,2,API log\n", 5, "Request tokens"),
        (BURSTGPT + '1,"ChatGPT,1,1,2,API log\n', 5, ""),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(TraceInvalid) as caught:
        read(tmp_path, text)
    assert caught.value.line == line
    assert what in caught.value.what
    assert "trace" in caught.value.where


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"TIMESTAMP" + b"x" * (1 << 21)])
def test_bytes_that_are_no_trace_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "trace"
    path.write_bytes(data)
    with pytest.raises(TraceInvalid):
        list(read_trace(path))


def test_missing_and_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceInvalid, match="cannot be read"):
        list(read_trace(tmp_path / "nowhere.csv"))
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(AZURE.encode())[:-9])
    with pytest.raises(TraceInvalid, match="cannot be read"):
        list(read_trace(cut))
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(gzip.compress(AZURE.encode())[:12] + b"\xff" * 30)
    with pytest.raises(TraceInvalid, match="cannot be read"):
        list(read_trace(broken))


def test_synthetic_requests_have_the_published_shape() -> None:
    requests = list(islice(synthetic(Random(5)), 20_000))
    gaps = [b.arrival_s - a.arrival_s for a, b in pairwise(requests)]
    assert 1 / fmean(gaps) == pytest.approx(5.53, rel=0.03)
    assert pstdev(gaps) / fmean(gaps) == pytest.approx(1.09, rel=0.03)
    prompts = [request.prompt_tokens for request in requests]
    outputs = [request.output_tokens for request in requests]
    assert median(prompts) == pytest.approx(1020, rel=0.03)
    assert fmean(prompts) == pytest.approx(1155, rel=0.03)
    assert median(outputs) == pytest.approx(129, rel=0.03)
    assert fmean(outputs) == pytest.approx(211, rel=0.05)


def test_synthetic_requests_are_the_same_for_the_same_seed() -> None:
    first, second = (list(islice(synthetic(Random(3)), 50)) for _ in range(2))
    assert first == second


def test_shapes_that_no_lognormal_has_are_refused() -> None:
    with pytest.raises(ValueError, match="median"):
        Shape(prompt_median=10, prompt_mean=5)


def test_azure_conversation_trace_has_its_published_size(shared: Path) -> None:
    path = shared / "data" / "inference" / "azure2023_conv.csv.gz"
    count = prompt = output = 0
    last_s = 0.0
    for request in read_trace(path):
        count += 1
        prompt += request.prompt_tokens
        output += request.output_tokens
        last_s = request.arrival_s
    assert count == 19_366
    assert prompt / count == pytest.approx(1155, abs=1)
    assert output / count == pytest.approx(211, abs=1)
    assert 58 * 60 < last_s < 59 * 60


def test_mooncake_conversation_trace_has_its_published_size(shared: Path) -> None:
    requests = list(
        read_trace(shared / "data" / "inference" / "mooncake_conversation_trace.jsonl.gz")
    )
    assert len(requests) == 12_031
    assert fmean(request.prompt_tokens for request in requests) == pytest.approx(12_035, rel=0.001)
    assert requests[-1].arrival_s == pytest.approx(3537, abs=1)


def test_a_damaged_gzip_is_named_wherever_the_damage_is(tmp_path: Path) -> None:
    packed = gzip.compress("".join([AZURE, *["x,1,2\n"] * 500]).encode())
    path = tmp_path / "damaged.csv.gz"
    for position in range(10, len(packed), 7):
        path.write_bytes(
            packed[:position] + bytes([packed[position] ^ 0xFF]) + packed[position + 1 :]
        )
        with pytest.raises(TraceInvalid, match="damaged"):
            list(read_trace(path))
