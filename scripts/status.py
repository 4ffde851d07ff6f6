#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps the record of what ran on which device: docs/status.json.

  scripts/status.py --check     fails if docs/Status.md or the README's table differs from the record
  scripts/status.py --write     writes docs/Status.md and the README's table
  scripts/status.py record --target=cuda --device="NVIDIA H200" --chip=sm_90a \\
      --ran="test/Execution/CUDA" --result="21 of 21 pass"
                                adds a record of today, and writes both

`--kind` of a record: hardware (the default), emulator (a functional emulator of the device), software
(a driver without a device: lavapipe, PoCL), lanes (cpu:emulate, lane by lane), or assembler (the
code was only assembled).
"""

import argparse
import datetime
import json
import pathlib
import re
import sys

KINDS = ("hardware", "emulator", "software", "lanes", "assembler")
KIND_TITLES = {
    "hardware": "hardware",
    "emulator": "vendor's emulator",
    "software": "software driver",
    "lanes": "lane by lane on the CPU",
    "assembler": "assembled only",
}
BEGIN, END = "<!-- status: begin (scripts/status.py writes this table) -->", "<!-- status: end -->"


def load(path):
    status = json.loads(path.read_text(encoding="utf-8"))
    names = {target["name"] for target in status["targets"]}
    for number, record in enumerate(status["records"]):
        problem = check_record(record, names)
        if problem:
            sys.exit(f"error: {path}: records[{number}]: {problem}")
    return status


def check_record(record, targets):
    """The first problem of a record, or an empty text."""
    for field in ("target", "kind", "device", "chip", "date", "ran", "result"):
        if not isinstance(record.get(field), str):
            return f"'{field}' must be a text"
        if "|" in record[field] or "\n" in record[field]:
            return f"'{field}' must be one line without '|', since it becomes a cell of a table"
    if record["target"] not in targets:
        return f"unknown target '{record['target']}' (expected one of {', '.join(sorted(targets))})"
    if record["kind"] not in KINDS:
        return f"unknown kind '{record['kind']}' (expected one of {', '.join(KINDS)})"
    if record["kind"] != "assembler":
        try:
            datetime.date.fromisoformat(record["date"])
        except ValueError:
            return f"'{record['date']}' is not a date such as 2026-11-23"
    return ""


def unique(values):
    return list(dict.fromkeys(values))


def make_readme_table(status):
    lines = ["| target | chips | verified on | last run |", "|---|---|---|---|"]
    for target in status["targets"]:
        records = [record for record in status["records"] if record["target"] == target["name"]]
        ran = [record for record in records if record["kind"] != "assembler"]
        best = min((KINDS.index(record["kind"]) for record in ran), default=None)
        if best is None:
            verified, last = "never executed", "-"
        else:
            kind = KINDS[best]
            names = [name for record in ran if record["kind"] == kind for name in record["device"].split(", ")]
            devices = ", ".join(unique(names))
            chips = unique(chip for record in ran if record["kind"] == kind for chip in record["chip"].split(", "))
            if kind != "lanes" and any(chips):
                devices += f" ({', '.join(filter(None, chips))})"
            missing = "no hardware; " if kind in ("emulator", "software") else ""
            verified = devices if kind == "hardware" else f"{missing}{KIND_TITLES[kind]}: {devices}"
            last = max(record["date"] for record in ran if record["kind"] == kind)
        lines.append(f"| `{target['name']}` | {target['chips']} | {verified} | {last} |")
    return "\n".join(lines)


def make_status(status):
    lines = [
        "# Status",
        "",
        "The runs on each device, with their results. `scripts/status.py` writes this page from",
        "[status.json](status.json); add a record with `scripts/status.py record`.",
        "",
        "\"Rejected\" programs of `gpu-fuzz` end with the expected diagnostic. \"Planted\" faults are outputs",
        "that `gpu-fuzz` corrupts to test the comparison itself. A chip that is only \"assembled\" has never",
        "executed a program.",
    ]
    for target in status["targets"]:
        lines += ["", f"## {target['name']}", "", target["about"], ""]
        records = [record for record in status["records"] if record["target"] == target["name"]]
        lines += ["| device | chip | how | date | ran | result |", "|---|---|---|---|---|---|"]
        order = sorted(range(len(records)), key=lambda index: KINDS.index(records[index]["kind"]))
        for record in (records[index] for index in order):
            cells = [record["device"], record["chip"] or "-", KIND_TITLES[record["kind"]], record["date"] or "-",
                     record["ran"], record["result"]]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def replace_table(readme, table):
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    if not pattern.search(readme):
        sys.exit(f"error: README.md lacks the lines '{BEGIN}' and '{END}'")
    return pattern.sub(lambda _: f"{BEGIN}\n{table}\n{END}", readme)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if a generated text is stale")
    parser.add_argument("--write", action="store_true", help="write the generated texts")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the source tree")
    commands = parser.add_subparsers(dest="command")
    record = commands.add_parser("record", help="add a record")
    record.add_argument("--target", required=True)
    record.add_argument("--device", required=True, help="the device's name")
    record.add_argument("--chip", default="", help="the chip that was compiled for")
    record.add_argument("--kind", choices=KINDS, default="hardware")
    record.add_argument("--date", default=datetime.date.today().isoformat())
    record.add_argument("--ran", required=True, help="the tests, programs or command")
    record.add_argument("--result", required=True, help="numbers of passed, rejected and failed cases")
    arguments = parser.parse_args()
    if not (arguments.check or arguments.write or arguments.command):
        parser.error("one of --check, --write and record is required")

    source = arguments.root / "docs" / "status.json"
    status = load(source)
    if arguments.command:
        new = {field: getattr(arguments, field) for field in ("target", "kind", "device", "chip", "date", "ran", "result")}
        problem = check_record(new, {target["name"] for target in status["targets"]})
        if problem:
            sys.exit(f"error: {problem}")
        status["records"].append(new)
        source.write_text(json.dumps(status, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    page = arguments.root / "docs" / "Status.md"
    readme = arguments.root / "README.md"
    texts = {page: make_status(status), readme: replace_table(readme.read_text(encoding="utf-8"), make_readme_table(status))}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if arguments.check:
        for path in stale:
            print(f"error: {path.relative_to(arguments.root)} is stale: run scripts/status.py --write")
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
    return 0


sys.exit(main())
