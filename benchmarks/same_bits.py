"""Whether every policy still does the same, bit for bit: pulls, recommendations and regret, against another commit.

A reshaping must change none of them. Both versions run the same trials; what differs is listed, and the exit code is 1.

usage: python benchmarks/same_bits.py [--against REV] [--trials 64] [--seed 5]
"""

from __future__ import annotations

import hashlib
import json
import sys

import numpy as np

from _commits import now_and_then
from _script import options

WORLDS = ("n6h", "bow", "three-valued")
BUDGET = 250


def fingerprints(trials: int, seed: int) -> dict[str, str]:
    """A digest for every world, objective and policy; only names that outside code relies on are used."""
    import dobandit as db
    from dobandit.chance import generator
    from dobandit.policies import policies_for
    from dobandit.suite import find

    found: dict[str, str] = {}
    for name in WORLDS:
        for i in range(trials):
            world = find(name).draw(generator(seed, f"{name}:{i}"), i)
            for objective in ("cumulative", "simple"):
                problem = db.Problem(world.graph, "Y", BUDGET, objective, default_cost=2, domains=world.domains)
                policies = policies_for(objective)
                played = db.simulate(problem, world, policies, trials=1, seed=seed + i, budgets=[BUDGET / 2, BUDGET])
                for policy in policies:
                    parts = (played.pulls[policy], played.recommended[policy], played.regret[policy])
                    key = f"{name} {objective} {policy}"
                    bits = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
                    found[key] = hashlib.sha256(found.get(key, "").encode() + bits).hexdigest()
    return found


def main() -> None:
    asked = options(__doc__, against="HEAD", trials=64, seed=5, fingerprints="no")
    trials = 1 if asked.smoke else asked.trials
    if asked.fingerprints == "yes":
        print(json.dumps(fingerprints(trials, asked.seed)))
        return
    arguments = "--fingerprints", "yes", "--trials", trials, "--seed", asked.seed
    now, then = now_and_then(__file__, "" if asked.smoke else asked.against, *arguments)
    different = sorted(key for key in now.keys() | then.keys() if now.get(key) != then.get(key))
    print(f"{len(now)} combinations of world and policy, {trials} trials each: {len(different)} differ")
    print("\n".join(different))
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
