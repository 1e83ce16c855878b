import mmap
import threading

import pytest

from ambergate.channels.gate import GATE_BYTES, NO_LIMIT, Gate


def fresh() -> Gate:
    gate = Gate()
    gate.reset()
    return gate


def test_an_open_gate_lets_all_rows_pass():
    gate = fresh()
    assert gate.limit == NO_LIMIT
    assert gate.rows(3, 10) == 10


@pytest.mark.parametrize(
    ("base", "limit", "bound"), [(0, 7, 7), (5, 7, 3), (0, 2, 3), (5, 9, 4), (100, 7, 3)]
)
def test_rows_end_at_the_limit_and_never_before_the_first(base, limit, bound):
    gate = fresh()
    gate.at(base)
    gate.set_limit(limit)
    assert gate.rows(3, 10) == bound


def test_a_step_begins_only_at_an_even_turn():
    gate = fresh()
    assert gate.enter()
    assert gate.is_running()
    gate.leave()
    gate.close(1)
    assert not gate.enter()
    assert not gate.is_running()
    assert gate.rows(0, 10) == 0
    gate.open(2)
    assert gate.enter()


def test_turns_of_the_wrong_parity_are_refused():
    gate = fresh()
    with pytest.raises(ValueError, match="odd"):
        gate.close(2)
    with pytest.raises(ValueError, match="even"):
        gate.open(3)


def test_both_sides_over_one_memory_see_each_other():
    memory = mmap.mmap(-1, 4096)
    task, controller = Gate(memory, 512), Gate(memory, 512)
    controller.reset()
    task.tell("state", 3)
    task.add("batches", 2)
    task.add("batches", 3)
    task.advance(40, 30)
    page = controller.read()
    assert (page["state"], page["batches"], page["position"], page["emitted"]) == (3, 5, 40, 30)
    controller.set_output_limit(9)
    assert task.read()["output_limit"] == 9
    assert Gate(memory, 1024).read()["limit"] == 0


@pytest.mark.parametrize(
    ("offset", "problem"), [(64, "aligned"), (4096 - 128, "outside"), (-128, "outside")]
)
def test_bad_places_are_refused(offset, problem):
    with pytest.raises(ValueError, match=problem):
        Gate(mmap.mmap(-1, 4096), offset)
    assert GATE_BYTES % 128 == 0


def test_not_running_under_a_closed_gate_is_paused():
    """A paused task's counter stands still until it is resumed, however often that is done."""
    gate, stop = fresh(), threading.Event()

    def work():
        row = 0
        while not stop.is_set():
            if gate.enter():
                row += 1
                gate.advance(row, row)
                gate.leave()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for turn in range(1, 100, 2):
            gate.close(turn)
            while gate.is_running():
                pass
            first = gate.position
            assert gate.position == first
            gate.open(turn + 1)
    finally:
        stop.set()
        worker.join()
