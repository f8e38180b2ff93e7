"""Problems: what they say, and that everything wrong with one is said at once with its place."""

from __future__ import annotations

import pickle
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dobandit as db
from dobandit.errors import ArmError, ProblemError
from dobandit.problem import Arm, Choose, Problem, Uniform, label
from tests import named_graphs as named

CHAIN = "X1 -> X2 -> Y; X1 -> Y"


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "problem.toml"
    file.write_text(text, encoding="utf-8")
    return file


def faults(**arguments: Any) -> dict[str, str]:
    """What is wrong with a problem, by place; one line for each fault."""
    with pytest.raises(ProblemError) as error:
        Problem(**{"graph": CHAIN, "reward": "Y", "budget": 10, **arguments})
    found: dict[str, list[str]] = {}
    for fault in error.value.faults:
        found.setdefault(".".join(fault.place), []).append(fault.message)
    return {place: "\n".join(messages) for place, messages in found.items()}


def test_arms_and_costs() -> None:
    problem = db.Problem(
        graph=db.Graph(CHAIN),
        reward="Y",
        budget=1000,
        objective="cumulative",
        costs={"do(X1=high)": 3.5, "do(X2)": 3},
        default_cost=2,
        domains={"X1": ["low", "mid", "high"]},
    )
    table = {str(arm): cost for arm, cost in zip(problem.arms, problem.costs, strict=True)}
    assert table == {
        "do()": 1,
        "do(X1=low)": 2,
        "do(X1=mid)": 2,
        "do(X1=high)": 3.5,
        "do(X2=0)": 3,
        "do(X2=1)": 3,
    }
    assert problem.domains == {"X1": ("low", "mid", "high"), "X2": ("0", "1"), "Y": ("0", "1")}
    assert problem.intervenable == ("X1", "X2")
    assert Problem(CHAIN, "Y", 10, costs={"do()": 0.5}).costs[0] == 0.5


@pytest.mark.parametrize("order", [["do(X1=1)", "do(X1)"], ["do(X1)", "do(X1=1)"]])
def test_the_cost_of_an_arm_goes_before_that_of_its_variable(order: list[str]) -> None:
    stated = {"do(X1)": 3, "do(X1=1)": 3.5}
    problem = Problem(CHAIN, "Y", 10, costs={key: stated[key] for key in order}, default_cost=2)
    assert problem.costs == (1, 3, 3.5, 2, 2)


def test_costs_may_spell_a_value_in_another_way() -> None:
    assert Problem(CHAIN, "Y", 10, costs={"do(X1=yes)": 3, "do(X2=false)": 4}, default_cost=2).costs == (1, 2, 3, 4, 2)


def test_horizon_means_unit_costs() -> None:
    problem = Problem.unit_costs(named.FIG6, reward="Y", horizon=500)
    assert problem.budget == 500
    assert set(problem.costs) == {1.0}
    assert "horizon every pull costs 1" in faults(budget=None, horizon=5, costs={"do(X1)": 2})["costs"]


def test_unobserved_variables_are_projected_out() -> None:
    problem = Problem("U -> {X, Y}; X -> M -> Y", "Y", 10, observed=["X", "M", "Y"])
    assert problem.graph == db.Graph("X -> M -> Y; X <-> Y")
    assert problem.hidden == ("U",)
    assert [str(arm) for arm in problem.arms] == ["do()", "do(X=0)", "do(X=1)", "do(M=0)", "do(M=1)"]
    wrong = faults(observed=["X1", "X2"])
    assert wrong == {"observed": "the reward Y must be observed"}
    wrong = faults(observed=["X1", "Y"], intervenable=["X2"])
    assert wrong == {"intervenable": "X2 is not observed, so it cannot be set"}


