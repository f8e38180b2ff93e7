"""How many outcomes are good ones, and how many are bad: only both kinds together can tell options apart.

Where most outcomes are the same, as with sales, the others decide which option looks best, and a few of them may be
luck. Of a reward with two values, good outcomes have the better one. Any other reward counts as much as one with two
values that is equally skewed: of values spread evenly to both sides half are good, and a single large sale among a
hundred customers is one good outcome, whatever its amount.

>>> sales = np.array([0.0] * 97 + [20.0, 25.0, 30.0])
>>> print(good_share(np.array([(sales**power).sum() for power in range(4)]), usual=0.0).round(3))
0.028
"""

from __future__ import annotations

import numpy as np

from dobandit.arrays import Array

ROUNDING = 1e-12  # a variance this small beside the mean square is none


def good_share(moments: Array, usual: float) -> Array:
    """The share of good outcomes, from the number of rewards and the sums of their first three powers, which are along
    the first axis. Rewards that are all the same are good if they are not below the `usual` one."""
    n, s, q, c = moments
    number = np.maximum(n, 1.0)
    mean, square = s / number, q / number
    variance = square - mean**2
    varies = variance > ROUNDING * np.maximum(square, ROUNDING)
    spread = np.sqrt(np.where(varies, variance, 1.0))
    skewness = (c / number - 3 * mean * square + 2 * mean**3) / spread**3
    return np.asarray(np.where(varies, (1 - skewness / np.hypot(skewness, 2.0)) / 2, mean >= usual))
