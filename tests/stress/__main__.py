"""`make stress`: every attack, one table."""

from __future__ import annotations

import argparse
import sys
import time

from tests.stress.parts import PARTS
from tests.stress.table import Extent, Line, shown

MINUTES = 240  # more than the full numbers take


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all of {', '.join(PARTS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="a part that they are not enough for is not ok")
    parser.add_argument("--share", type=float, default=1.0, help="of the full numbers")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    lines, chosen = list[Line](), asked.parts or list(PARTS)
    whole = Extent(asked.seed, asked.share, time.monotonic() + 60 * asked.minutes)
    for i, name in enumerate(chosen):
        start = time.monotonic()
        for line in PARTS[name](whole.part(len(chosen) - i)):
            lines.append(line)  # shown at once: a run that is interrupted has told what it found
            print(f"{name}, {time.monotonic() - start:.0f} s: {line}", file=sys.stderr, flush=True)
    print(shown(lines))
    return 0 if all(line.ok for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
