"""How sure an answer is, and whether that is enough to stop."""

from dobandit.certainty.beliefs import Beliefs, Doubted, believed
from dobandit.certainty.verdict import Verdict, judged
