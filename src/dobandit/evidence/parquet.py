"""Parquet files, read by DuckDB."""

from __future__ import annotations

from dobandit.errors import DataError, needing
from dobandit.evidence.contents import Contents
from dobandit.evidence.duck import FileFrame, connect, literal_path
from dobandit.evidence.renamed import safe, safely_named, with_own_names
from dobandit.evidence.source import Source


class ParquetFrame(FileFrame):
    """A Parquet file as a frame."""

    def __init__(self, contents: Contents, weights: str | None) -> None:
        self._contents = contents  # perhaps a temporary file, which goes away with it
        relation = connect(contents.path).sql(f"SELECT * FROM read_parquet({literal_path(contents.path)})")
        super().__init__(safely_named(relation), weights and safe(weights), contents.name)


def parquet(contents: Contents, weights: str | None) -> Source:
    with needing("duckdb", "data"):
        import duckdb
    try:
        return with_own_names(ParquetFrame(contents, weights))
    except duckdb.Error as error:
        raise DataError(f"{contents.name}: not a Parquet file: {str(error).splitlines()[0]}") from None
