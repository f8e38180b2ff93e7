"""Figures from numbers and labels; they need matplotlib (`pip install 'dobandit[plot]'`)."""

from dobandit.plots.effects import EffectRow, effects_figure
from dobandit.plots.graph import Kind, graph_figure
from dobandit.plots.plans import Expected, plan_figure
from dobandit.plots.regret import Curve, curves_figure
from dobandit.plots.studies import OptionRow, Part, study_figure
from dobandit.plots.style import plain_style, save, to_bytes
from dobandit.plots.timeline import MOST_OPTIONS, Course, Timeline
