"""Tables as text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ambergate.batch import shown_row


def format_table(table: pa.Table, rows: int = 20) -> str:
    """The first rows of a table, columns aligned."""
    shown = [shown_row(table, at) for at in range(min(rows, table.num_rows))]
    names = table.schema.names
    cells = [[_cell(row[column]) for column in names] for row in shown]
    widths = [max([len(n), *(len(row[i]) for row in cells)]) for i, n in enumerate(names)]
    lines = ["  ".join(n.ljust(w) for n, w in zip(names, widths, strict=True)).rstrip()]
    lines += ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in cells]
    if table.num_rows > rows:
        lines.append(f"... {table.num_rows - rows} more rows")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 48 else text[:45] + "..."
