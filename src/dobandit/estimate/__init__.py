"""Evidence turned into means and uncertainty: from logs alone (`observational`), as the paper does it (`published`),
and with all data pooled through the graph (`pooled`)."""

from dobandit.estimate.observational import Effect, Effects, SparseDataWarning, check_graph, effect, effects
