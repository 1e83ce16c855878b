"""A29: exceptions that do not pickle reach the caller all the same, soon, with their cause."""

import pickle
import threading
import time

import pytest

import ambergate as ag


class KeywordOnly(Exception):
    def __init__(self, *, code):
        super().__init__(f"code {code}")
        self.code = code


class OtherArguments(Exception):
    def __init__(self, thing):
        super().__init__(f"thing {thing}", 1, 2)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Base(BaseException):
    pass


def local_class():
    class Inner(Exception):
        pass

    return Inner("from inside a function")


def holding_a_lock():
    error = ValueError("holds a lock")
    error.lock = threading.Lock()
    return error


def holding_a_file():
    error = ValueError("holds a file")
    error.file = open("/dev/null")  # noqa: SIM115
    return error


MAKERS = {
    "keyword only": (lambda: KeywordOnly(code=7), "KeywordOnly", "code 7"),
    "other arguments": (lambda: OtherArguments("x"), "OtherArguments", "thing x"),
    "lambda inside": (lambda: Exception(lambda: 1), "Exception", "lambda"),
    "lock": (holding_a_lock, "ValueError", "holds a lock"),
    "file": (holding_a_file, "ValueError", "holds a file"),
    "unprintable": (Unprintable, "Unprintable", "__str__ raised RuntimeError"),
    "local class": (local_class, "Inner", "from inside a function"),
    "base exception": (lambda: Base("base"), "Base", "base"),
    "system exit": (lambda: SystemExit(3), "SystemExit", "3"),
    "huge message": (lambda: ValueError("x" * 50_000_000), "ValueError", "more characters"),
    "group": (lambda: ExceptionGroup("many", [ValueError("a")]), "ExceptionGroup", "many"),
}


def test_the_naive_way_fails():
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(KeywordOnly(code=7)))


@pytest.mark.parametrize("kind", MAKERS)
def test_the_caller_gets_operator_row_type_and_text(backend, kind):
    make, type_name, text = MAKERS[kind]

    def fails_on_37(id):
        if id == 37:
            raise make()
        return id

    stream = ag.from_arrow({"id": list(range(100))}, name="numbers", parallelism=1).map(
        fails_on_37, columns=["id"], returns={"id": "int64"}, name="check", parallelism=1
    )
    began = time.monotonic()
    with pytest.raises(ag.JobFailed) as caught:
        stream.collect(backend=backend, workers=2)
    assert time.monotonic() - began < 5
    failed = caught.value
    assert (failed.operator, failed.task, failed.position) == ("check", 0, 37)
    assert failed.row == {"id": 37}
    assert failed.type_name.endswith(type_name)
    assert text in failed.text
    assert "fails_on_37" in failed.frames
    assert "ambergate/" not in failed.frames
    assert len(str(failed)) < 300_000
