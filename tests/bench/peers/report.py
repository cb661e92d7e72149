"""What was measured, as a table for people and as JSON for comparisons: what broker_bench's report does for its rows."""

import json
import os
import pathlib
import statistics


class Row:
    """`held`: None where there is no target."""

    def __init__(self, what, measured, wanted="-", held=None, note="", **figures):
        self.what, self.measured, self.wanted, self.held, self.note, self.figures = what, measured, wanted, held, note, figures

    @property
    def verdict(self):
        return "-" if self.held is None else "yes" if self.held else "MISSED"


def median(values):
    return statistics.median(values)


def load_average():
    return list(os.getloadavg())


def words_of(load):
    return " ".join(f"{one:.2f}" for one in load)


def table(rows, loads):
    cells = [("WHAT", "MEASURED", "TARGET", "HELD")] + [(row.what, row.measured, row.wanted, row.verdict) for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(3)]
    lines = [f"load average before {words_of(loads['before'])}, after {words_of(loads['after'])}", ""]
    for line, note in zip(cells, [""] + [row.note for row in rows]):
        lines.append("  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[3]]))
        if note:
            lines.append(f"    {note}")
    missed = sum(row.held is False for row in rows)
    return "\n".join([*lines, "", f"{missed} targets missed"])


def write_json(path, rows, loads):
    shown = [{"what": row.what, "measured": row.measured, "target": row.wanted, "held": row.held, "note": row.note,
              "figures": row.figures} for row in rows]
    pathlib.Path(path).write_text(json.dumps({"load_average": loads, "rows": shown}, indent=2) + "\n")
