"""How many rows are enough to compare a cell of a table with what is expected of it."""

FEWEST = 5  # rows that every cell of a stratum must be expected to hold, or it does not count (Cochran 1954)
