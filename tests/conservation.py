"""The law of conservation: per edge, rows out = rows in + in flight + discarded.

Each side is counted on its own: what a task released, what its channels took, what the next task
consumed, and the rows that lie in the queues, counted by walking them.
"""


def counts(job):
    """Per operator and task the independent counts, of a job that stands."""
    controller = job._controller
    found = {}
    for worker in range(controller.plan.workers):
        for task in controller.ask_worker(worker, "in_flight")[0]:
            found[(task["operator"], task["task"])] = task
    return found


def assert_conserved(job):
    """Every edge of a paused job balances, and nothing moves between two readings."""
    first = counts(job)
    plan = job._controller.plan
    for number, edge in enumerate(plan.edges):
        up, down = plan.operators[edge.source], plan.operators[edge.target]
        place = [index for index, _ in plan.outputs_of(up.index)].index(number)
        copies = down.tasks if edge.exchange.way == "broadcast" else 1
        out = pushed = discarded = 0
        for task in range(up.tasks):
            seen = first[(up.name, task)]
            out += seen["released"] * copies
            pushed += sum(seen["pushed"][place])
            discarded += sum(seen["discarded"][place])
        consumed = sum(
            first[(down.name, task)]["consumed"][edge.port] for task in range(down.tasks)
        )
        queued = sum(first[(down.name, task)]["queued"][edge.port] for task in range(down.tasks))
        assert pushed == consumed + queued + discarded, (
            up.name,
            down.name,
            pushed,
            consumed,
            queued,
        )
        if all(not first[(up.name, task)]["pending"] for task in range(up.tasks)):
            assert out == pushed, f"{up.name} released {out} rows, its channels took {pushed}"
    second = counts(job)
    moved = [(first[each], second[each]) for each in first if first[each] != second[each]]
    assert not moved, f"something moved while the job was paused: {moved}"


def in_flight(job):
    """Rows queued before any task that is not a source."""
    plan = job._controller.plan
    return sum(
        sum(seen["queued"])
        for (name, _), seen in counts(job).items()
        if plan.operator(name).role != "source"
    )