def test_rewards_in_the_users_units() -> None:
    values = Problem(CHAIN, {"variable": "Y", "values": {"no": 0, "maybe": 2, "yes": 10}}, 10)
    assert (values.domains["Y"], values.reward_values) == (("no", "maybe", "yes"), (0, 2, 10))
    assert not values.reward_is_continuous
    between = Problem(CHAIN, {"variable": "Y", "range": [-5, 5.5]}, 10)
    assert (between.domains["Y"], between.reward_values) == (("-5", "5.5"), (-5, 5.5))
    assert between.reward_is_continuous
    assert Problem(CHAIN, "Y", 10, domains={"Y": [0, 2.5, 1]}).reward_values == (0, 2.5, 1)
    for word in ("no", "0"):
        message = faults(domains={"Y": [word, "yes"]})["domains.Y"]
        assert message == f"nothing says what {word} and yes are worth: give reward values"
    message = faults(domains={"Y": ["a", "b"]}, reward={"variable": "Y", "range": [0, 1]})["domains.Y"]
    assert message == "the values a and b are not those of the reward, 0 and 1"


def test_utility_runs_from_the_worst_reward_to_the_best() -> None:
    """Of single rows, and of sums over several rows."""
    arguments: dict[str, Any] = {"reward": {"variable": "Y", "values": {"a": -2, "b": 8, "c": 3}}, "budget": 10}
    rows, earned = np.array([1.0, 1.0, 1.0, 4.0, 0.0]), np.array([-2.0, 8.0, 3.0, 12.0, 0.0])
    most, least = Problem(CHAIN, **arguments), Problem(CHAIN, **arguments, goal="min")
    assert most.utility(earned, rows).tolist() == [0, 1, 0.5, 2, 0]
    assert least.utility(earned, rows).tolist() == [1, 0, 0.5, 2, 0]
    assert most.utility(earned[:3]).tolist() == [0, 1, 0.5]


def test_hidden_causes_are_added_and_nothing_else_changes() -> None:
    problem = Problem(f"U -> {{X1, X2}}; {CHAIN}", "Y", 10, observed=["X1", "X2", "Y"], default_cost=3)
    more = problem.with_hidden_causes([("X2", "Y")])
    assert more == Problem(f"U -> {{X1, X2}}; {CHAIN}; X2 <-> Y", "Y", 10, observed=["X1", "X2", "Y"], default_cost=3)
    assert more.graph == db.Graph(f"{CHAIN}; X1 <-> X2; X2 <-> Y")
    assert problem.graph == db.Graph(f"{CHAIN}; X1 <-> X2")


def test_dagitty_roles_are_the_defaults() -> None:
    graph = db.Graph.from_dagitty("dag { X [exposure] Y [outcome] U [latent] Z U -> {X Y} X -> Z -> Y }")
    problem = Problem(graph, budget=10)
    assert (problem.reward, problem.intervenable) == ("Y", ("X",))
    assert "projected out" in problem.full_graph.origin.notes[0]


def test_drawn_costs() -> None:
    problem = Problem(CHAIN, "Y", 10, default_cost={"choose": [2, 3]}, costs={"do(X1)": {"uniform": [1, 1.3]}})
    assert problem.costs_are_drawn
    assert problem.costs[1:] == (Uniform(1, 1.3), Uniform(1, 1.3), Choose((2, 3)), Choose((2, 3)))
    assert [Choose((2, 3)).draw(u) for u in (0, 0.49, 0.5, 0.999)] == [2, 2, 3, 3]
    assert Uniform(1, 2).draw(0.25) == 1.25
    assert [str(cost) for cost in problem.costs[2:4]] == ["1 to 1.3", "one of 2, 3"]
    assert not Problem(CHAIN, "Y", 10, default_cost=2).costs_are_drawn


