"""Which files a path means, and opening them, compressed or not."""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
from collections.abc import Iterable
from typing import Any, BinaryIO

import pyarrow as pa

from ambergate.errors import InputError

__all__ = ["ByteStream", "files_of"]

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
ARROW_CODECS = {".zst": "zstd", ".lz4": "lz4"}


def files_of(path: Any) -> tuple[str, ...]:
    """The files that ``path`` means, each once, sorted; absolute, as working folders change.

    Parameters
    ----------
    path : a file, a folder (the files in it, not those of its folders), a glob (``**`` for any
        depth), or a list of these; in folders, names that begin with ``.`` or ``_`` do not count

    Raises
    ------
    InputError
        Nothing there.
    """
    if isinstance(path, str | os.PathLike):
        return tuple(sorted(map(os.path.abspath, _expanded(os.fspath(path)))))
    if not isinstance(path, Iterable):
        raise InputError(
            repr(path), "is no path", None, "give a file, a folder, a glob, or a list of them"
        )
    found = {file for each in path for file in files_of(each)}
    if not found:
        raise InputError("[]", "an empty list of files", None, "give at least one path")
    return tuple(sorted(found))


def _expanded(path: str) -> set[str]:
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        return {
            entry.path
            for entry in os.scandir(path)
            if entry.is_file() and not entry.name.startswith((".", "_"))
        }
    if os.path.exists(path):
        return {path}
    if glob.has_magic(path):
        found = {each for each in glob.glob(path, recursive=True) if os.path.isfile(each)}
        if found:
            return found
        raise InputError(path, "no file matches", None, f"the working folder is {os.getcwd()}")
    raise InputError(path, "no such file or folder", None, f"the working folder is {os.getcwd()}")


class ByteStream:
    """The bytes of one file, decompressed by its ending (.gz, .bz2, .xz, .zst, .lz4).

    Several gzip members in one file are read one after the other; zero bytes after them are
    padding and mean nothing.

    Raises
    ------
    InputError
        From any method: the file cannot be read, is cut off or damaged; names the file.
    """

    def __init__(self, path: str):
        self.path = path
        ending = os.path.splitext(path)[1].lower()
        self._stream: BinaryIO = self._try(self._opened, ending)

    def _opened(self, ending: str) -> Any:
        if ending in OPENERS:
            return OPENERS[ending](self.path, "rb")
        if ending in ARROW_CODECS:
            return pa.CompressedInputStream(pa.OSFile(self.path, "rb"), ARROW_CODECS[ending])
        return open(self.path, "rb", buffering=0)

    def read(self, nbytes: int) -> bytes:
        """``nbytes`` bytes, fewer only at the end of the file."""
        parts: list[bytes] = []
        missing = nbytes
        while missing > 0:
            part = self._try(self._stream.read, missing)
            if not part:
                break
            parts.append(part)
            missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _try(self, act: Any, *arguments: Any) -> Any:
        try:
            return act(*arguments)
        except EOFError:
            problem = "the compressed file is cut off"
        except (gzip.BadGzipFile, lzma.LZMAError, pa.ArrowInvalid) as error:
            problem = f"the compressed file is damaged: {error}"
        except Exception as error:  # zlib.error, and what other codecs raise
            system = getattr(error, "strerror", None)  # codecs raise OSError without one
            problem = (
                f"cannot be read: {system}"
                if system
                else f"the compressed file is damaged: {error}"
            )
        raise InputError(self.path, problem, None, "write the file again, or leave it out")
