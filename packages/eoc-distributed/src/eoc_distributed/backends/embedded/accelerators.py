"""Accelerators that the engine imitates, as data: each with an 8B model on it.

Two are fitted to measurements (H100, B200), the others follow from them and from data
sheets by the roofline: the fixed part of a step is the time to read the weights, the part
for each token scales with peak FLOP/s, context with memory bandwidth, power with the limit.
All power is that of the accelerator alone (for the CPU: the package), without the host.

Sources by figure:
  (1) ML.ENERGY leaderboard, task lm-arena-chat, Llama 3.1 8B Instruct in bfloat16, vLLM;
      each `Published` is one of its rows. Fitted through the first and the last row.
  (2) Prefill of an 8B model on H100: 20 to 25 thousand tokens/s, hence 45 µs a token.
  (3) KV cache of Llama 3.1 8B: 131,072 B a token in bfloat16, over the memory bandwidth.
  (4) Data sheets: H100 SXM 3.35 TB/s, 989 TFLOP/s, 700 W, 80 GB; B200 8 TB/s, 2.25 PFLOP/s,
      1000 W, 180 GB; A100 SXM 2.04 TB/s, 312 TFLOP/s, 400 W, 80 GB; L4 300 GB/s,
      121 TFLOP/s, 72 W, 24 GB (dense bfloat16 throughout).
  (5) Idle draw with weights resident: H100 110 to 130 W, B200 about 140 W, A100 about 60 W,
      L4 about 16 W.
  (6) llama.cpp, 8B at 4 bits: 16 cores draw about 100 W at 8 to 12 tokens/s; Apple's
      M series 20 to 40 W at 20 to 60 tokens/s. Prefill rates and idle draw of these two
      are assumptions of ours: 80 and 600 prompt tokens/s, 35 W and 5 W.
  (7) vLLM's defaults: 2,048 tokens a step (A100 and smaller), 8,192 (H100), 16,384 (B200);
      16 tokens a block. Sequences at a time: its default or the largest row of (1).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from eoc_distributed.worker import Accelerator

from .power import Power
from .step_time import StepTime

MODEL = "simulated/llama-3.1-8b"
"""Name of what an embedded worker serves; the model whose size and speed it imitates."""


@dataclass(frozen=True, slots=True)
class Published:
    """One measured point at saturation.

    Attributes:
        batch: Mean sequences in a step.
        tokens_per_s: Tokens generated in a second.
        joules_per_token: Energy for each token generated, prompts included.
    """

    batch: float
    tokens_per_s: float
    joules_per_token: float


@dataclass(frozen=True, slots=True)
class Profile:
    """What the engine needs to know of the hardware that it imitates.

    Attributes:
        name: Short name, stable.
        title: Name for people.
        accelerator: Kind of hardware.
        step_time: Model of the duration of a step.
        power: Model of the draw.
        kv_tokens: Tokens that the KV cache holds.
        block_tokens: Tokens in one of its blocks.
        step_tokens: Most tokens computed in one step.
        max_sequences: Most sequences that run at a time.
        published: Measurements that the models are held against; empty where derived.
    """

    name: str
    title: str
    accelerator: Accelerator
    step_time: StepTime
    power: Power
    kv_tokens: int
    step_tokens: int
    max_sequences: int
    block_tokens: int = 16
    published: tuple[Published, ...] = ()


H100 = Profile(
    name="h100",
    title="NVIDIA H100 SXM",
    accelerator=Accelerator.GPU,
    step_time=StepTime(
        fixed_s=6.71e-3,  # (1)
        prefill_token_s=45e-6,  # (2)
        decode_sequence_s=71.1e-6,  # (1), what is left after (2) and (3)
        context_token_s=40e-9,  # (3): 131,072 B / 3.35 TB/s
    ),
    power=Power(idle_w=120.0, busy_w=460.0, peak_w=690.0, width_tokens=55.0),  # (5), (1)
    kv_tokens=440_000,  # (3), (4): 0.92 x 80 GB - 16 GB of weights
    step_tokens=8192,
    max_sequences=768,
    published=(
        Published(7.98, 1069.57, 0.4548),
        Published(15.95, 1953.57, 0.26274),
        Published(63.92, 5147.15, 0.11858),
        Published(255.19, 9009.61, 0.07664),
        Published(690.87, 9602.77, 0.07135),
    ),
)

B200 = Profile(
    name="b200",
    title="NVIDIA B200",
    accelerator=Accelerator.GPU,
    step_time=StepTime(
        fixed_s=4.34e-3,  # (1)
        prefill_token_s=22e-6,  # (2) x 989 / 2250 TFLOP/s, rounded up
        decode_sequence_s=55e-6,  # (1), what is left
        context_token_s=16.4e-9,  # (3): 131,072 B / 8 TB/s
    ),
    power=Power(idle_w=140.0, busy_w=638.0, peak_w=691.0, width_tokens=55.0),  # (5), (1)
    kv_tokens=1_100_000,
    step_tokens=16384,
    max_sequences=2048,
    published=(
        Published(7.96, 1637.26, 0.39052),
        Published(15.90, 2750.94, 0.24235),
        Published(2042.92, 14799.30, 0.0467),
    ),
)

A100 = Profile(
    name="a100",
    title="NVIDIA A100 SXM",
    accelerator=Accelerator.GPU,
    step_time=StepTime(
        fixed_s=9.9e-3,  # 16 GB / 2.04 TB/s + 2 ms
        prefill_token_s=143e-6,  # (2) x 989 / 312 TFLOP/s
        decode_sequence_s=117e-6,  # H100 x 3.35 / 2.04 TB/s
        context_token_s=64e-9,  # (3)
    ),
    power=Power(idle_w=60.0, busy_w=263.0, peak_w=394.0, width_tokens=55.0),  # (5), H100 x 4 / 7
    kv_tokens=440_000,
    step_tokens=2048,
    max_sequences=256,
)

L4 = Profile(
    name="l4",
    title="NVIDIA L4",
    accelerator=Accelerator.GPU,
    step_time=StepTime(
        fixed_s=55e-3,  # 16 GB / 300 GB/s + 2 ms
        prefill_token_s=368e-6,  # (2) x 989 / 121 TFLOP/s
        decode_sequence_s=580e-6,  # H100 x 989 / 121 TFLOP/s
        context_token_s=437e-9,  # (3)
    ),
    power=Power(idle_w=16.0, busy_w=47.0, peak_w=71.0, width_tokens=55.0),  # (5), H100 x 72 / 700
    kv_tokens=40_000,  # 0.92 x 24 GB - 16 GB of weights
    step_tokens=2048,
    max_sequences=64,
)

CPU_SERVER = Profile(
    name="cpu-16",
    title="16 cores of a CPU server",
    accelerator=Accelerator.CPU,
    step_time=StepTime(
        fixed_s=84e-3,  # (6): 100 ms for the only sequence of a step, most of it for weights
        prefill_token_s=12.5e-3,  # (6)
        decode_sequence_s=16e-3,
        context_token_s=0.65e-6,  # (3) over 200 GB/s
    ),
    power=Power(idle_w=35.0, busy_w=98.0, peak_w=110.0, width_tokens=8.0),  # (6)
    kv_tokens=65_536,
    step_tokens=512,
    max_sequences=4,
)

APPLE_M = Profile(
    name="apple-m",
    title="Apple M series",
    accelerator=Accelerator.MIXED,
    step_time=StepTime(
        fixed_s=19e-3,  # (6): 45 tokens/s for the only sequence
        prefill_token_s=1.67e-3,  # (6)
        decode_sequence_s=3e-3,
        context_token_s=0.33e-6,  # (3) over 400 GB/s
    ),
    power=Power(idle_w=5.0, busy_w=30.0, peak_w=40.0, width_tokens=8.0),  # (6)
    kv_tokens=65_536,
    step_tokens=512,
    max_sequences=8,
)

PROFILES = MappingProxyType(
    {profile.name: profile for profile in (H100, B200, A100, L4, CPU_SERVER, APPLE_M)}
)
"""Every profile by its name."""
