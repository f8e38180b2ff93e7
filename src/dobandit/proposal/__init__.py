"""Problems proposed from data: what `dobandit init --data` writes."""

from dobandit.proposal.columns import Proposal, propose
from dobandit.proposal.cut_points import cut_points
from dobandit.proposal.quantiles import with_cut_points
from dobandit.proposal.text import written
