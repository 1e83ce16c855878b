"""Where a sink's files lie before and after they are committed."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ambergate.errors import OutputError

__all__ = ["FileWriter", "Target"]

IF_EXISTS = ("error", "replace")


@dataclass(frozen=True, slots=True)
class Target:
    """A file, or a folder of parts.

    Unfinished files lie beside the finished ones under names no ordinary glob matches, as
    ``.orders.csv.4711-c0ffee-0.part``: file, job (process, token), task.
    """

    path: str
    ending: str
    if_exists: str

    @property
    def parts(self) -> bool:
        """Whether it is a folder of one file for each task."""
        return self.path.endswith("/")

    @property
    def folder(self) -> str:
        """Where the files lie."""
        return os.path.dirname(self.path) or "."

    def file(self, task: int) -> str:
        """The file of ``task`` once it is committed."""
        if self.parts:
            return os.path.join(self.folder, f"part-{task:05d}{self.ending}")
        return self.path

    def unfinished(self, task: int, job: str) -> str:
        """The file of ``task`` before that."""
        folder, name = os.path.split(self.file(task))
        return os.path.join(folder, f".{name}.{job}-{task}.part")

    def discard(self, task: int, job: str) -> None:
        """Remove the unfinished file of ``task``, if there is one and it can be removed."""
        with contextlib.suppress(OSError):
            _remove(self.unfinished(task, job))

    def check(self) -> None:
        """Make missing folders, remove leftovers; OutputError where rows cannot go."""
        if self.if_exists not in IF_EXISTS:
            raise OutputError(
                self.path, f"if_exists={self.if_exists!r} is none of {', '.join(IF_EXISTS)}"
            )
        with named(self.path):
            os.makedirs(self.folder, exist_ok=True)
            if not os.access(self.folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "the folder is not writable")
        self.remove_leftovers()
        if not self.parts and os.path.isdir(self.path):
            raise OutputError(
                self.path, "is a folder", f"write {self.path + '/'!r} for one file a task in it"
            )
        if not self.parts and os.path.lexists(self.path) and not os.path.isfile(self.path):
            raise OutputError(
                self.path, "is no regular file, and would be replaced by one", "name another target"
            )
        if self.if_exists == "error":
            self.check_free()

    def check_free(self) -> None:
        """Raise OutputError where something is there that would be replaced."""
        if self.parts:
            taken = next(iter(sorted(self._visible())), None)
            what = f"the folder holds {taken!r} already"
        else:
            taken = self.path if os.path.lexists(self.path) else None
            what = "exists already"
        if taken is not None:
            raise OutputError(self.path, what, 'write if_exists="replace", or another target')

    def _visible(self) -> Iterator[str]:
        if os.path.isdir(self.folder):
            for entry in os.scandir(self.folder):
                if not entry.name.startswith("."):
                    yield entry.name

    def stale_parts(self, tasks: int) -> list[str]:
        """Parts of an earlier run that this one, of ``tasks`` tasks, does not overwrite."""
        own = {os.path.basename(self.file(task)) for task in range(tasks)}
        return [
            os.path.join(self.folder, name)
            for name in self._visible()
            if re.fullmatch(r"part-\d{5,}\.\w+", name) and name not in own
        ]

    def remove_leftovers(self) -> None:
        """Remove unfinished files of jobs whose process is gone."""
        name = r"part-\d{5,}" + re.escape(self.ending)
        if not self.parts:
            name = re.escape(os.path.basename(self.path))
        pattern = re.compile(rf"\.{name}\.(\d+)-\w+-\d+\.part")
        with named(self.path):
            for entry in list(os.scandir(self.folder)):
                found = pattern.fullmatch(entry.name)
                if found and not _alive(int(found[1])):
                    _remove(entry.path)


class FileWriter:
    """Writes one file of a sink.

    Parameters
    ----------
    form : called with the path and the schema; the object made has ``write(batch)`` and ``close()``
    """

    def __init__(
        self,
        target: Target,
        task: int,
        tasks: int,
        job: str,
        form: Callable[[str, pa.Schema], Any],
        schema: pa.Schema,
    ):
        self._target, self._task, self._tasks = target, task, tasks
        self.path, self._unfinished = target.file(task), target.unfinished(task, job)
        self._finished = self._committed = False
        self._form: Any = None
        with named(self.path):
            os.makedirs(target.folder, exist_ok=True)
            self._form = form(self._unfinished, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """See Writer."""
        with named(self.path):
            self._form.write(batch)

    def finish(self) -> None:
        """See Writer."""
        if self._finished:
            return
        with named(self.path):
            form, self._form = self._form, None
            form.close()
            _sync(self._unfinished)
        self._finished = True

    def prepare(self) -> None:
        """See Writer."""
        self.finish()
        if self._target.if_exists == "error" and os.path.lexists(self.path):
            raise self._taken()
        with named(self.path):
            os.stat(self._unfinished)

    def commit(self) -> None:
        """See Writer; each file comes at once, the parts of a folder follow one another."""
        if self._committed:
            return
        self.finish()
        target = self._target
        with named(self.path):
            if target.parts and target.if_exists == "replace" and self._task == 0:
                for stale in target.stale_parts(self._tasks):
                    _remove(stale)
            if target.if_exists == "replace":
                os.replace(self._unfinished, self.path)
            elif not _place(self._unfinished, self.path):
                raise self._taken()
            self._committed = True
            _sync(target.folder)

    def _taken(self) -> OutputError:
        return OutputError(
            self.path,
            "came into being while the job ran",
            'write if_exists="replace", or another target',
        )

    def abort(self) -> None:
        """See Writer."""
        if self._committed:
            return
        form, self._form = self._form, None
        self._finished = True
        try:
            if form is not None:
                form.close()
        except (pa.ArrowException, OSError, ValueError):
            pass  # what could not be written is thrown away anyway
        _remove(self._unfinished)

    def withdraw(self) -> None:
        """See Writer."""
        if self._committed and self._target.if_exists == "error":
            _remove(self.path)
        self.abort()


@contextmanager
def named(path: str) -> Iterator[None]:
    """Turn what the file system raises into an OutputError that names ``path``."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        number = getattr(error, "errno", None)
        text = getattr(error, "strerror", None) or str(error)
        remedy = ""
        if number == errno.ENOSPC or "No space left" in text:
            remedy = "make room on the disk, then run the job again; nothing was committed"
        elif number in (errno.EACCES, errno.EPERM, errno.EROFS):
            remedy = "write somewhere you may"
        raise OutputError(path, f"cannot be written: {text}", remedy) from None


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _place(path: str, target: str) -> bool:
    """Rename, of two that do it at once only one; False where ``target`` exists."""
    try:
        os.link(path, target)
    except FileExistsError:
        return False
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            return False
        os.replace(path, target)
        return True
    os.unlink(path)
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
