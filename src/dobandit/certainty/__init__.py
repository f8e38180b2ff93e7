"""How sure an answer is, and whether that is enough to stop."""

from dobandit.certainty.anytime import Interval, sequence_ends
from dobandit.certainty.beliefs import DRAWS, Beliefs, Doubted, believed, doubted, judging_graphs
from dobandit.certainty.stopping import Case, Standing, standing
from dobandit.certainty.verdict import Verdict, best_per_cost, judged
