"""Carbon intensity of electricity, by zone and time.

To add a source: write its file beside these with a class that fulfils `base.CarbonSource`,
import it here, add its test file and a line in the CHANGELOG. A source answers from memory;
what has to be fetched is fetched elsewhere, off the path of a request.
"""

from __future__ import annotations

from .annual import Annual
from .base import CarbonSource, Factors, Intensity
from .csv_file import Hourly, read_hourly

__all__ = ["Annual", "CarbonSource", "Factors", "Hourly", "Intensity", "read_hourly"]
