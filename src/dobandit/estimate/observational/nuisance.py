"""Models of the outcome and of the chance of an arm, chosen and fitted by cross-validation.

Every row is predicted by models that were fitted without its fold. The model with the smallest loss on these
predictions is taken: regularised regression with squares, the same with interactions, or gradient boosting. Folds
depend on the rows alone, so the same rows give the same answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from dobandit.arrays import Array, Flags, Indices
from dobandit.chance import generator
from dobandit.errors import needing
from dobandit.estimate.observational.cases import Cases
from dobandit.estimate.observational.scale import MANY_VALUES
from dobandit.problem import is_numeral

FOLDS = 5
MOST_NUMBERS = 2 * 10**7  # in a matrix of features: 160 MB
PENALTIES = np.logspace(-2, 4, 13)
BOOSTING = {"max_iter": 100, "learning_rate": 0.05, "max_leaf_nodes": 8, "early_stopping": False, "random_state": 0}


class Learner(NamedTuple):
    """A kind of model, and the features that it sees."""

    name: str
    features: Array
    make: Callable[[], Any]


class Fitted(NamedTuple):
    """The chosen model's name, and what it predicts for every row."""

    name: str
    predictions: Array


def folds_of(has: Flags) -> Indices:
    """A fold for every row; each has the same share of the rows that have the arm."""
    fold = np.empty(len(has), dtype=np.intp)
    for group in (has, ~has):
        order = generator(0, "folds").permutation(int(group.sum()))
        fold[group] = order % FOLDS
    return fold


def fit_outcome(cases: Cases, covariates: Sequence[str], has: Flags, fold: Indices) -> Fitted:
    """The expected outcome of every row under the arm, learnt from the rows that have it; squared error."""
    with _scikit_learn():
        from sklearn.ensemble import HistGradientBoostingRegressor as Boosting
        from sklearn.linear_model import RidgeCV

        learners = _learners(
            cases, covariates, "ridge regression", lambda: RidgeCV(PENALTIES), lambda: Boosting(**BOOSTING)
        )
        return _chosen(learners, cases.outcome, has, fold, lambda model, x: model.predict(x), lambda y, m: (y - m) ** 2)


def fit_propensity(cases: Cases, covariates: Sequence[str], has: Flags, fold: Indices) -> Fitted:
    """Every row's chance of having the arm; logarithmic loss."""
    with _scikit_learn():
        from sklearn.ensemble import HistGradientBoostingClassifier as Boosting
        from sklearn.linear_model import LogisticRegressionCV
        from sklearn.model_selection import StratifiedKFold

        def logistic() -> Any:
            inner = StratifiedKFold(3, shuffle=True, random_state=0)
            strengths = [0.001, 0.01, 0.1, 1.0]
            return LogisticRegressionCV(Cs=strengths, cv=inner, scoring="neg_log_loss", solver="newton-cholesky")

        learners = _learners(cases, covariates, "logistic regression", logistic, lambda: Boosting(**BOOSTING))
        everyone = np.ones(len(has), dtype=bool)
        return _chosen(learners, has, everyone, fold, lambda model, x: model.predict_proba(x)[:, 1], _log_loss)


def _chosen(
    learners: Sequence[Learner],
    target: Array | Flags,
    learnt_from: Flags,
    fold: Indices,
    predict: Callable[[Any, Array], Array],
    loss: Callable[[Array | Flags, Array], Array],
) -> Fitted:
    """The learner that predicts best the rows that could be learnt from, each by a model fitted without its fold."""
    best, smallest = Fitted("", np.empty(0)), np.inf
    for learner in learners:
        predictions: Array = np.empty(len(fold))
        for k in range(FOLDS):
            train, test = learnt_from & (fold != k), fold == k
            model = learner.make().fit(learner.features[train], target[train])
            predictions[test] = predict(model, learner.features[test])
        found = float(loss(target, predictions)[learnt_from].mean())
        if found < smallest:
            best, smallest = Fitted(learner.name, predictions), found
    return best


def _learners(
    cases: Cases, covariates: Sequence[str], regression: str, regress: Callable[[], Any], boost: Callable[[], Any]
) -> list[Learner]:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def scaled() -> Any:
        return make_pipeline(StandardScaler(), regress())

    numbers, categories = _features(cases, covariates)
    main = np.column_stack([numbers, categories])
    squares = np.column_stack([main, numbers**2])
    found = [Learner(f"{regression} with squares", squares, scaled)]
    if main.shape[1] ** 2 / 2 * len(main) <= MOST_NUMBERS:
        pairs = [main[:, [i]] * main[:, i + 1 :] for i in range(main.shape[1] - 1)]
        found.append(Learner(f"{regression} with squares and interactions", np.column_stack([squares, *pairs]), scaled))
    return [*found, Learner("gradient boosting", main, boost)]


def _features(cases: Cases, covariates: Sequence[str]) -> tuple[Array, Array]:
    """Numbers on a common scale, and a column of zeros and ones for every value but the first of the others."""
    numbers, categories = [], []
    for v in covariates:
        column = cases.column(v)
        domain = cases.scale.domains[v]
        if not domain or (len(domain) > MANY_VALUES and all(map(is_numeral, domain))):
            values = np.array(domain, dtype=float)[column] if domain else column
            numbers.append((values - values.mean()) / (values.std() or 1.0))
        else:
            categories += [(column == code).astype(float) for code in np.unique(column)[1:]]
    empty = np.empty((len(cases.weights), 0))
    return np.column_stack([empty, *numbers]), np.column_stack([empty, *categories])


def _log_loss(has: Array | Flags, chance: Array) -> Array:
    return np.asarray(-np.log(np.clip(np.where(has, chance, 1 - chance), 1e-15, None)))


@contextmanager
def _scikit_learn() -> Iterator[None]:
    """One thread, so that a busy machine does not slow it down; what it says about convergence is not for users."""
    with needing("scikit-learn", "ml"):
        import sklearn.ensemble  # noqa: F401  (its threads can be limited once it is loaded)
        from threadpoolctl import threadpool_limits
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
