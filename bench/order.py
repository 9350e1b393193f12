"""Writes crates/salver/hot_functions.ld: the order in which the linker places what small requests run through.

    python bench/order.py SALVER              a release binary with its symbols; needs valgrind

A request runs through some hundred kilobytes of code. Spread over a program of more than a hundred megabytes, they lie
on as many pages as there are functions, more than the processor keeps the addresses of. The functions of each row of
turns.py that needs no broker are counted by callgrind, and written one after the other as they call each other.
Run it when turns.py says that a row became slower for no other reason, or after a change of the compiler.
"""

import argparse
import http.client
import os
import re
import subprocess
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import peers
import turns

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "crates/salver/hot_functions.ld"
REQUESTS, WARM = 100, 50
# Rows of turns.py that are no small requests; the list of SQLite's is counted by a scan.
LARGE = ("export", "fib", "list-sqlite")
HEAD = """/* The functions that small requests run through, one after the other. bench/order.py writes this. */
SECTIONS
{
  .text.hot :
  {
"""
TAIL = """  }
}
INSERT BEFORE .text;
"""
# What differs between two compilers in the name of a function: the hash of the old mangling, and the crates' numbers of
# the new one.
HASH = re.compile(r"17h[0-9a-f]{16}E$")
CRATE = re.compile(r"Cs[0-9A-Za-z]+_")


class Counted(turns.Salver):
    """A server under callgrind, which counts when it is told to."""

    out = Path()

    def command(self, tables, keys, **options):
        command, environment = super().command(tables, keys, **options)
        tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--demangle=no",
                f"--callgrind-out-file={self.out}"]
        return [*tool, *map(str, command)], environment

    def count(self, request: peers.Request) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        for number in range(WARM + REQUESTS):
            if number == WARM:
                self.control("on")
            asked = request.numbered(number + 1)
            connection.request(asked.method, asked.path, asked.body, asked.headers)
            answer = connection.getresponse()
            answer.read()
            if not 200 <= answer.status < 300:
                raise SystemExit(f"{request.path}: {answer.status}")
        self.control("off")
        connection.close()

    def control(self, word: str) -> None:
        subprocess.run(["callgrind_control", "-i", word, str(self.process.pid)], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("salver", type=Path, help="the binary")
    options = parser.parse_args()
    rows = [row for row in turns.ROWS if row.needs != "kafka" and not row.key.startswith(LARGE)]
    with tempfile.TemporaryDirectory(prefix="salver-order-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        counted = Path(folder) / "callgrind.out"
        run(rows, options.salver, Path(folder), counted)
        calls = read(counted)
    patterns = patterns_of(order(calls, len(rows)), symbols(options.salver))
    SCRIPT.write_text(HEAD + "".join(f"    *(.text.{pattern})\n" for pattern in patterns) + TAIL)
    print(f"{len(patterns)} functions of {len(rows)} rows in {SCRIPT.relative_to(ROOT)}")


def run(rows, binary: Path, folder: Path, counted: Path) -> None:
    """Asks a counted server for each row."""
    home, around = turns.prepare(folder / "one"), turns.Around(folder)
    around.start({row.needs for row in rows})
    turns.Salver, Counted.out = Counted, counted
    try:
        server = turns.start(home, binary, 0, around)
        try:
            for row in rows:
                print(f"  {row.key}", flush=True)
                server.count(row.request)
        finally:
            server.stop()
    finally:
        around.stop()


def read(counted: Path) -> dict[str, Counter]:
    """How often which function called which other (the format of callgrind's files)."""
    names, calls = {}, defaultdict(Counter)
    caller = callee = ""

    def name(word: str) -> str:
        number, _, text = word.partition(" ")
        if text:
            names[number] = text.split("'")[0]
        return names[number]

    for line in counted.read_text().splitlines():
        key, _, rest = line.partition("=")
        if key == "fn":
            caller = name(rest)
        elif key == "cfn":
            callee = name(rest)
        elif key == "calls":
            calls[caller][callee] += int(rest.split()[0])
    return calls


def order(calls: dict[str, Counter], rows: int) -> list[str]:
    """The functions, each behind the one that calls it most, the most often called first."""
    entered, most = Counter(), {}
    for caller, called in calls.items():
        for callee, count in called.items():
            entered[callee] += count
            if caller != callee and count > most.get(callee, ("", 0))[1]:
                most[callee] = (caller, count)
    # What comes once in ten requests of one row, or more seldom, is not worth a place.
    often = {function for function, count in entered.items() if count >= REQUESTS // 10}
    behind = defaultdict(list)
    for function in often:
        behind[most.get(function, ("", 0))[0] if most.get(function, ("", 0))[0] in often else ""].append(function)
    placed, seen = [], set()

    def place(function: str) -> None:
        stack = [function]
        while stack:
            one = stack.pop()
            if one not in seen:
                seen.add(one)
                placed.append(one)
                stack += sorted(behind[one], key=lambda other: (entered[other], other))

    for root in sorted(behind[""], key=lambda other: (-entered[other], other)):
        place(root)
    # Functions that call each other in a circle hang on no root.
    for function in sorted(often - seen):
        place(function)
    return placed


def symbols(binary: Path) -> set[str]:
    """The functions of a binary."""
    said = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    return {parts[2] for line in said.splitlines() if len(parts := line.split()) == 3 and parts[1] in "tTwW"}


def patterns_of(functions: list[str], known: set[str]) -> list[str]:
    """Names that another compiler's build has, too, where such a name means few functions: all instances of a generic
    function have one."""
    def pattern(function: str) -> str:
        return CRATE.sub("Cs*_", function) if function.startswith("_R") else HASH.sub("17h*E", function)

    alike = Counter(map(pattern, known))
    chosen = [pattern(function) if alike[pattern(function)] <= 4 else function
              for function in functions if function in known and function.startswith(("_ZN", "_R"))]
    return list(dict.fromkeys(chosen))


if __name__ == "__main__":
    main()
