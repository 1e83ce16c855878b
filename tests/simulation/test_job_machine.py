"""The job's machine under random schedules of readiness, pauses, failures, ends and losses."""

import random

import pytest

from ambergate.controller import job as machine
from ambergate.errors import IllegalTransition
from ambergate.messages import RaisedRow

SEEDS = 2000
WORKERS, TASKS = 2, 4


def raised(task, retryable=True):
    return RaisedRow("map", task, 7, {"v": 0}, "ValueError", "bad", "", None, retryable)


class World:
    """Workers and gates as the machine's actions leave them; delivers events in a seeded order."""

    def __init__(self, seed, on_error):
        self.random = random.Random(seed)
        self.machine = machine.JobMachine(
            WORKERS, TASKS, on_error, paused=self.random.random() < 0.3
        )
        self.turn = 1  # as the gates were set before anything was deployed
        self.unready = list(range(WORKERS))
        self.unfinished = list(range(TASKS))
        self.standing_at_error = set()
        self.preparing = False
        self.committing = None
        self.committed = 0
        self.released = []
        self.last_asked = "pause" if self.machine.paused else "resume"

    def carry_out(self, actions):
        for action in actions:
            assert not self.released, f"{action} after the workers were released"
            match action:
                case machine.CloseGates(turn):
                    assert turn % 2 == 1
                    assert turn > self.turn
                    self.turn = turn
                case machine.OpenGates(turn):
                    assert turn % 2 == 0
                    assert turn > self.turn
                    self.turn = turn
                    assert not self.standing_at_error, "opened with a failed row not retried"
                case machine.Retry(_, task):
                    self.standing_at_error.discard(task)
                case machine.Prepare():
                    assert not self.preparing
                    assert not self.unfinished
                    self.preparing = True
                case machine.Commit():
                    assert self.committing is None
                    assert self.preparing
                    self.committing = list(range(WORKERS))
                case machine.Release(abort):
                    self.released.append(abort)

    def choices(self):
        """What may happen next, given what the workers are really doing."""
        state, events = self.machine.state, []
        if self.unready:
            events.append(("ready", None))
        started = not self.unready
        moving = started and self.turn % 2 == 0 and not self.released
        if moving:
            for task in self.unfinished:
                if task not in self.standing_at_error:
                    events += [("finish", task), ("raise", task)]
        if state == "pausing":
            events += [("quiesce", None)] * 3
            for task in self.unfinished:  # the row that was under way when the gate closed
                if task not in self.standing_at_error:
                    events += [("finish", task), ("raise", task)]
        if self.preparing and self.committing is None:
            events.append(("prepare", None))
        if self.committing:
            events += [("commit", None)] * 2
        if not self.released:
            events += [("pause", None), ("resume", None)]
            if self.random.random() < 0.05:
                events += [("stop", None), ("lose", None), ("break", None)]
        return events

    def happen(self, what, task):
        feed = self.machine.handle
        if what == "ready":
            self.carry_out(feed(machine.WorkerReady(self.unready.pop())))
        elif what == "finish":
            self.unfinished.remove(task)
            self.carry_out(feed(machine.Finished("map", task)))
        elif what == "raise":
            self.standing_at_error.add(task)
            self.carry_out(feed(machine.Raised(raised(task))))
        elif what == "quiesce":
            self.carry_out(feed(machine.Quiesced(self.machine.turn)))
        elif what == "prepare":
            self.carry_out(feed(machine.Prepared()))
        elif what == "commit":
            self.committed += 1
            self.carry_out(feed(machine.Committed(self.committing.pop())))
        elif what == "pause":
            self.last_asked = "pause"
            self.carry_out(feed(machine.PauseAsked()))
        elif what == "resume":
            self.last_asked = "resume"
            self.carry_out(feed(machine.ResumeAsked()))
        elif what == "stop":
            self.carry_out(feed(machine.StopAsked()))
        else:
            self.carry_out(feed(machine.Broken("worker lost")))

    def check(self):
        state = self.machine.state
        if state in ("pausing", "paused"):
            assert self.turn % 2 == 1
        if state == "running":
            assert self.turn % 2 == 0
        if state == "starting":
            assert self.turn == 1
        assert bool(self.released) == self.machine.ended
        if self.machine.ended:
            assert self.released == [state != "finished"]
        if state == "finished":
            assert not self.unfinished
        if state == "stopped":
            assert not self.committed, "stopped with a part of the output visible"
        if self.last_asked == "resume" and state in ("pausing", "paused"):
            assert self.machine.stops, "a resume was dropped"
        if self.last_asked == "pause" and state == "running":
            raise AssertionError("a pause was dropped")


@pytest.mark.parametrize("on_error", ["pause", "raise"])
def test_no_schedule_breaks_the_invariants(on_error):
    ends = set()
    for seed in range(SEEDS):
        world = World(seed, on_error)
        try:
            for _ in range(200):
                choices = world.choices()
                if not choices:
                    break
                world.happen(*world.random.choice(choices))
                world.check()
        except (AssertionError, IllegalTransition) as error:
            history = "\n".join(world.machine.history)
            raise AssertionError(f"seed {seed}, on_error={on_error}: {error}\n{history}") from error
        ends.add(world.machine.state)
    assert {"finished", "failed", "stopped"} <= ends, "the schedules did not reach every end"


def test_an_illegal_move_tells_the_story():
    job = machine.JobMachine(1, 1)
    job.handle(machine.WorkerReady(0))
    with pytest.raises(IllegalTransition, match="running and cannot ready"):
        job._move("ready")
    assert job.history == ["starting -- ready --> running"]
