"""Figures from numbers and labels; they need matplotlib (`pip install 'dobandit[plot]'`)."""

from dobandit.plots.effects import EffectRow, effects_figure
from dobandit.plots.graph import graph_figure
from dobandit.plots.regret import Curve, curves_figure
from dobandit.plots.saving import save, to_bytes
from dobandit.plots.spending import study_figure
from dobandit.plots.style import plain_style
