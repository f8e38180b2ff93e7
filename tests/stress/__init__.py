"""What an adversary does to a study: kills, faults, cut connections, malformed files, flipped bits, crowds.

    python -m tests.stress --seed 1 --minutes 20 [PART...]

runs all of it and prints one table; `make test` runs a small share of each part.
"""