def test_all_faults_at_once() -> None:
    found = faults(
        reward="Q",
        budget=-1,
        objective="both",
        goal="up",
        costs={"do(X9)": 1, "do(X1=7)": 2, "X1": 2, "do(X1=1, X2=0)": 3, "do(X2)": 0},
        default_cost="free",
        domains={"X1": [1], "X2": ["a", "a"], "Z": [0, 1]},
        intervenable=["X1", "X2", "X3", "X1"],
    )
    assert set(found) == {
        *("reward", "budget", "objective", "goal", "default_cost", "intervenable"),
        *("costs.do(X9)", "costs.do(X1=7)", "costs.X1", "costs.do(X1=1, X2=0)", "costs.do(X2)"),
        *("domains.X1", "domains.X2", "domains.Z"),
    }
    assert found["intervenable"] == "there is no variable X3; known are X1, X2 and Y\nX1 is named twice"
    assert found["domains.Z"] == "there is no variable Z in the graph; known are X1, X2 and Y"
    assert found["costs.do(X1=1, X2=0)"].startswith("no arm sets X1 and X2 together")


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"budget": None}, "budget"),
        ({"budget": True}, "budget"),
        ({"budget": float("nan")}, "budget"),
        ({"budget": float("inf")}, "budget"),
        ({"budget": "10"}, "budget"),
        ({"horizon": 5}, "horizon"),
        ({"budget": None, "horizon": 2.5}, "horizon"),
        ({"reward": None}, "reward"),
        ({"reward": {"variable": "Y", "values": {"a": 1, "b": 1}}}, "reward.values"),
        ({"reward": {"variable": "Y", "values": {"a": 1, "b": "x"}}}, "reward.values.b"),
        ({"reward": {"variable": "Y", "values": {1: 1, "1.0": 2}}}, "reward.values.1.0"),
        ({"reward": {"variable": "Y", "range": [3, 1]}}, "reward.range"),
        ({"reward": {"variable": "Y", "worth": 3}}, "reward.worth"),
        ({"reward": {"variable": "Y", "range": [0, 1], "values": {"a": 1, "b": 2}}}, "reward.range"),
        ({"intervenable": ["Y"]}, "intervenable"),
        ({"intervenable": "X1"}, "intervenable"),
        ({"observed": 3}, "observed"),
        ({"domains": {"X1": "abc"}}, "domains.X1"),
        ({"domains": {"X1": [1, 1.0]}}, "domains.X1"),
        ({"domains": {"X1": ["", "a"]}}, "domains.X1"),
        ({"domains": [1]}, "domains"),
        ({"costs": [1]}, "costs"),
        ({"costs": {"do(X1": 1}}, "costs.do(X1"),
        ({"costs": {"do(X1=)": 1}}, "costs.do(X1=)"),
        ({"costs": {"do(Y)": 1}}, "costs.do(Y)"),
        ({"costs": {"do(X1)": {"choose": []}}}, "costs.do(X1)"),
        ({"costs": {"do(X1)": {"uniform": [2, 1]}}}, "costs.do(X1)"),
        ({"costs": {"do(X1=1)": 1, "do(X1=1.0)": 2}}, "costs.do(X1=1.0)"),
        ({"graph": "X1 -> "}, "graph"),
        ({"graph": 3}, "graph"),
        ({"world": 3}, "world"),
    ],
)
def test_each_fault_has_its_place(arguments: dict[str, Any], place: str) -> None:
    assert place in faults(**arguments)


def test_values_compare_by_their_text() -> None:
    assert [label(v) for v in (1, 1.0, "1.0", " 1 ", True, "01", "1.50", -0.0, "1e3")] == [
        *("1", "1", "1", "1", "1", "01", "1.5", "0", "1e3"),
    ]
    assert Arm.parse("do(X1=1.0)") == Arm.of({"X1": 1})
    assert Arm.parse(" do( X = a, b (c) ) ").settings == (("X", "a, b (c)"),)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("do(Customer segment=young)", {"Customer segment": "young"}),
        ("do(Ad=1, Customer segment=very young)", {"Ad": "1", "Customer segment": "very young"}),
        ("do(Preis € = 5; Ad=0)", {"Preis €": "5", "Ad": "0"}),
    ],
)
def test_names_may_lack_quotes_where_it_is_clear_what_is_meant(text: str, settings: dict[str, str]) -> None:
    assert Arm.parse(text) == Arm.of(settings)
    with pytest.raises(ArmError, match='"Another name"=value'):
        Arm.parse('do(Customer segment="a" b)')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "do",
        "do(",
        "X=1",
        "do(X)",
        "do(X=)",
        "do(=1)",
        "do(X=1,X=2)",
        "do(X,Y)",
        "do(X=1,Y)",
        "do(1=1)",
        "do(X=1,)",
        'do(X="1)',
    ],
)
def test_what_is_not_an_arm(text: str) -> None:
    with pytest.raises(ArmError, match=r"do\("):
        Arm.parse(text)


