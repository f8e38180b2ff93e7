"""The paper's experiments: panels as data, and work in pieces that survive interruptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dobandit.arrays import Array
from dobandit.errors import DobanditError, SimulationError, StorageError
from dobandit.files import DRAFT
from dobandit.paper import PANELS, Reproduced, reproduce
from dobandit.paper.blocks import SOURCES, Blocks, Job, compute, cut
from dobandit.paper.published import points
from dobandit.paper.reproduction import chosen_panels, jobs_of, sizes
from dobandit.simulation import simulate
from dobandit.simulation.parallel import processes
from tests.conftest import Ran

PROGRAM = str(Path(sys.executable).with_name("dobandit"))
NAMES = (
    "fig2-budget fig2-cost fig3-budget fig3-cost fig4-budget fig4-cost fig8-budget fig8-cost fig9-budget "
    "fig10-budget fig10-cost fig13-budget fig13-cost"
).split()
SR = "successive-rejects"
SMALL = replace(PANELS["fig8-budget"], grid=(60.0, 100.0))


# -- data --------------------------------------------------------------------------------------


def test_panels_and_published_points_fit_together() -> None:
    assert list(PANELS) == NAMES
    total = 0
    for name, panel in PANELS.items():
        for policy in panel.experiment.policies:
            assert tuple(points(name, policy)) == panel.grid
            total += len(panel.grid)
        assert set(panel.experiment.variants) <= set(panel.experiment.policies)
        assert set(panel.experiment.notes) <= set(panel.experiment.policies)
        assert panel.claims
    assert total == 1302
    assert points("fig9-budget", "ucb") == {}


def test_a_policy_that_a_figure_leaves_out_runs_where_the_paper_speaks_of_it() -> None:
    absent = {
        name: set(p.policies) - {f for own in p.experiment.policies for f in p.forms(own)} for name, p in PANELS.items()
    }
    assert {name: found for name, found in absent.items() if found} == {"fig3-budget": {SR}}


@pytest.mark.parametrize(
    ("name", "arms", "costs"),
    [("fig2-budget", 13, {2, 3}), ("fig4-budget", 15, {5, 6, 7}), ("fig9-budget", 101, {4}), ("fig13-cost", 11, {1})],
)
def test_the_problem_of_a_panel(name: str, arms: int, costs: set[float]) -> None:
    problem = PANELS[name].problem()
    assert len(problem.arms) == arms
    drawn = {v for cost in problem.costs[1:] for v in getattr(cost, "values", (cost,))}
    assert (problem.costs[0], drawn) == (1, costs)


def test_an_unknown_panel_is_answered_with_the_nearest() -> None:
    with pytest.raises(DobanditError, match=r"no panel 'fig2-bugdet'.*fig2-budget"):
        reproduce(["fig2-bugdet"])
    with pytest.raises(DobanditError, match=r"did you mean fig13-cost\?$"):
        reproduce(["13-c"])
    with pytest.raises(SimulationError, match="srm is for simple regret"):
        reproduce(["fig2-cost"], policies=["ucb", "srm"])


def test_a_figure_means_all_of_its_panels_each_once() -> None:
    names = [panel.name for panel in chosen_panels(["fig10", "fig9", "FIG10-cost"])]
    assert names == ["fig10-budget", "fig10-cost", "fig9-budget"]
    with pytest.raises(DobanditError, match="no panel 'fig1'"):
        chosen_panels(["fig1"])


# -- pieces ------------------------------------------------------------------------------------


def test_a_piece_is_what_the_whole_would_have_given() -> None:
    """Trials 64 to 79 alone are those of a run of 80: worlds, costs and luck."""
    problem, world = SMALL.problem(), SMALL.experiment.world()
    whole = simulate(problem, world, ["thompson"], 80, seed=3, budgets=SMALL.grid).regret["thompson"]
    piece = compute(Job(SMALL, "thompson", seed=3, first=64, trials=16))
    np.testing.assert_array_equal(piece.arrays["regret"], whole[64:])
    with pytest.raises(SimulationError, match="multiple of 64"):
        simulate(problem, world, ["thompson"], 4, first=10)


def test_pieces_cover_all_trials_once() -> None:
    for trials in (1, 100, 256, 257, 1000):
        jobs = cut(SMALL, "ucb", 0, trials)
        assert [n for job in jobs for n in range(job.first, job.first + job.trials)] == list(range(trials))
        assert all(job.first % 64 == 0 for job in jobs)


def spoil_nothing(file: Path) -> None:
    """The file is as it was written."""


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[data.index(b"regret") + 100] ^= 1  # among the numbers
    file.write_bytes(bytes(data))


def another_work(file: Path) -> None:
    (other,) = cut(SMALL, "f-kube", 1, 8)
    Blocks(file.parent).keep(other, compute(other))
    os.replace(file.parent / other.file, file)


def a_pickle(file: Path) -> None:
    (job,) = cut(SMALL, "f-kube", 0, 8)
    np.savez(file, key=np.array(job.key), regret=np.array([{}], dtype=object), optimum=np.array(""), seconds=1.0)


def unfinished(file: Path) -> None:
    (job,) = cut(SMALL, "f-kube", 0, 8)
    keep_other_regret(file, job, np.full((8, 2), np.nan))


def too_few(file: Path) -> None:
    (job,) = cut(SMALL, "f-kube", 0, 8)
    keep_other_regret(file, job, np.zeros((7, 2)))


def keep_other_regret(file: Path, job: Job, regret: Array) -> None:
    block = compute(job)
    Blocks(file.parent).keep(job, block._replace(arrays={**block.arrays, "regret": regret}))


def an_array(file: Path) -> None:
    with file.open("wb") as out:
        np.save(out, np.zeros(3))


@pytest.mark.parametrize(
    ("spoil", "counts"),
    [
        (spoil_nothing, True),
        (truncate, False),
        (flip, False),
        (another_work, False),
        (a_pickle, False),
        (unfinished, False),
        (too_few, False),
        (an_array, False),
        (lambda file: file.write_bytes(b""), False),
        (lambda file: file.write_text("hello"), False),
    ],
)
def test_only_whole_pieces_of_this_work_count(tmp_path: Path, spoil: Callable[[Path], None], counts: bool) -> None:
    (job,) = cut(SMALL, "f-kube", 0, 8)
    blocks, made = Blocks(tmp_path), compute(job)
    blocks.keep(job, made)
    spoil(tmp_path / job.file)
    found = blocks.find(job)
    assert (found is not None) == counts
    if found is not None:
        for name, array in made.arrays.items():
            np.testing.assert_array_equal(found.arrays[name], array)
        assert (found.optimum, found.seconds) == (made.optimum, made.seconds)
    blocks.keep(job, made)
    assert blocks.find(job) is not None, "what was spoilt is replaced"
    assert not [f for f in tmp_path.iterdir() if f.name.startswith(".")], "nothing half-written is left"


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_waits_until_a_piece_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of an archive it would end in an error about the archive, and so in another exit code."""
    finished = []

    def interrupted(file: Path, **_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        finished.append(file)

    (job,) = cut(SMALL, "f-kube", 0, 8)
    block, blocks = compute(job), Blocks(tmp_path)
    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        blocks.keep(job, block)
    assert finished
    assert not list(tmp_path.iterdir())


def test_what_killed_runs_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    """But not what a run beside this one is writing now, and nothing of others."""
    (job,) = cut(SMALL, "f-kube", 0, 8)
    Blocks(tmp_path).keep(job, compute(job))
    old, new, foreign = (tmp_path / name for name in (f"{DRAFT}old", f"{DRAFT}new", ".others"))
    for folder in (old, new, foreign):
        folder.mkdir()
        (folder / job.file).write_bytes(b"half")
    for place in (old, foreign, tmp_path / job.file):
        os.utime(place, (1e9, 1e9))
    Blocks(tmp_path)
    assert set(tmp_path.iterdir()) == {new, foreign, tmp_path / job.file}


def test_the_key_covers_the_program_that_sets_up_and_does_the_work() -> None:
    """All modules that a piece needs, but for types, errors, files, limits, figures, and what is said about panels."""
    code = (
        "import sys\n"
        "from dobandit.paper.panels import PANELS\n"
        "from dobandit.paper.blocks import Job, compute\n"
        "for name in ('fig2-cost', 'fig10-budget'):\n"
        "    for policy in PANELS[name].policies:\n"
        "        compute(Job(PANELS[name], policy, 0, 0, 1))\n"
        "print('\\n'.join(m for m in sys.modules if m.startswith('dobandit.')))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    said = {
        f"paper.{name}" for name in "bound_curves bounds claims comparison panels published rarity reproduction".split()
    }
    outside = {"arrays", "errors", "files", "later", "markup", "memory", "numerals", "plots", "printable", "version"}
    covered = {name.removesuffix(".py").replace("/", ".") for name in SOURCES}
    for module in ran.stdout.split():
        name = module.removeprefix("dobandit.")
        room = name.partition(".")[0]
        assert {name, room} & covered or name in said or name == "paper" or room in outside, module


def test_the_key_holds_all_that_matters() -> None:
    job = Job(SMALL, "f-kube", 0, 0, 8)
    others = [
        job._replace(policy="ucb"),
        job._replace(seed=1),
        job._replace(first=64),
        job._replace(trials=9),
        job._replace(panel=replace(SMALL, grid=(60.0, 101.0))),
        job._replace(panel=replace(SMALL, costs=(2, 4))),
        job._replace(panel=replace(SMALL, experiment=PANELS["fig2-budget"].experiment)),
        job._replace(panel=PANELS["fig8-cost"]),
    ]
    assert len({j.key for j in [job, *others]}) == len({j.file for j in [job, *others]}) == len(others) + 1
    assert job.key == Job(replace(SMALL, claims=()), "f-kube", 0, 0, 8).key, "what is said about a panel is no setting"


def regrets(found: list[Reproduced]) -> list[tuple[str, str, bytes]]:
    return [(r.panel.name, policy, regret.tobytes()) for r in found for policy, regret in r.regret.items()]


def test_the_same_bits_however_the_work_is_done(tmp_path: Path) -> None:
    panels = [SMALL, replace(PANELS["fig2-cost"], grid=(2.0, 20.0), budget=60.0)]
    here = reproduce(panels, trials=300, policies=["ucb", "f-kube"], workers=1)
    assert regrets(reproduce(panels, trials=300, policies=["ucb", "f-kube"], workers=2, out=tmp_path)) == regrets(here)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 20  # two panels, two policies, five pieces
    for file in kept[::2]:
        file.unlink()
    truncate(kept[1])
    written = {file: file.stat().st_mtime_ns for file in kept[3::2]}
    with ThreadPoolExecutor(2) as executor:
        again = reproduce(panels, trials=300, policies=["ucb", "f-kube"], executor=executor, out=tmp_path)
    assert regrets(again) == regrets(here)
    assert {file: file.stat().st_mtime_ns for file in written} == written, "what was there is not done again"


class Unplugged:
    """An executor that breaks after some jobs."""

    def __init__(self, jobs: int) -> None:
        self.left = jobs
        self.pool = ThreadPoolExecutor(1)

    def submit(self, function: Callable[..., object], /, *args: object) -> object:
        self.left -= 1
        return self.pool.submit(function if self.left >= 0 else broken, *args)


def broken(*_: object) -> None:
    raise ConnectionError("the cluster is gone")


def test_what_was_finished_before_a_failure_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError):
        reproduce([SMALL], trials=8, executor=Unplugged(2), out=tmp_path)  # type: ignore[arg-type]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_process_that_dies_is_a_sentence() -> None:
    with pytest.raises(SimulationError, match="try fewer workers"), processes(1) as pool:
        pool.submit(os._exit, 1).result()


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        reproduce([SMALL], trials=1, out=tmp_path / "file" / "folder")


