"""The same script with the package as it is here, and as it was in another commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent


def answer_of(script: str, source: Path, *arguments: object) -> Any:
    """What a script prints as JSON in its last line, with the package of a source tree."""
    command = [sys.executable, script, *map(str, arguments)]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    return json.loads(ran.stdout.splitlines()[-1])


def now_and_then(script: str, commit: str, *arguments: object) -> tuple[Any, Any]:
    """The answers with the package of this folder and of a commit; for no commit, of this folder twice."""
    with tempfile.TemporaryDirectory() as folder:
        other = HERE
        if commit:
            packed = subprocess.run(["git", "-C", str(HERE), "archive", commit, "src"], capture_output=True, check=True)
            subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
            other = Path(folder)
        return answer_of(script, HERE / "src", *arguments), answer_of(script, other / "src", *arguments)
