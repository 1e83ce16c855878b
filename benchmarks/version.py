"""Which ambergate is measured."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from ambergate.channels.gate import Gate


def is_gated() -> bool:
    """Whether the native modules look at the gate: all do, but those built to be compared with."""
    gate = Gate()
    gate.reset()
    gate.set_limit(1)
    return gate.rows(0, 2) == 1


def own_version() -> str:
    """The version of the package and whether its native modules look at the gate."""
    try:
        number = version("ambergate")
    except PackageNotFoundError:  # a bare checkout
        number = "0"
    return number if is_gated() else f"{number} ungated"