def test_a_problem_is_a_value() -> None:
    a, b = (Problem(CHAIN, "Y", 10, default_cost=c) for c in (2, 2.0))
    assert a == b
    assert hash(a) == hash(b)
    assert a != Problem(CHAIN, "Y", 11, default_cost=2)
    assert pickle.loads(pickle.dumps(a)) == a
    with pytest.raises(FrozenInstanceError):
        a.budget = 20  # type: ignore[misc]


FILE = """
objective = "cumulative"          # or "simple"
goal = "max"
budget = 2500
reward = "Y"
intervenable = ["X1", "X6"]
observed = ["X1", "X3", "X6", "Y"]

[graph]
edges = \"\"\"
X1 -> X3; X2 -> {X3, X4}; X3 -> {X4, X5, X6}; X4 -> X5 -> X6 -> Y
X1 <-> X2; X4 <-> X6
\"\"\"

[domains]
X3 = ["low", "mid", "high"]

[costs]
default = 2
"do(X6)" = 3
"do(X1=1)" = 2.5

[world]
model = "xor"
seed = 0
"""


def test_the_file_of_the_manual(tmp_path: Path) -> None:
    problem = Problem.load(write(tmp_path, FILE))
    assert [f"{arm} {cost:g}" for arm, cost in zip(problem.arms, problem.costs, strict=True)] == [
        *("do() 1", "do(X1=0) 2", "do(X1=1) 2.5", "do(X6=0) 3", "do(X6=1) 3"),
    ]
    assert problem.graph.variables == ("X1", "X3", "X6", "Y")
    assert problem.domains["X3"] == ("low", "mid", "high")
    assert problem.world == {"model": "xor", "seed": 0}
    assert problem.folder == tmp_path


def test_the_graph_of_a_file_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "graph.dot").write_text('digraph { X -> Y; X -> Y [dir="both"] }', encoding="utf-8")
    problem = Problem.load(write(tmp_path, 'budget = 5\nreward = "Y"\ngraph.file = "graph.dot"'))
    assert problem.graph == named.BOW
    (tmp_path / "graph.dot").write_text("digraph { X -- Y }", encoding="utf-8")
    with pytest.raises(ProblemError, match=r"line 3: graph\.file: graph\.dot: line 1, column 13: '--'"):
        Problem.load(tmp_path / "problem.toml")
    (tmp_path / "graph.dot").unlink()
    with pytest.raises(ProblemError, match=r"line 3: graph\.file: .*graph\.dot: cannot be read: no such file"):
        Problem.load(tmp_path / "problem.toml")


def test_faults_of_a_file_come_with_their_lines(tmp_path: Path) -> None:
    broken = (
        FILE.replace("budget = 2500", "budget = -1")
        .replace("-> X6 -> Y", "-> X6 -> Y -> ")
        .replace("goal", "gaol")
        .replace('"cumulative"', '"best"')
    )
    with pytest.raises(ProblemError) as error:
        Problem.load(write(tmp_path, broken))
    place = tmp_path / "problem.toml"
    assert str(error.value).splitlines() == [
        f"{place}, line 2: objective: expected 'cumulative' or 'simple', not 'best'",
        f"{place}, line 3: gaol: unknown key; did you mean goal?",
        f"{place}, line 4: budget: expected a positive number, not -1",
        f"{place}, line 11, column 70: graph.edges: expected a variable after '->'",
    ]
    with pytest.raises(ProblemError, match=r'line 20: costs\."do\(X7\)": there is no variable X7'):
        Problem.load(write(tmp_path, FILE.replace("do(X6)", "do(X7)")))
    with pytest.raises(ProblemError, match=r"line 19: costs\.default: a cost is a positive number"):
        Problem.load(write(tmp_path, FILE.replace("default = 2", 'default = "2"')))


