"""Rows of measurements, printed as a table and kept in a CSV file that a later run continues."""

import csv
import io
import os
import pathlib
import sys

FIELDS = ("measurement", "group", "what", "value", "unit", "target", "verdict", "note")
GROUPS = ("machine", "oracle", "kernels", "sanitizer", "bandwidth", "step", "profile", "products", "nccl", "launches", "memory",
          "convolutions", "bad input", "schedules")
# The unit of a kernel that is right. The printed table has one row for all kernels of an artifact.
ONLY_IN_FILE = "of what is allowed"
# The measurement of the rows that describe the machine and the artifacts.
ORIGIN = "machine"
# Verdicts of measurements that a later run repeats.
NOT_DONE = ("failed", "not measured")


class Refused(Exception):
    """The file is no place for these rows."""


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def text_of(row):
    value = number(row["value"])
    value = row["value"] if value is None else f"{value:.4g}"
    return f"{value} {row['unit']}".strip()


class Table:
    """Rows by measurement. The file has complete measurements only."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.rows = {}  # Lists of rows by measurement.
        self.order = []
        self.current = None
        if self.path.exists():
            self.read()

    def read(self):
        with open(self.path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != FIELDS:
                raise Refused(f"'{self.path}' is not of this program: name another file with --csv")
            for row in reader:
                if None in row or None in row.values():
                    raise Refused(f"'{self.path}' has a row that is cut off, line {reader.line_num}: name another file with --csv")
                self.rows.setdefault(row["measurement"], []).append(row)

    def set_origin(self, about):
        """Sets the rows of the machine and the artifacts. Refuses a file that has rows of other ones."""
        rows = [dict(zip(FIELDS, (ORIGIN, "machine", what, value, unit, "", "", note))) for what, value, unit, note in about]
        known = self.rows.setdefault(ORIGIN, rows)
        for old, new in zip(known, rows):
            old, new = (" ".join(filter(None, (row["what"], text_of(row), row["note"]))) for row in (old, new))
            if old != new:
                raise Refused(f"'{self.path}' was measured with {old}, and here is {new}: name another file with --csv")

    def forget(self, measurements):
        for name in measurements:
            self.rows.pop(name, None)

    def is_done(self, measurement):
        rows = self.rows.get(measurement)
        return bool(rows) and not any(row["verdict"] in NOT_DONE for row in rows)

    def find(self, group, what):
        """The row, or None if it is missing or a failure."""
        rows = [row for rows in (*self.rows.values(), self.current or ()) for row in rows]
        return next((row for row in rows if (row["group"], row["what"]) == (group, what) and row["verdict"] not in NOT_DONE), None)

    def in_order(self):
        """All rows, in the order of the table, whenever they were measured."""
        place = {name: i for i, name in enumerate(self.order)}
        group = {name: i for i, name in enumerate(GROUPS)}
        names = sorted(self.rows, key=lambda name: (group.get(name.split("/")[0], len(GROUPS)), place.get(name, len(place))))
        return [row for name in names for row in self.rows[name]]

    # For the measurement that is being made.

    def begin(self, measurement):
        self.name, self.current = measurement, []

    def add(self, group, what, value="", unit="", target="", verdict="", note=""):
        row = dict(zip(FIELDS, (self.name, group, what, value, unit, target, verdict, note)))
        self.current.append(row)
        if row["unit"] != ONLY_IN_FILE or verdict == "failed":
            print(" ".join(filter(None, (f"{group}: {what}:", text_of(row), verdict, f"({note})" if verdict in NOT_DONE else ""))),
                  file=sys.stderr, flush=True)

    def judge(self, group, what, value, unit, is_met, target, note=""):
        """A target of speed, which a row may miss."""
        self.add(group, what, value, unit, target, "met" if is_met else "missed", note)

    def require(self, group, what, value, unit, is_right, target, note=""):
        """A requirement, which a row must meet: else it has failed."""
        self.add(group, what, value, unit, target, "met" if is_right else "failed", note)

    def end(self):
        self.rows[self.name], self.current = self.current, None
        self.write()

    def leave_out(self, measurements, why):
        """Marks measurements as not made; rows from earlier runs stay."""
        for each in measurements:
            if each.name not in self.rows:
                row = (each.name, each.group, each.label, "", "", "", "not measured", why)
                self.rows[each.name] = [dict(zip(FIELDS, row))]
        self.current = None
        self.write()

    def write(self):
        """Writes the file as a whole or not at all."""
        text = io.StringIO()
        writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.in_order())
        new = self.path.with_name(self.path.name + ".new")
        new.write_text(text.getvalue(), encoding="utf-8")
        os.replace(new, self.path)

    def print(self):
        print("\n| | what | measured | target | | |\n|---|---|---|---|---|---|")
        for row in self.in_order():
            if row["unit"] != ONLY_IN_FILE:
                cells = (row["group"], row["what"], text_of(row), row["target"], row["verdict"], row["note"])
                print("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
        sys.stdout.flush()

    def has_failed(self, measurements):
        return any(row["verdict"] == "failed" for name in measurements for row in self.rows.get(name, ()))
