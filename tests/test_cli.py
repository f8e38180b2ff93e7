"""The command line: what it answers, and that a user's mistake ends in sentences and an exit code."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import Ran

Run = Callable[..., Ran]


@pytest.fixture
def shop(tmp_path: Path, dobandit: Run) -> Path:
    file = tmp_path / "shop.toml"
    assert dobandit("init", "--example", "shop", file).code == 0
    return file


def assert_refused(ran: Ran, code: int = 2) -> None:
    """A clear end: the exit code, nothing on stdout, sentences on stderr."""
    assert ran.code == code, ran
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert re.match(r"(error: \S|Usage: )", ran.err), ran.err


def test_help_names_every_command(dobandit: Run) -> None:
    ran = dobandit("--help")
    assert ran.code == 0
    for command in ("init", "check", "effect"):
        assert command in ran.out
        assert "--json" in dobandit(command, "--help").out
    assert dobandit("--version").out == "dobandit, version 0.1.0\n"


def test_init_writes_a_problem_that_checks(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "problem.toml"
    ran = dobandit("init", file, "--json")
    assert json.loads(ran.out) == {"path": str(file)}
    assert dobandit("check", file).code == 0
    before = file.read_bytes()
    assert_refused(dobandit("init", file))
    assert file.read_bytes() == before
    assert_refused(dobandit("init", tmp_path / "no" / "folder.toml"))
    assert_refused(dobandit("init", tmp_path / "new.toml", "--example", "nothing"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is not stopped by permissions, and has /proc to try")
def test_a_place_that_cannot_be_written_is_storage(dobandit: Run) -> None:
    assert dobandit("init", "/proc/problem.toml").code in (2, 5)


def test_check_for_people(dobandit: Run, shop: Path) -> None:
    ran = dobandit("check", shop)
    assert ran.code == 0
    for line in (
        "Make Buy large: simple regret, budget 600",
        "do(Newsletter)   0, 1     3      yes, adjustment: Σ_Loyalty P(Buy | Newsletter, Loyalty) P(Loyalty)",
        "no, Discount and its child Buy share hidden causes",
        "The graph implies 7 independencies",
    ):
        assert line in ran.out


def test_check_for_scripts(dobandit: Run, shop: Path) -> None:
    answer = json.loads(dobandit("check", shop, "--json").out)
    assert set(answer) == {"variables", "c_components", "objective", "budget", "arms", "independencies"}
    assert answer["c_components"] == [["Loyalty"], ["Newsletter"], ["Ad", "Discount", "Buy"], ["Visit"]]
    assert (answer["objective"], answer["budget"]) == ("simple", 600)
    by_arm = {arm.pop("arm"): arm for arm in answer["arms"]}
    assert by_arm["do()"] == {"cost": 1, "identifiable": True, "method": "observed", "backdoor": False}
    assert by_arm["do(Ad=1)"] == {"cost": 8, "identifiable": True, "method": "c-factor", "backdoor": True}
    assert by_arm["do(Discount=0)"] == {"cost": 12, "identifiable": False, "method": "none", "backdoor": True}
    assert {"a": "Loyalty", "b": "Ad", "given": [], "p_value": None, "rejected": False} in answer["independencies"]


def test_check_says_what_was_projected_out(dobandit: Run, tmp_path: Path) -> None:
    (tmp_path / "g.dagitty").write_text("dag { X [exposure] Y [outcome] U [latent] U -> {X Y} X -> Y }")
    file = tmp_path / "problem.toml"
    file.write_text('budget = 5\ngraph.file = "g.dagitty"')
    ran = dobandit("check", file)
    assert ran.err == "note: U is latent and was projected out; it leaves X <-> Y\n"
    assert dobandit("check", file, "--quiet").err == ""
    assert [arm["arm"] for arm in json.loads(dobandit("check", file, "--json").out)["arms"]] == [
        *("do()", "do(X=0)", "do(X=1)"),
    ]


def rows(n: int, season_acts_on_price: float) -> str:
    """Rows of Season -> Sale <- Price; the graph below says that Season and Price are independent."""
    rng = np.random.default_rng(1)
    season = rng.random(n) < 0.5
    price = rng.random(n) < 0.4 + season_acts_on_price * season
    sale = rng.random(n) < 0.2 + 0.3 * season + 0.3 * price
    return "Season,Price,Sale\n" + "\n".join(f"{a:d},{b:d},{c:d}" for a, b, c in zip(season, price, sale, strict=True))


@pytest.mark.parametrize(("strength", "rejected"), [(0.0, False), (0.2, True)])
def test_check_tests_the_graph_on_data(dobandit: Run, tmp_path: Path, strength: float, rejected: bool) -> None:
    file, log = tmp_path / "problem.toml", tmp_path / "log.csv"
    file.write_text('budget = 5\nreward = "Sale"\ngraph.edges = "{Season, Price} -> Sale"')
    log.write_text(rows(2000, strength))
    (answer,) = json.loads(dobandit("check", file, "--data", log, "--json").out)["independencies"]
    assert (answer["a"], answer["b"], answer["given"]) == ("Season", "Price", [])
    assert answer["rejected"] is rejected
    assert (answer["p_value"] < 1e-6) is rejected
    text = dobandit("check", file, "--data", log).out
    assert ("1 of 1 independencies are contradicted" in text) is rejected


def test_check_draws_the_graph(dobandit: Run, shop: Path, tmp_path: Path) -> None:
    ran = dobandit("check", shop, "--plot", tmp_path / "graph.svg", "--json")
    assert json.loads(ran.out)
    assert "Newsletter" in (tmp_path / "graph.svg").read_text()
    assert_refused(dobandit("check", shop, "--plot", tmp_path / "graph.doc"))


def test_usage_errors(dobandit: Run, shop: Path, tmp_path: Path) -> None:
    for arguments in (
        ["chekc", shop],
        ["check"],
        ["check", shop, "--colour"],
        ["check", tmp_path / "missing.toml"],
        ["check", tmp_path],
        ["check", shop, "--data", tmp_path / "missing.csv"],
        ["check", shop, "--data", tmp_path / "missing.parquet"],
        ["effect", shop, tmp_path / "missing.csv", "--all"],
        ["effect", shop],
    ):
        assert_refused(dobandit(*arguments))


def test_debug_shows_the_traceback(dobandit: Run, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be read"):
        dobandit("check", tmp_path / "missing.toml", "--debug")


# -- 200 malformed inputs ---------------------------------------------------------------------

BAD_GRAPHS = (
    """