# -- the command -------------------------------------------------------------------------------


def test_reproduce_for_scripts(dobandit: Callable[..., Ran], tmp_path: Path) -> None:
    ran = dobandit(
        "reproduce", "fig8-cost", "--trials", 3, "--json", "--out", tmp_path, "--workers", 1, "--policy", "ucb"
    )
    (panel,) = json.loads(ran.out)["panels"]
    assert set(panel) == {"panel", "x_label", "trials", "seconds", "optimum", "curves"}
    assert (panel["panel"], panel["trials"], panel["optimum"]) == ("fig8-cost", 3, "knapsack")
    (curve,) = panel["curves"]
    assert set(curve) == {"policy", "x", "regret", "se", "published"}
    assert curve["x"] == list(range(2, 21))
    assert curve["published"] == [None] * 19, "the paper has no curve of UCB"
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"blocks", "fig8-cost.png", "fig8-cost.svg", "report.html", "results.csv"}
    lines = (tmp_path / "results.csv").read_text().splitlines()
    assert lines[0] == "panel,policy,x,trials,regret,se,published,published_se"
    assert len(lines) == 20
    assert lines[1].split(",")[:5] == ["fig8-cost", "ucb", "2", "3", repr(curve["regret"][0])]


def test_published_points_stand_beside_ours(dobandit: Callable[..., Ran], tmp_path: Path) -> None:
    variant = "f-kube[as_published=true]"
    arguments = ["reproduce", "fig8-cost", "--trials", 1, "--out", tmp_path, "--workers", 1, "--policy", variant]
    (panel,) = json.loads(dobandit(*arguments, "--json").out)["panels"]
    (curve,) = panel["curves"]
    assert curve["policy"] == variant
    assert curve["published"][0] == 233.757
    assert curve["se"] == [None] * 19, "one trial has no standard error"
    (tmp_path / "docs").mkdir()
    shown = dobandit(*arguments, "--page", tmp_path / "docs" / "page.md")
    assert variant in shown.out
    assert "%" not in shown.out, "without a standard error nothing agrees or disagrees"
    assert "over 1 trial\n" in shown.out.replace("\n\n", "\n")
    assert "report.html" in shown.err
    text = (tmp_path / "docs" / "page.md").read_text()
    assert "fig8-cost" in text
    assert (tmp_path / "docs" / "images" / "fig8-cost.svg").exists()
    assert str(tmp_path) not in text
    (row,) = [line for line in text.splitlines() if line.startswith(f"| `fig8-cost` | `{variant}`")]
    assert row.endswith(" |  |")
    assert "tie" not in text.partition("## fig8-cost")[2]
    assert "- `f-kube`" not in text


