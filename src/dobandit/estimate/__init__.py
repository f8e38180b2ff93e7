"""Evidence turned into means and uncertainty: from logs alone (`observational`), as the paper does it (`published`),
and with all data pooled through the graph (`pooled`)."""

from dobandit.estimate.observational import (
    Bounds,
    Effect,
    Effects,
    SparseDataWarning,
    bounds,
    check_graph,
    effect,
    effects,
)