def test_faults_stand_in_the_order_of_their_lines(tmp_path: Path) -> None:
    with pytest.raises(ProblemError) as error:
        Problem.load(write(tmp_path, "goal = 1\ngraph.edges = 'X -> '\nbudget = -1\nhorizont = 2"))
    places = [line.partition("problem.toml, ")[2].partition(": ")[0] for line in str(error.value).splitlines()]
    assert places == ["line 1", "line 2, column 21", "line 3", "line 4"]


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_what_looks_like_a_key_inside_a_long_text_is_none(tmp_path: Path, quotes: str) -> None:
    notes = f'[world]\nnotes = {quotes}of one line{quotes}\nmore = {quotes}\n[costs]\n"do(X1)" = 3\n{quotes}\n'
    text = f'budget = 1\nreward = "Y"\ngraph.edges = "{CHAIN}"\n{notes}[costs]  # of a pull\n"do(X1)" = 0'
    with pytest.raises(ProblemError, match=r'problem\.toml, line 11: costs\."do\(X1\)": a cost is a positive number'):
        Problem.load(write(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget = ", "problem.toml, line 1, column 10: invalid value"),
        ("budget = 1\nbudget = 2", "line 2, column 11: cannot overwrite a value"),
        ("x = " + "[" * 5000, "nested too deeply|line 1"),
        ("", "graph: give edges"),
        ("[graph]", "line 1: graph: give edges"),
        ("graph = 3", "graph: expected a table"),
        ("[graph]\nedges = 3", "line 2: graph.edges: expected a text"),
        ("[graph]\nedges = 'X -> Y'\nfile = 'a'", "one of them"),
        ("[graph]\nedge = 'X -> Y'", "line 2: graph.edge: unknown key; did you mean edges?"),
        ("[graph]\nedges = '''X -> Y\nY -> X'''", "line 3, column 3: graph.edges: the directed edges form a cycle"),
        ("graph.edges = 'X -> X'", "line 1, column 21: graph.edges: X -> X is a self loop"),
        ('graph.edges = """X -> X\n"""', "line 1, column 23: graph.edges: X -> X is a self loop"),
        ("graph.edges = '''X\nX -> X'''", "line 2, column 6: graph.edges: X -> X is a self loop"),
        ("graph.edges = '''\nX -> X'''", "line 2, column 6: graph.edges: X -> X is a self loop"),
        ("graph.edges = '''  \nX -> X'''", "line 2, column 6: graph.edges: X -> X is a self loop"),
    ],
)
def test_files_that_are_no_problem(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Problem.load(write(tmp_path, text))


def test_every_shipped_example_is_sound(examples: dict[str, str], tmp_path: Path) -> None:
    assert {"start", "shop", "paper-fig1", "paper-n6", "paper-n6-hidden"} <= set(examples)
    for text in examples.values():
        tomllib.loads(text)
        Problem.load(write(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "graph", "reward"),
    [("paper-fig1", named.FIG1, "X1"), ("paper-n6", named.FIG6, "Y"), ("paper-n6-hidden", named.FIG7, "Y")],
)
def test_the_papers_examples_have_its_graphs(
    examples: dict[str, str], tmp_path: Path, name: str, graph: db.Graph, reward: str
) -> None:
    problem = Problem.load(write(tmp_path, examples[name]))
    assert (problem.graph.directed, problem.graph.bidirected) == (graph.directed, graph.bidirected)
    assert problem.reward == reward
    assert problem.intervenable == tuple(v for v in problem.graph.variables if v != reward)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("do(Price=low, Ad=1)", {"Price": "low", "Ad": "1"}),
        ("do( Ad = 1.0 ;Price=low )", {"Ad": "1", "Price": "low"}),
        ('do("Customer segment"=young, X="a, b=(c)")', {"Customer segment": "young", "X": "a, b=(c)"}),
        ("do(X=a, b (c), Größe=2)", {"X": "a, b (c)", "Größe": "2"}),
        (r'do(X="say \"no\"")', {"X": 'say "no"'}),
    ],
)
def test_an_arm_reads_what_it_writes_and_its_order_does_not_matter(text: str, settings: dict[str, str]) -> None:
    arm = Arm.parse(text)
    assert dict(arm.settings) == settings
    assert Arm.parse(str(arm)).settings == arm.settings
    backwards = Arm(arm.settings[::-1])
    assert (backwards == arm, hash(backwards) == hash(arm)) == (True, True)
    assert arm != Arm(arm.settings[1:])


