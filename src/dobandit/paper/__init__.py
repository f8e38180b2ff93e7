"""The paper's experiments: its thirteen panels as data, its published points, and how to rerun them."""

from dobandit.paper.panel import Panel
from dobandit.paper.panels import PANELS
from dobandit.paper.reproduction import Reproduced, reproduce

__all__ = ["PANELS", "Panel", "Reproduced", "reproduce"]
