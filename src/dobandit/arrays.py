"""The arrays of numbers that pass between rooms. The first axis is the trial unless a comment says otherwise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