def test_panels_are_listed(dobandit: Callable[..., Ran]) -> None:
    assert [line.split()[0] for line in dobandit("reproduce", "--list").out.splitlines()[1:]] == NAMES
    assert [p["panel"] for p in json.loads(dobandit("reproduce", "--list", "--json").out)["panels"]] == NAMES


def test_what_reproduce_refuses(dobandit: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "images").write_text("no folder")
    out = ["--out", tmp_path / "out"]
    for code, arguments, message in (
        (2, ["fig22-cost"], "fig2-cost"),
        (2, ["fig8-cost", *out, "--page", tmp_path / "missing" / "page.md"], "its folder does not exist"),
        (5, ["fig8-cost", *out, "--page", tmp_path], "cannot be written"),
        (5, ["fig8-cost", *out, "--page", pictures / "page.md"], "images: cannot be written"),
        (2, ["fig2-cost", "--policy", "nothing"], "nothing"),
        (2, ["fig2-cost", "--policy", "srm"], "srm is for simple regret"),
        (2, ["--trials", "0"], "--trials"),
        (5, ["fig8-cost", "--trials", "1", "--out", tmp_path / "file"], "cannot be written"),
    ):
        ran = dobandit("reproduce", *arguments)
        assert (ran.code, ran.out) == (code, "")
        assert message in ran.err
        assert "Traceback" not in ran.err
    assert sorted(pictures.iterdir()) == [pictures / "images"]
    assert not (tmp_path / "out").exists(), "refused before anything was done"


