"""What the gate costs its callers in Python, a call."""


def test_rows(benchmark, gate):
    assert benchmark(gate.rows, 0, 4_096) == 4_096


def test_a_step_begun_and_ended(benchmark, gate):
    def step():
        began = gate.enter()
        gate.leave()
        return began

    assert benchmark(step)


def test_pause_and_resume(benchmark, gate):
    def turn():
        gate.close(1)
        paused = not gate.is_running()
        gate.open(2)
        return paused

    assert benchmark(turn)
