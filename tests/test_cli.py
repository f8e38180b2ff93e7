"""The command line: what it answers, and that a user's mistake ends in sentences and an exit code."""

from __future__ import annotations

import errno
import html
import json
import math
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

from dobandit.cli.common import print_json
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


@pytest.mark.parametrize(
    ("size", "code", "said"),
    [
        ("1KB", 0, ""),
        (
            "1023B",
            2,
            "would have 16 cells, since it reads 3 variables; the memory limit allows 15; DOBANDIT_MEMORY=4GB",
        ),
        ("much", 2, "the memory limit is 'much'; write a size such as 500MB or 4GB"),
        ("0GB", 2, "the memory limit is '0GB'"),
    ],
)
def test_the_memory_limit_is_an_option(
    dobandit: Run, size: str, code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For one command; the next one has the limit of the environment."""
    problem = tmp_path / "problem.toml"
    graph = "X1 -> X3; X2 -> {X3, X4}; X3 -> {X4, X5, X6}; X4 -> X5 -> X6 -> Y; X1 <-> X2; X4 <-> X6"
    text = f'budget = 9\nreward = "Y"\n[graph]\nedges = "{graph}"\n[world]\nmodel = "xor"'
    problem.write_text(text, encoding="utf-8")
    monkeypatch.setenv("DOBANDIT_MEMORY", "1GB")
    run = ("run", problem, "--policy", "f-kube", "--trials", "1", "--workers", "1", "--quiet")
    ran = dobandit("--memory", size, *run)
    assert ran.code == code
    assert said in " ".join(ran.err.split())
    assert os.environ["DOBANDIT_MEMORY"] == "1GB"


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


def test_every_example_is_named_in_the_help_and_runs(dobandit: Run, examples: dict[str, str], tmp_path: Path) -> None:
    shown = "".join(dobandit("init", "--help").out.split())  # a line may end in the middle of a name
    for name in sorted(set(examples) - {"start"}):
        assert name in shown
        file = tmp_path / f"{name}.toml"
        assert dobandit("init", file, "--example", name).code == 0
        ran = dobandit("run", file, "--trials", 2, "--budget", 60, "--policy", "all", "--json")
        assert all(result["spent"] <= 60 for result in json.loads(ran.out)["results"])


def test_the_papers_example_graph_shows_one_effect(dobandit: Run, tmp_path: Path) -> None:
    """In Fig. 1 every variable but X4 shares hidden causes with a child."""
    file = tmp_path / "fig1.toml"
    dobandit("init", file, "--example", "paper-fig1")
    found = json.loads(dobandit("check", file, "--json").out)
    assert found["c_components"] == [["X2", "X3", "X5", "X1"], ["X4"]]
    known = {arm["arm"] for arm in found["arms"] if arm["identifiable"]}
    assert known == {"do()", "do(X4=0)", "do(X4=1)"}


def test_a_place_that_cannot_be_written_is_storage(
    dobandit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    ran = dobandit("init", tmp_path / "p.toml")
    assert_refused(ran, 5)
    assert "cannot be written: no space left on device" in ran.err


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
    for arm in by_arm.values():  # single variables: no two options are the same, and none is dominated
        assert (arm.pop("alias_of"), arm.pop("dominated_by"), arm.pop("never_best")) == (None, [], False)
    assert by_arm["do()"] == {"cost": 1, "identifiable": True, "method": "observed", "backdoor": False}
    assert by_arm["do(Ad=1)"] == {"cost": 8, "identifiable": True, "method": "c-factor", "backdoor": True}
    assert by_arm["do(Discount=0)"] == {"cost": 12, "identifiable": False, "method": "none", "backdoor": True}
    assert {"a": "Loyalty", "b": "Ad", "given": [], "p_value": None, "rejected": False} in answer["independencies"]


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("g.dagitty", "dag { X [exposure] Y [outcome] U [latent] U -> {X Y} X -> Y }"),
        ("g.dot", 'digraph { U [observed="no"]; U -> {X Y}; X -> Y }'),
    ],
)
def test_check_says_what_was_projected_out(dobandit: Run, tmp_path: Path, name: str, graph: str) -> None:
    (tmp_path / name).write_text(graph)
    file = tmp_path / "problem.toml"
    file.write_text(f'budget = 5\nreward = "Y"\ngraph.file = "{name}"')
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
    assert ("1 of 1 independencies is contradicted" in text) is rejected
    assert ("No contradiction: no p-value is at most 0.05 (0.05 shared by 1 test" in text) is not rejected


def test_check_states_the_limit_of_p_values(dobandit: Run, tmp_path: Path) -> None:
    """Of m independencies the smallest p-value is compared with 0.05 / m, the next one with 0.05 / (m - 1)."""
    file, log = tmp_path / "problem.toml", tmp_path / "log.csv"
    file.write_text('budget = 5\nreward = "Sale"\ngraph.edges = "{Season, Price} -> Sale; Coin"')
    for strength, said in (
        (0.0, "No contradiction: no p-value is at most 0.013 (0.05 shared by 4 tests, Holm's method)."),
        (0.2, "Other p-values are above 0.017 (0.05 shared by 4 tests, Holm's method)."),
    ):
        header, *lines = rows(2000, strength).splitlines()
        coin = np.random.default_rng(2).integers(2, size=2000)
        log.write_text("\n".join([f"{header},Coin", *(f"{a},{b}" for a, b in zip(lines, coin, strict=True))]))
        assert said in " ".join(dobandit("check", file, "--data", log).out.split())


@pytest.mark.parametrize(
    ("number", "kind", "said"),
    [
        (2000, "noise", "shown: the 100 smallest p-values; --json lists all 135 independencies"),
        (2000, "copies", "shown: 100 of 119 contradictions; --json lists all 135 independencies"),
        (3, "noise", "shown: 100, those with p-values first; --json lists all 135 independencies"),
    ],
)
def test_check_lists_the_most_telling_of_many(dobandit: Run, tmp_path: Path, number: int, kind: str, said: str) -> None:
    """Seventeen variables that have hardly anything to do with each other, or sixteen copies of one and another one."""
    file, log, names = tmp_path / "problem.toml", tmp_path / "log.csv", [f"X{i:02}" for i in range(17)]
    file.write_text(f'budget = 5\nreward = "X00"\ngraph.edges = "{"; ".join(names)}; X16 -> X15"')
    rng = np.random.default_rng(5)
    rows = rng.integers(2, size=(number, 17))
    if kind == "copies":
        rows[:, 1:] = rows[:, 1:2]
    log.write_text("\n".join(map(",".join, [names, *rows.astype(str).tolist()])) + "\n")
    verdicts = json.loads(dobandit("check", file, "--data", log, "--json").out)["independencies"]
    lines = dobandit("check", file, "--data", log).out.splitlines()
    assert said in lines
    listed = [line.split("  ")[0] for line in lines if "⫫" in line]
    in_order = sorted(verdicts, key=lambda v: 2 if v["p_value"] is None else v["p_value"])
    assert listed == [f"{v['a']} ⫫ {v['b']}" for v in in_order[:100]]


def test_names_with_a_space_that_are_not_quoted(dobandit: Run, shop: Path, tmp_path: Path) -> None:
    ran = dobandit("effect", shop, tmp_path / "log.csv", "--do", "contact", "channel=phone")
    assert ran.code == 2
    assert "Put quotes around names with a space: 'contact channel=phone'" in ran.err
    assert "quotes" not in dobandit("effect", shop, tmp_path / "log.csv", "more").err


def test_check_says_where_a_graph_is_too_dense(dobandit: Run, tmp_path: Path) -> None:
    file, causes = tmp_path / "problem.toml", ", ".join(f"X{i}" for i in range(12))
    file.write_text(f'budget = 5\nreward = "Y"\ngraph.edges = "{{{causes}}} -> Y"')
    assert (
        "The graph is dense: exact sums over it need tables of more than 4,096 numbers." in dobandit("check", file).out
    )
    file.write_text(f'budget = 5\nreward = "Y"\ngraph.edges = "{{{causes[:-5]}}} -> Y"')
    assert "The graph is dense" not in dobandit("check", file).out


def test_check_says_what_was_not_tested(dobandit: Run, tmp_path: Path) -> None:
    file, log = tmp_path / "problem.toml", tmp_path / "log.csv"
    file.write_text('budget = 5\nreward = "Sale"\ngraph.edges = "{Season, Price} -> Sale"')
    log.write_text(rows(3, 0.0))
    text = dobandit("check", file, "--data", log).out
    assert "Nothing was tested" in text
    assert "No contradiction" not in text
    file.write_text('budget = 5\nreward = {variable = "Sale", range = [0, 9]}\ngraph.edges = "Season -> Price -> Sale"')
    log.write_text(rows(300, 0.0))
    (untested,) = json.loads(dobandit("check", file, "--data", log, "--json").out)["independencies"]
    assert (untested["a"], untested["b"], untested["p_value"], untested["rejected"]) == ("Season", "Sale", None, False)
    text = dobandit("check", file, "--data", log).out
    assert "not tested: Sale is a measurement" in text
    assert "No contradiction" not in text
    log.write_text("Season,Price,Sale\n0,1,nan\n0,1,2.5")
    assert "column Sale has 1 row without a value" in dobandit("check", file, "--data", log).err


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
    ran = dobandit("check", tmp_path / "missing.toml", "--debug")
    assert ran.code == 2  # as without it
    assert "Traceback" in ran.err
    assert "cannot be read" in ran.err.splitlines()[-1]


# -- 200 malformed inputs ---------------------------------------------------------------------

BAD_GRAPHS = (
    """
->; A ->; -> A; A -> -> B; A - B; A -- B; A @-> B; A o-> B; A => B; A <--> B; A <-; A <=> B; A >- B; A ~ B
A -> A; A <-> A; A -> B -> A; A -> B -> C -> A; A -> {B, A}; {A, B} -> {B}; A B; A, B; {A; A}; {}; {A,}; {,A}
{A B} -> C; {A} {B}; {{A}} -> B; A -> {}; A -> {B; A -> B}; 1; 1A; A1! -> B; A -> 2; A+B; A -> B+; A|B; A:B; A'B
[A] -> B; (A) -> B; A -> B ->; "A -> B; "" -> A; A → B; A ↔ B; A -> " "
$; %; &; *; /; \\; ^; `; ?; A..B -> .C; ½; A -> ½
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


PROGRAM = Path(sys.executable).with_name("dobandit")


@pytest.mark.parametrize(
    ("redirection", "code"),
    [("| head -n 1; exit ${PIPESTATUS[0]}", 0), (">&-", 0), ("> /dev/full", 5), ("--json > /dev/full", 5)],
)
def test_outputs_that_are_closed_full_or_cut_short(shop: Path, redirection: str, code: int) -> None:
    ran = subprocess.run(["bash", "-c", f"'{PROGRAM}' check '{shop}' {redirection}"], capture_output=True, text=True)
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr
    assert (ran.stderr == "") == (code == 0)


def test_a_full_stderr_does_not_hide_the_exit_code(tmp_path: Path) -> None:
    command = f"'{PROGRAM}' check '{tmp_path}/missing.toml' 2> /dev/full"
    assert subprocess.run(["bash", "-c", command]).returncode == 2


def test_json_survives_every_terminal(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text('budget = 5\nreward = "Y"\ngraph.edges = "X -> Y"\ndomains.X = ["日本", "größe"]', encoding="utf-8")
    ran = subprocess.run(
        [PROGRAM, "check", file, "--json"], capture_output=True, env={"PYTHONIOENCODING": "latin-1"}, check=True
    )
    assert [arm["arm"] for arm in json.loads(ran.stdout)["arms"]] == ["do()", "do(X=日本)", "do(X=größe)"]


def test_json_has_null_for_what_is_no_finite_number(capsys: pytest.CaptureFixture[str]) -> None:
    bad = [math.inf, -math.inf, math.nan]
    print_json({"in a list": [1.5, *bad], "in a tuple": (2, *bad), "alone": bad[0], "deep": [{"a": tuple(bad)}]})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "in a list": [1.5, None, None, None],
        "in a tuple": [2, None, None, None],
        "alone": None,
        "deep": [{"a": [None, None, None]}],
    }


@pytest.mark.parametrize("program", [[PROGRAM], [sys.executable, "-m", "dobandit"]], ids=["script", "module"])
def test_the_installed_program(shop: Path, program: list[str | Path]) -> None:
    ran = subprocess.run([*program, "check", shop], capture_output=True, env={"LC_ALL": "C", "PATH": ""}, check=True)
    assert b"Make Buy large" in ran.stdout


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


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="threads are counted in /proc")
def test_commands_start_no_threads(shop: Path) -> None:
    """NumPy's library for matrices would: as much processor time as the rest of a short command."""
    code = f"from dobandit.cli import main\ntry: main(['check', {str(shop)!r}])\nexcept SystemExit: pass"
    counted = f"{code}\nimport os, sys\nprint('numpy' in sys.modules, len(os.listdir('/proc/self/task')))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run([sys.executable, "-c", counted], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout.splitlines()[-1] == "True 1"


TOLD = ["Loyalty=0", "Newsletter=0", "Ad=0", "Visit=0", "Discount=0", "Buy=0"]


@pytest.mark.parametrize("command", [["ask"], ["tell", 1, *TOLD]], ids=["ask", "tell"])
def test_asking_and_telling_load_little(shop: Path, dobandit: Run, command: list[object]) -> None:
    """Neither what reads rows, nor what answers questions, nor what lays out tables on terminals."""
    study = shop.with_name("shop.db")
    assert dobandit("study", "init", study, shop).code == 0
    assert dobandit("study", "ask", study).code == 0
    name, *rest = command
    arguments = list(map(str, ["study", name, study, *rest]))
    run = f"with contextlib.suppress(SystemExit):\n    main({arguments})"
    listed = f"import contextlib, sys\nfrom dobandit.cli import main\n{run}\nprint(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    loaded = set(ran.stderr.split())
    assert {"numpy", "dobandit.study.decisions"} <= loaded
    assert not loaded & {
        "rich",
        "tempfile",
        "dobandit.evidence.sources",
        "dobandit.study.answers",
        "dobandit.graph.text",
    }


# -- malformed data ----------------------------------------------------------------------------


LOG = "Season,Price,Sale\n" + "0,1,1\n1,0,0\n" * 20
BAD_LINES = {
    "Season": ["", "season", "Season ,", "Price", '"Season', "Saison", "Season;Price"],
    "0,1,1\n": [
        *("0,1\n", "0,1,1,1\n", "0\n", ",,\n", "0,,1\n", "2,1,1\n", "x,1,1\n", "0,1,often\n", "NA,1,1\n", '"0,1,1\n'),
        *('"0"0,1,1\n', "nan,1,1\n", "0,1,0.5\n", "-1,1,1\n", "1e0,1,1\n", "0,1,\n"),
    ],
    LOG: ["", "\n", ",", "\0", "Season,Price,Sale", "Season,Price,Sale\n", "{}", "<html>"],
}
BAD_LOGS = [LOG.replace(old, new, 1) for old, bad in BAD_LINES.items() for new in bad]
NETWORK = """network n { }
variable Season { type discrete [ 2 ] { 0, 1 }; }
variable Price { type discrete [ 2 ] { 0, 1 }; }
variable Sale { type discrete [ 2 ] { 0, 1 }; }
probability ( Season ) { table 0.5, 0.5; }
probability ( Price ) { table 0.5, 0.5; }
probability ( Sale | Season, Price ) { (0, 0) 0.9, 0.1; (0, 1) 0.6, 0.4; (1, 0) 0.5, 0.5; (1, 1) 0.2, 0.8; }
"""
BAD_PARTS = {  # what stands in NETWORK, and what is put in its place
    "[ 2 ]": ["[ 3 ]", "[ 0 ]", "[ -1 ]", "[ two ]", "[ ]", "2", "[ 2", "[ 99999999999999999999 ]"],
    "{ 0, 1 }": ["{ 0 }", "{ 0, 0 }", "{ }", "0, 1", "{ 0, 1", "{ 0, 1, 2 }", "{{0, 1}}"],
    "table 0.5, 0.5": [
        *("table 0.5", "table 0.5, 0.6", "table 1.5, -0.5", "table nan, 1", "table a, b", "table", "0.5, 0.5"),
        *("table 0.5, 0.5, 0", "(0) 0.5, 0.5", "table inf, 0"),
    ],
    "( Season )": ["( Saison )", "( )", "Season", "( Season", "( Season | Season )", "( Season | Sale )"],
    "(0, 0) 0.9, 0.1;": [
        *("", "(0) 0.9, 0.1;", "(0, 2) 0.9, 0.1;", "(0, 1) 0.9, 0.1;", "(0, 0) 0.9;", "(0, 0) 0.9, 0.2;"),
        *("(0, 0, 0) 0.9, 0.1;", "0.9, 0.1;", "(0, 0 0.9, 0.1;"),
    ],
    "variable Season": ["variable", "variabel Season", "variable 1Season", "variable Se-ason"],
    "| Season, Price": ["| Season", "| Season, Price, Q", "| Season, Season", "| Price, Season, Sale"],
    "network n { }": ["network", "network n {", "}", "probability ( Q ) { table 1; }", "\0"],
    NETWORK: ["", "{", "variable", "hello world", "network n { }", "<?xml version='1.0'?>"],
}
BAD_NETWORKS = [NETWORK.replace(old, new, 1) for old, bad in BAD_PARTS.items() for new in bad]


def test_malformed_logs_and_networks(dobandit: Run, tmp_path: Path) -> None:
    """Each ends in exit code 2 and a sentence."""
    assert len(BAD_LOGS) + len(BAD_NETWORKS) >= 90
    problem, log, network = tmp_path / "p.toml", tmp_path / "log.csv", tmp_path / "n.bif"
    problem.write_text('budget = 5\nreward = "Sale"\ngraph.edges = "{Season, Price} -> Sale"')
    log.write_text(LOG)
    assert dobandit("effect", problem, log, "--all").code == 0
    for text in BAD_LOGS:
        log.write_text(text)
        assert_refused(dobandit("effect", problem, log, "--all"))
    problem.write_text(problem.read_text() + '\nworld = {model = "bif", path = "n.bif"}')
    network.write_text(NETWORK)
    assert dobandit("check", problem).code == 0
    for text in BAD_NETWORKS:
        network.write_text(text)
        ran = dobandit("check", problem)
        assert_refused(ran)
        assert "n.bif" in ran.err or "world" in ran.err, (text, ran.err)


@given(st.integers(0, 10**9))
@settings(derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_logs(dobandit: Run, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray(LOG.encode())
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(data))
        data[i : i + rng.randint(0, 3)] = rng.choice([b"", bytes([rng.randrange(256)]), b'"', b"\n,", b"7"])
    problem, log = tmp_path / "p.toml", tmp_path / "log.csv"
    problem.write_text('budget = 5\nreward = "Sale"\ngraph.edges = "{Season, Price} -> Sale"')
    log.write_bytes(data)
    ran = dobandit("effect", problem, log, "--all")
    if ran.code:
        assert_refused(ran)


def test_what_is_wrong_with_a_world_is_told_by_check_with_its_line(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    start = 'budget = 5\nreward = "Y"\ngraph.edges = "X -> Y"\n[world]\n'
    for world, message in {
        'model = "xro"': "line 5: world.model: there is no model xro; did you mean xor?",
        'model = "xor"\nsede = 1': "line 6: world.sede: unknown key of the model xor; did you mean seed?",
        'model = "bif"\npath = "no.bif"': "cannot be read: no such file",
        'model = "parallel"\nn = 1000000000': "at most 100000",
    }.items():
        file.write_text(start + world)
        ran = dobandit("check", file)
        assert_refused(ran)
        assert message in ran.err


def test_numbers_that_are_too_large_for_a_float(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    for digits in (400, 5000):
        file.write_text(f'budget = {"9" * digits}\nreward = "Y"\ngraph.edges = "X -> Y"')
        assert_refused(dobandit("check", file))
    file.write_text('budget = 5\nreward = "Y"\ngraph.file = "a\\u0000b"')
    assert_refused(dobandit("check", file))


def test_two_variables_at_once(dobandit: Run, shop: Path, tmp_path: Path) -> None:
    dobandit("sample", shop, tmp_path / "log.csv", "--rows", 200)
    for setting in ("Ad=1,Newsletter=1", "do(Newsletter=1; Ad=1)"):
        answer = json.loads(dobandit("effect", shop, tmp_path / "log.csv", "--do", setting, "--json").out)
        assert [e["arm"] for e in answer["effects"]] == ["do(Newsletter=1, Ad=1)"]
    for setting in ("Ad=1", "do(Ad=1)"):
        answer = json.loads(dobandit("effect", shop, tmp_path / "log.csv", "--do", setting, "--json").out)
        assert [e["arm"] for e in answer["effects"]] == ["do(Ad=1)"]
        assert set(answer["effects"][0]) == {"arm", "versus", "mean", "low", "high", "n", "method", "bounds"}
    everything = json.loads(dobandit("effect", shop, tmp_path / "log.csv", "--all", "--json").out)["effects"]
    by_arm = {e["arm"]: e for e in everything}
    assert (by_arm["do(Discount=1)"]["mean"], by_arm["do(Discount=1)"]["method"]) == (None, "none")
    assert_refused(dobandit("effect", shop, tmp_path / "log.csv", "--do", "Discount=1"))
    assert_refused(dobandit("effect", shop, tmp_path / "log.csv", "--do", "Q=1"))
    assert_refused(dobandit("effect", shop, tmp_path / "log.csv"))


# -- simulation --------------------------------------------------------------------------------


def test_run_for_scripts(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "n6.toml"
    dobandit("init", "--example", "paper-n6", file)
    arguments = ["run", file, "--policy", "f-kube", "--policy", "UCB", "--trials", 8, "--budget", 60, "--budget", 30]
    ran = dobandit(*arguments, "--json", "--out", tmp_path / "out")
    answer = json.loads(ran.out)
    assert set(answer) == {"objective", "trials", "seconds", "rounds", "optimum", "results", "warnings"}
    assert (answer["objective"], answer["trials"], answer["optimum"]) == ("cumulative", 8, "knapsack")
    rows = answer["results"]
    assert [(r["policy"], r["budget"]) for r in rows] == [("f-kube", 30), ("f-kube", 60), ("ucb", 30), ("ucb", 60)]
    assert all(set(r) == {"policy", "budget", "regret", "se", "spent", "rounds"} for r in rows)
    assert answer["rounds"] == pytest.approx(8 * (rows[1]["rounds"] + rows[3]["rounds"]))
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"report.html", "results.csv", "regret.png", "graph.png"}
    again = json.loads(dobandit(*arguments, "--json", "--workers", 2).out)
    assert again["results"] == rows


def test_run_takes_the_recommended_policy_unless_told_otherwise(dobandit: Run, tmp_path: Path) -> None:
    file = tmp_path / "n6.toml"
    dobandit("init", "--example", "paper-n6", file)

    def names(*arguments: str) -> list[str]:
        ran = dobandit("run", file, *arguments, "--trials", 1, "--budget", 20, "--json")
        return [row["policy"] for row in json.loads(ran.out)["results"]]

    assert names() == ["causal-thompson"]
    everybody = names("--policy", "all")
    assert set(everybody) >= {"causal-thompson", "paper-cumulative", "crm", "f-kube", "ucb", "thompson"}
    assert names("--policy", "all", "--policy", "ucb", "--policy", "f-kube[as_published=true]")[:-1] == everybody


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
    shown = dobandit("policies").out
    assert "Tran-Thanh" in shown
    assert re.findall(r"^(\S+) \*", shown, re.MULTILINE) == ["causal-thompson", "causal-explore"]


@pytest.mark.parametrize("world", ["", "world = {model = 'xor', redraw = true}", "world = {model = 'xor', seed = 2}"])
def test_a_log_belongs_to_one_world(dobandit: Run, tmp_path: Path, world: str) -> None:
    file, log = tmp_path / "p.toml", tmp_path / "log.csv"
    file.write_text(f'budget = 20\nreward = "Y"\ngraph.edges = "X -> Y; X <-> Y"\n{world}')
    log.write_text("X,Y\n" + "0,1\n1,0\n" * 20)
    ran = dobandit("run", file, "--evidence", log, "--policy", "causal-thompson", "--trials", 1, "--quiet")
    if "seed" in world:
        assert ran.code == 0, ran.err
    else:
        assert_refused(ran)
        assert "a log comes from one world" in ran.err


def test_a_wrong_graph_shows_in_all_that_run_writes(dobandit: Run, tmp_path: Path) -> None:
    file, log = tmp_path / "p.toml", tmp_path / "log.csv"
    file.write_text('budget = 20\nreward = "Y"\ngraph.edges = "X -> Y"\nworld = {model = "xor"}')
    log.write_text("intervention,X,Y\n" + ",0,0\n,1,1\n" * 100 + "do(X=1),1,0\n" * 40)
    ran = dobandit("run", file, "--evidence", log, "--trials", 2, "--json", "--out", tmp_path / "out")
    (warning,) = json.loads(ran.out)["warnings"]
    assert warning.startswith("causal-thompson: do(X=1): this arm's own rewards contradict the graph: |z| = ")
    assert warning in ran.err
    assert warning in html.unescape((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        ("X,Y\n", "log.csv: there are no "),
        ("X,Y\n0,nan\n1,1\n", "log.csv: column Y has 1 row without a value"),
        ("X,Y\n0,7\n1,1\n", "log.csv: column Y has 1 row with the value '7'"),
        ("X,Y,intervention\n0,1,do(Q=1)\n1,1,\n", "log.csv: column intervention: do(Q=1) "),
        ("X,Y,intervention\n0,1,do(X=7)\n1,1,\n", "log.csv: column intervention: do(X=7) "),
        ("X,Y,intervention\n0,1,set X\n1,1,\n", "log.csv: column intervention: 'set X' is not an arm"),
        ("X,Y,Intervention\n1,0,do(X=1)\n", "log.csv: column Intervention: what was done is read from a column that"),
        ("X,Y,intervention,INTERVENTION\n1,0,do(X=1),\n", "log.csv: column INTERVENTION: "),
    ],
)
def test_all_that_read_logs_refuse_the_same_ones(dobandit: Run, tmp_path: Path, log: str, sentence: str) -> None:
    file, rows, study = tmp_path / "p.toml", tmp_path / "log.csv", tmp_path / "s.db"
    file.write_text('budget = 20\nreward = "Y"\ngraph.edges = "X -> Y"\nworld = {model = "xor"}')
    rows.write_text(log)
    assert dobandit("study", "init", study, file).code == 0
    before = dobandit("study", "log", study, "--json").out
    for ran in (
        dobandit("run", file, "--evidence", rows),
        dobandit("study", "observe", study, rows),
        dobandit("effect", file, rows, "--all"),
        dobandit("check", file, "--data", rows),
    ):
        assert_refused(ran)
        assert sentence in ran.err
    assert dobandit("study", "log", study, "--json").out == before


def test_a_variable_may_be_called_intervention_in_a_simulation(dobandit: Run, tmp_path: Path) -> None:
    file, rows = tmp_path / "p.toml", tmp_path / "log.csv"
    file.write_text('budget = 20\nreward = "Y"\ngraph.edges = "Intervention -> Y"\nworld = {model = "xor"}')
    rows.write_text("Intervention,Y\n1,0\n")
    assert dobandit("run", file, "--evidence", rows, "--policy", "causal-thompson", "--trials", 1).code == 0


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


def test_check_shows_the_cost_of_each_value_where_they_differ(tmp_path: Path, dobandit: Run) -> None:
    file = tmp_path / "p.toml"
    file.write_text(
        'budget = 5\nreward = "Y"\ngraph.edges = "{X, Z} -> Y"\ncosts = {"do(X=0)" = 2, "do(X=1)" = 3, "do(Z)" = 4}'
    )
    shown = dobandit("check", file).out
    assert "0: 2" in shown
    assert "1: 3" in shown
    assert re.search(r"do\(Z\) +0, 1 +4 ", shown)


def test_an_arm_differs_from_itself_by_nothing_at_all(dobandit: Run, tmp_path: Path) -> None:
    """Also naively, although the rows of several arms are added up in another order than those of one."""
    rng = np.random.default_rng(0)
    rows = zip(*rng.integers(0, 2, (2, 500)), rng.normal(30, 9, 500), strict=True)
    log, file = tmp_path / "log.csv", tmp_path / "problem.toml"
    log.write_text("\n".join(["Z,X,Y", *(f"{z},{x},{y}" for z, x, y in rows)]), encoding="utf-8")
    file.write_text('budget = 5\n[reward]\nvariable = "Y"\n[graph]\nedges = "Z -> X -> Y; Z -> Y"', encoding="utf-8")
    shown = dobandit("effect", file, log, "--all", "--versus", "X=0").out
    row = next(line for line in shown.splitlines() if line.startswith("do(X=0)"))
    assert row.split()[-2:] == ["0", "adjustment"]
