"""Studies behind a server (`dobandit serve`), reached over HTTP with nothing but the standard library."""

from dobandit.study.remote.study import RemoteStudy
