import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ambergate.channels.gate import RAISED
from ambergate.operators.for_each import ForEach
from tests.operators.drive import Driver, cut, run

TABLE = pa.table({"k": list(range(450))})


@settings(max_examples=30)
@given(st.sampled_from([1, 7, 400]), st.lists(st.integers(0, 449), max_size=4), st.booleans())
def test_each_row_is_seen_once(rows, stops, swap):
    seen = []
    operator = ForEach(lambda row: seen.append(row.k))
    assert run(operator, TABLE, rows, stops, swap).num_rows == 0
    assert seen == TABLE["k"].to_pylist()


def test_results_are_ignored_and_errors_are_not():
    class Strange:
        def __bool__(self):
            raise RuntimeError

    assert run(ForEach(lambda k: Strange(), ("k",)), TABLE).num_rows == 0

    async def late(k):
        pass

    progress = Driver(ForEach(late, ("k",)), TABLE.schema).feed(cut(TABLE, 10)[0])
    assert (progress.status, progress.cursor) == (RAISED, 0)
    assert "async functions are not run" in str(progress.error)
