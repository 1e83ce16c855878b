"""Rows to group ids."""

import numpy as np
import pytest

from ambergate.channels.gate import DONE
from ambergate.kernels.grouping import Grouper


@pytest.mark.parametrize("table", ["batch", "zipf"])
def test_assign_integers(per_row, request, gate, table):
    keys = request.getfixturevalue(table).column("key")
    grouper, ids = Grouper([keys.type]), np.empty(len(keys), dtype=np.int64)
    status, cursor = per_row(len(keys), grouper.assign, [keys], 0, len(keys), gate, ids)
    assert (status, cursor) == (DONE, len(keys))
    assert grouper.count == len(keys.unique())


def test_assign_words(per_row, words, gate):
    grouper, ids = Grouper([words.type]), np.empty(len(words), dtype=np.int64)
    status, cursor = per_row(len(words), grouper.assign, [words], 0, len(words), gate, ids)
    assert (status, cursor) == (DONE, len(words))
    assert grouper.count == len(words.unique())
