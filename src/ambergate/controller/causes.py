"""Why a job cannot go on, in words and as exceptions."""

from __future__ import annotations

import pickle
import signal

from ambergate.messages import RaisedRow, WorkerLost


def exception_of(raised: RaisedRow) -> BaseException | None:
    """The original exception, or None where it did not travel."""
    if raised.pickled is None:
        return None
    try:
        return pickle.loads(raised.pickled)
    except Exception:  # its class cannot be made here; type, text and frames say the rest
        return None


def describe_death(lost: WorkerLost) -> str:
    """Signal or exit code, and last words, of a worker that ended by itself."""
    if lost.code < 0:
        try:
            how = f"was killed by {signal.Signals(-lost.code).name}"
        except ValueError:
            how = f"was killed by signal {-lost.code}"
    else:
        how = f"ended with exit code {lost.code}"
    words = f"; its last words:\n{lost.last_words}" if lost.last_words else ""
    return f"the process {how} while the job ran{words}"
