"""Frames whose rows live elsewhere: on Dask, and on Spark where `make cluster` asks for it (DOBANDIT_CLUSTER=1).

Inside `make test`, Dask works in this process; in `make cluster` on two processes of their own, and Spark on two
threads of its Java machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd

ON_A_CLUSTER = "DOBANDIT_CLUSTER" in os.environ


def on_dask(rows: Mapping[str, Sequence[Any]], _: object = None) -> Any:
    """A frame in two parts."""
    import dask.dataframe as dd

    if ON_A_CLUSTER:
        _dask_cluster()
    return dd.from_pandas(pd.DataFrame(rows), npartitions=2)  # type: ignore[no-untyped-call]


@cache
def _dask_cluster() -> Any:
    """Two processes that every Dask frame is computed on from now on; they end with this process."""
    from dask.distributed import Client

    return Client(n_workers=2, threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]


def on_spark(rows: Mapping[str, Sequence[Any]], _: object = None) -> Any:
    """A frame with columns of the types that its values have."""
    kinds = ", ".join(f"`{name.replace('`', '``')}` {_kind(column)}" for name, column in rows.items())
    typed = [column if _kind(column) != "double" else list(map(_double, column)) for column in rows.values()]
    return _spark().createDataFrame(list(zip(*typed, strict=True)), kinds)


def _double(value: float | None) -> float | None:
    return None if value is None else float(value)


def _kind(column: Sequence[Any]) -> str:
    types = {type(value) for value in column if value is not None}
    return next((kind for known, kind in _KINDS if types <= known), "string")


_KINDS: tuple[tuple[set[type], str], ...] = (({bool}, "boolean"), ({int}, "bigint"), ({int, float}, "double"))


@cache
def _spark() -> Any:
    """A session on this machine, with as few parts as the rows need."""
    from pyspark.sql import SparkSession  # type: ignore[import-not-found,unused-ignore]

    made = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name, value in {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        made = made.config(name, value)
    session = made.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


Made = Callable[[Mapping[str, Sequence[Any]], Any], Any]
ON_CLUSTERS: dict[str, Made] = {"dask": on_dask, "spark": on_spark} if ON_A_CLUSTER else {}
ELSEWHERE: dict[str, Made] = {"dask": on_dask, **ON_CLUSTERS}