# -- several variables at once -----------------------------------------------------------------


def offered(**rest: Any) -> list[str]:
    return [str(arm) for arm in Problem("A -> M -> Y; {A, B} -> Y", "Y", 10, **rest).arms]


def test_single_arms_come_first_then_sets_by_size() -> None:
    single = ["do()", *(f"do({v}={x})" for v in "AMB" for x in "01")]
    assert offered() == single
    pair = [f"do(A={a}, B={b})" for a in "01" for b in "01"]
    assert offered(together=[["B", "A"]]) == [*single, *pair]
    assert [arm.count("=") for arm in offered(most_at_once=3)] == [0] + 6 * [1] + 12 * [2] + 8 * [3]
    assert offered(arms=["do(B=1; A=0)", "do(M=1)"]) == ["do()", "do(M=1)", "do(A=0, B=1)"]


def test_most_at_once_leaves_out_what_a_smaller_set_does_as_well() -> None:
    """Behind M nothing of A is left; a set that is named is offered all the same."""
    chain = "A -> M -> Y"
    assert len(Problem(chain, "Y", 10, most_at_once=2).arms) == 5
    assert len(Problem(chain, "Y", 10, most_at_once=2, together=[["A", "M"]]).arms) == 9


def test_a_set_costs_what_is_stated_else_the_sum() -> None:
    costs = {"do(A)": 3, "do(A, B)": 4, "do(M=1, B=0)": 1.5, "do(M=1)": 2.5}
    problem = Problem("A -> M -> Y; {A, B} -> Y", "Y", 10, costs=costs, default_cost=2, most_at_once=2)
    cost = {str(arm): cost for arm, cost in zip(problem.arms, problem.costs, strict=True)}
    assert (cost["do(A=1, B=1)"], cost["do(M=1, B=0)"], cost["do(M=0, B=0)"]) == (4, 1.5, 4)
    assert (cost["do(M=1, B=1)"], cost["do(A=0, M=1)"]) == (4.5, 5.5)
    assert set(Problem.unit_costs("{A, B} -> Y", "Y", horizon=5, most_at_once=2).costs) == {1.0}


@pytest.mark.parametrize(
    ("arguments", "place", "words"),
    [
        (
            {"most_at_once": 3},
            "most_at_once",
            "= 3 makes 3,305 arms; at most 1,000 are possible: name sets in together",
        ),
        ({"most_at_once": 0}, "most_at_once", "expected a whole number"),
        ({"together": [["A"]]}, "together", "at least two"),
        ({"together": [["A", "Q"]]}, "together", "there is no variable Q"),
        ({"together": [["A", "B"]], "intervenable": ["A"]}, "together", "B cannot be set"),
        ({"together": "AB"}, "together", "expected a list of sets"),
        ({"arms": ["do(A=2)"]}, "arms", "A has no value 2"),
        ({"arms": ["do(A=1, B=0)", "do(B=0, A=1)"]}, "arms", "is listed twice"),
        ({"arms": ["do(Y=1)"]}, "arms", "the reward Y cannot be set"),
        ({"arms": ["do(A=1)"], "most_at_once": 2}, "most_at_once", "remove this line, or arms"),
        ({"together": [["A", "B"]], "costs": {"do(A, C)": 1}}, "costs.do(A, C)", "no arm sets A and C together"),
    ],
)
def test_faults_of_sets(arguments: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(ProblemError) as error:
        Problem("{A, B, C, D, E, F, G, H, I, J, K, L, M, N} -> Y", "Y", 10, **arguments)
    (fault,) = error.value.faults
    assert ".".join(fault.place) == place
    assert words in fault.message


def test_sets_in_a_file(tmp_path: Path) -> None:
    text = """
budget = 10
reward = "Y"
together = [["A", "B"]]
[graph]
edges = "{A, B, C} -> Y"
[costs]
"do(A, B)" = 7
"""
    problem = Problem.load(write(tmp_path, text))
    assert (len(problem.arms), problem.costs[-1]) == (11, 7)
    with pytest.raises(ProblemError, match="line 4: together"):
        Problem.load(write(tmp_path, text.replace('["A", "B"]', '["A", "Q"]')))