->; A ->; -> A; A -> -> B; A - B; A -- B; A @-> B; A o-> B; A => B; A <--> B; A <-; A <=> B; A >- B; A ~ B
A -> A; A <-> A; A -> B -> A; A -> B -> C -> A; A -> {B, A}; {A, B} -> {B}; A B; A, B; {A; A}; {}; {A,}; {,A}
{A B} -> C; {A} {B}; {{A}} -> B; A -> {}; A -> {B; A -> B}; 1; 1A; A1! -> B; A -> 2; A+B; A -> B+; A|B; A:B; A'B
[A] -> B; (A) -> B; A -> B ->; "A" -> B; A → B; A ↔ B; é; A -> Ä; $; %; &; *; /; \\; ^; `; ?; A..B -> .C; ½; A -> ½
""".replace("\n", "; ")
    .strip("; ")
    .split("; ")
)

GOOD = 'budget = 10\nreward = "Y"\n[graph]\nedges = "X -> Y; Z -> X"\n[costs]\ndefault = 2\n[domains]\nX = [0, 1, 2]\n'

BAD_VALUES = {  # what stands in GOOD, and what is put in its place
    "budget = 10": [f"budget = {v}" for v in '0 -1 nan inf "10" [10] true {} 1979-05-27'.split()],
    'reward = "Y"': [
        *(f"reward = {v}" for v in '"Q" 3 [] true {} {variable="Q"} ""'.split()),
        *(f'reward = {{variable = "Y", {v}}}' for v in ("values = 3", "range = 3", "range = [1, 0]")),
    ],
    "[graph]": [
        *(f"{key} = 3\n[graph]" for key in "objective goal horizon intervenable observed buget".split()),
        *(f"{key} = []\n[graph]" for key in "objective goal horizon observed cost".split()),
        *(f'{key} = ["Q"]\n[graph]' for key in "intervenable observed".split()),
        *(f'intervenable = ["{v}"]\n[graph]' for v in ("Y", "", "x")),
    ],
    'edges = "X -> Y; Z -> X"': ["", "edges = 3", "edges = []", "file = 3", 'file = "no.dot"'],
    "default = 2": [
        *(f"default = {v}" for v in '0 -1 nan "2" [2] {} {choose=[]}'.split()),
        *(f"default = {{{v}}}" for v in ("choose = 3", "uniform = [2, 1]", "uniform = [1]", "pick = [1]")),
        *(f'"{v}" = 2' for v in ("do", "do(", "do(Q)", "do(X=9)", "do(Y)", "do(X=1, Z=1)", "X", "")),
    ],
    "X = [0, 1, 2]": [
        *(f"X = {v}" for v in '[] [0] [0,0] "ab" 3 {} ["","a"]'.split()),
        *(f"{v} = [0, 1]" for v in ("Q", "Y.a", '"a b"')),
    ],
    "[costs]": ["[costs", "[[costs]]", "costs]", "[]", "[graph]", "= 3", "costs = ", "\0"],
    "[domains]": ["domains = 3", "[domains", "[reward]", "[[domains]]"],
}
BAD_FILES = [GOOD.replace(old, new) for old, bad in BAD_VALUES.items() for new in bad]


def test_malformed_graphs(dobandit: Run, tmp_path: Path) -> None:
    assert len(BAD_GRAPHS) + len(BAD_FILES) >= 140
    file = tmp_path / "problem.toml"
    for text in BAD_GRAPHS:
        file.write_text(f"budget = 1\nreward = 'A'\n[graph]\nedges = '''\n{text}\n'''", encoding="utf-8")
        ran = dobandit("check", file)
        assert_refused(ran)
        assert "graph.edges: " in ran.err, (text, ran.err)


@pytest.mark.parametrize("text", BAD_FILES)
def test_malformed_files(dobandit: Run, tmp_path: Path, text: str) -> None:
    assert text != GOOD
    file = tmp_path / "problem.toml"
    file.write_text(text, encoding="utf-8")
    ran = dobandit("check", file, "--json")
    assert_refused(ran)
    assert all(line.startswith(f"error: {file}") for line in ran.err.splitlines()), ran.err


@given(st.integers(0, 10**9))
@settings(derandomize=True, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_files(dobandit: Run, tmp_path: Path, seed: int) -> None:
    """Bytes deleted, doubled, swapped or replaced: the file is read or refused, nothing else."""
    rng = random.Random(seed)
    data = bytearray(GOOD.encode())
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(len(data))
        data[i : i + rng.randint(0, 3)] = rng.choice(
            [b"", data[i : i + 5] * 2, bytes([rng.randrange(256)]), b"\n", b'"']
        )
    file = tmp_path / "mutated.toml"
    file.write_bytes(data)
    ran = dobandit("check", file)
    if ran.code:
        assert_refused(ran)


# -- the real program --------------------------------------------------------------------------


def test_the_installed_program(shop: Path) -> None:
    program = Path(sys.executable).with_name("dobandit")
    ran = subprocess.run([program, "check", shop], capture_output=True, env={"LC_ALL": "C", "PATH": ""}, check=True)
    assert b"Make Buy large" in ran.stdout
    piped = subprocess.run(f"'{program}' check '{shop}' | head -n 1", shell=True, capture_output=True, check=True)
    assert piped.stderr == b""


IMPORTS = """
import sys
before = set(sys.modules)
{code}
print("\\n".join(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""


def packages_after(code: str) -> set[str]:
    ran = subprocess.run([sys.executable, "-c", IMPORTS.format(code=code)], capture_output=True, text=True, check=True)
    return set(ran.stdout.split()) - set(sys.stdlib_module_names)


def test_imports_stay_light() -> None:
    """Time is the reason, but modules are what is checked: a noisy machine cannot make this fail."""
    assert packages_after("import dobandit") == {"dobandit"}
    assert packages_after("import dobandit; dobandit.Graph('X -> Y')") == {"dobandit"}
    help_text = (
        "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
    )
    assert packages_after(help_text + "    from dobandit.cli import main; main(['--help'])") == {"dobandit", "click"}
    assert packages_after("import dobandit; dobandit.identify; dobandit.Problem") == {"dobandit"}
    heavy = {"pandas", "polars", "duckdb", "narwhals", "matplotlib", "networkx", "rich"}
    assert not packages_after("import dobandit; dobandit.effect") & heavy


# -- simulation --------------------------------------------------------------------------------


def test_run_for_scripts(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "n6.toml"
    dobandit("init", "--example", "paper-n6", file)
    arguments = ["run", file, "--policy", "f-kube", "--policy", "UCB", "--trials", 8, "--budget", 60, "--budget", 30]
    ran = dobandit(*arguments, "--json", "--out", tmp_path / "out")
    answer = json.loads(ran.out)
    assert set(answer) == {"objective", "trials", "seconds", "rounds", "optimum", "results"}
    assert (answer["objective"], answer["trials"], answer["optimum"]) == ("cumulative", 8, "knapsack")
    rows = answer["results"]
    assert [(r["policy"], r["budget"]) for r in rows] == [("f-kube", 30), ("f-kube", 60), ("ucb", 30), ("ucb", 60)]
    assert all(set(r) == {"policy", "budget", "regret", "se", "spent", "rounds"} for r in rows)
    assert answer["rounds"] == pytest.approx(8 * (rows[1]["rounds"] + rows[3]["rounds"]))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"results.csv", "regret.png"}
    again = json.loads(dobandit(*arguments, "--json", "--workers", 2).out)
    assert again["results"] == rows


def test_run_without_a_world_says_so(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text('budget = 20\nreward = "Y"\ngraph.edges = "X -> Y; X <-> Y"')
    ran = dobandit("run", file, "--policy", "thompson", "--trials", 4)
    assert "every trial has a random world on its graph" in ran.err
    assert "thompson" in ran.out


def test_policies_are_listed(dobandit: Run) -> None:
    found = json.loads(dobandit("policies", "--json").out)["policies"]
    assert {"paper-cumulative", "crm", "crm-nb", "f-kube", "ucb", "thompson"} <= {p["name"] for p in found}
    assert all(set(p) == {"name", "objective", "summary", "reference"} and all(p.values()) for p in found)
    assert "Tran-Thanh" in dobandit("policies").out


def test_what_run_refuses(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "n6.toml"
    dobandit("init", "--example", "paper-n6", file)
    for arguments in (
        ["--policy", "nothing"],
        ["--policy", "f-kube[x=1]"],
        ["--trials", "0"],
        ["--budget", "-3"],
        ["--budget", "many"],
        ["--policy", "ucb", "--policy", "ucb"],
    ):
        assert_refused(dobandit("run", file, *arguments))
    file.write_text(file.read_text().replace('"xor"', '"xro"'))
    assert "did you mean xor?" in dobandit("run", file).err
