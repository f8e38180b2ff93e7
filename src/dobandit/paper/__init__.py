"""The paper's experiments: its thirteen panels as data, its published points, and how to rerun them."""

from dobandit.paper.blocks import Blocks, Job
from dobandit.paper.bound_curves import bounds_beside, bounds_trials
from dobandit.paper.claims import CRITERIA, Verdict
from dobandit.paper.comparison import Agreement, Judgement, agreement, judgements, nearest, notes
from dobandit.paper.panels import CHOICES, PANELS, Panel
from dobandit.paper.published import CITATION
from dobandit.paper.reproduction import TRIALS, Progress, Reproduced, chosen_panels, jobs_of, reproduce, sizes