def test_a_smaller_run_does_not_mix_with_an_earlier_one(dobandit: Callable[..., Ran], tmp_path: Path) -> None:
    for name in ("fig2-cost.png", "fig2-cost.svg", "mine.png"):
        (tmp_path / name).write_text("old")
    ran = dobandit("reproduce", "fig8-cost", "--trials", 2, "--out", tmp_path, "--workers", 1, "--policy", "ucb")
    assert "figures of an earlier run were removed: fig2-cost\n" in ran.err
    files = {file.name for file in tmp_path.iterdir()}
    assert files == {"blocks", "fig8-cost.png", "fig8-cost.svg", "mine.png", "report.html", "results.csv"}


def test_panels_that_the_policies_are_not_for_are_left_out(dobandit: Callable[..., Ran], tmp_path: Path) -> None:
    arguments = ["--trials", 2, "--out", tmp_path, "--workers", 1, "--policy", "ucb", "--json"]
    ran = dobandit("reproduce", "fig8-cost", "fig10-cost", *arguments)
    assert [panel["panel"] for panel in json.loads(ran.out)["panels"]] == ["fig8-cost"]
    assert "left out, because the policies are for another kind of regret: fig10-cost\n" in ran.err


def test_progress_goes_with_the_work() -> None:
    told: list[tuple[str, float]] = []
    panels = [SMALL, replace(PANELS["fig10-budget"], grid=(100.0,))]
    reproduce(panels, trials=65, workers=1, progress=lambda name, share: told.append((name, share)))
    assert dict(told) == {panel.name: pytest.approx(1) for panel in panels}
    first = next(share for name, share in told if name == SMALL.name)
    assert first == pytest.approx(64 / 65 / 3), "a piece of 64 trials of one of three policies"
    weights = sizes(jobs_of(panels, 65, None, 0))
    assert weights[SMALL.name] > weights["fig10-budget"]


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """A real Ctrl-C: the whole group of processes gets the signal, as from a terminal."""
    panels = ["fig2-cost", "fig8-cost"]
    policies = ["--policy", "ucb", "--policy", "f-kube"]
    arguments = [PROGRAM, "reproduce", *panels, *policies, "--trials", "256", "--quiet", "--workers", "2", "--out"]
    pieces = 2 * 2 * 256 // 64  # panels, policies, blocks: seconds of work after the first of them
    blocks = tmp_path / "stopped" / "blocks"
    running = subprocess.Popen(
        [*arguments, tmp_path / "stopped"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while running.poll() is None and not list(blocks.glob("*.npz")):
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    kept = {file: file.stat().st_mtime_ns for file in blocks.glob("*.npz")}
    assert 0 < len(kept) < pieces
    how = f"{len(kept)} of {pieces} pieces kept in {tmp_path / 'stopped'}: the same command goes on from there"
    assert err.decode() == f"\ninterrupted; {how}\n"
    assert not (tmp_path / "stopped" / "results.csv").exists()
    for folder in ("stopped", "straight"):
        subprocess.run([*arguments, tmp_path / folder], check=True, capture_output=True)
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    results = [(tmp_path / folder / "results.csv").read_bytes() for folder in ("stopped", "straight")]
    assert results[0] == results[1]
