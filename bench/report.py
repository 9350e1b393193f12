"""Keeps what was measured and writes it down: one table for people, the raw numbers for later."""

import dataclasses
import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path


class Results:
    """The results of one run."""

    def __init__(self, names, versions, rounds, seconds):
        self.names, self.versions, self.rounds, self.seconds = names, versions, rounds, seconds
        self.raw = {"small": {}, "large": {}, "start": {}, "memory_mb": {}}
        self.rows, self.memories, self.wrong = [], [], []

    def fault(self, text: str) -> None:
        """Something that makes a number worthless."""
        print(f"  WRONG: {text}", file=sys.stderr, flush=True)
        self.wrong.append(text)

    def memory(self, peer, moment: str) -> None:
        now, high = peer.memory_mb("VmRSS"), peer.memory_mb("VmHWM")
        self.raw["memory_mb"].setdefault(moment, {})[peer.name] = {"now": now, "highest": high}

    def small(self, work, rounds) -> None:
        self.raw["small"][work.key] = {name: list(map(dataclasses.asdict, list_)) for name, list_ in rounds.items()}
        for name, list_ in rounds.items():
            if bad := sum(r.not_2xx + r.broken for r in list_):
                self.fault(f"{work.key}: {name} failed {bad} requests")
        median = {name: statistics.median(r.per_second for r in list_) for name, list_ in rounds.items() if list_}
        middle = lambda list_, part: f"{statistics.median(getattr(r, part) for r in list_):.2f}"
        times = {name: f"{middle(list_, 'p50_ms')} / {middle(list_, 'p99_ms')}"
                 for name, list_ in rounds.items() if list_}
        ours, theirs = median.get("Salver"), median.get("ROAPI")
        ratio = ours / theirs if ours and theirs else None
        self.row(work.name, f"{ours:,.0f}/s" if ours else "", f"{theirs:,.0f}/s" if theirs else "", ratio, work.target,
                 times.get("Salver", ""), times.get("ROAPI", ""))
        if health := median.get("/health"):
            self.row("`/health` of the same binary, the limit", f"{ours:,.0f}/s", f"{health:,.0f}/s", ours / health,
                     work.of_health, times.get("Salver", ""), times["/health"])

    def large(self, work, rounds) -> None:
        self.raw["large"][work.key] = rounds
        median = {name: statistics.median(seconds for seconds, _ in list_) for name, list_ in rounds.items()}
        size = {name: list_[0][1] / 1e6 for name, list_ in rounds.items()}
        say = lambda name: f"{median[name]:.2f} s, {size[name]:.0f} MB" if name in median else ""
        ratio = median["ROAPI"] / median["Salver"] if len({"ROAPI", "Salver"} & median.keys()) == 2 else None
        self.row(work.name, say("Salver"), say("ROAPI"), ratio, work.target)

    def start(self, seconds, memory) -> None:
        self.raw["start"] = {"seconds": seconds, "idle_memory_mb": memory}
        ours = seconds.get("Salver")
        for label, value in seconds.items():
            if label != "Salver":
                self.row(f"10 M-row Parquet: exec to first 200; against {label}", f"{ours:.2f} s" if ours else "",
                         f"{value:.2f} s", value / ours if ours else None, "< 1 s", met=ours is not None and ours < 1)
        for label, value in memory.items():
            if label != "Salver":
                mine = memory.get("Salver")
                self.row(f"the same, idle RSS; against {label}", f"{mine:.0f} MB" if mine else "", f"{value:.0f} MB",
                         mine / value if mine else None, "<= 2 x", met=mine is not None and mine <= 2 * value)

    def row(self, name, ours, theirs, ratio, target, times="", their_times="", met=None) -> None:
        met = met if met is not None else ratio is not None and ratio >= target
        verdict = "" if ratio is None else "yes" if met else "**no**"
        wanted = target if isinstance(target, str) else f">= {target:g} x"
        said = f"{ratio:.2f} x" if ratio is not None else ""
        self.rows.append([name, ours, theirs, said, wanted, verdict, times, their_times])
        print("  " + " | ".join(cell for cell in self.rows[-1] if cell), file=sys.stderr, flush=True)

    def page(self) -> str:
        head = ["work", "Salver", "peer", "ratio", "target", "met", "p50 / p99 ms, Salver", "p50 / p99 ms, peer"]
        lines = [f"# Benchmark of {self.when:%Y-%m-%d %H:%M} UTC", "", f"{machine()}.",
                 "Versions: " + ", ".join(f"{name} {version}" for name, version in self.versions.items()) +
                 f"; commit {commit()}.",
                 f"Medians of {self.rounds} rounds of {self.seconds} s in turns, wrk with 2 threads and 50 connections "
                 "on the same processors.", ""]
        lines += [table(head, self.rows), ""]
        memory = [[moment, name, f"{mb['now']:.0f}", f"{mb['highest']:.0f}"]
                  for moment, peers in self.raw["memory_mb"].items() for name, mb in peers.items()]
        if memory:
            lines += [table(["memory", "server", "RSS MB", "highest RSS MB"], memory), ""]
        lines += [f"WRONG: {text}" for text in self.wrong]
        return "\n".join(lines).rstrip() + "\n"

    def save(self, folder: Path) -> str:
        """Writes the run down and gives the page."""
        self.when = dt.datetime.now(dt.timezone.utc)
        folder.mkdir(parents=True, exist_ok=True)
        stem = folder / f"{self.when:%Y-%m-%d-%H%M}"
        page = self.page()
        stem.with_suffix(".md").write_text(page)
        raw = {"versions": self.versions, "machine": machine(), "commit": commit(), "wrong": self.wrong,
               "rounds": self.rounds, "seconds": self.seconds, **self.raw}
        stem.with_suffix(".json").write_text(json.dumps(raw, indent=1) + "\n")
        return page


def table(head, rows) -> str:
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def machine() -> str:
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} processors ({model}), {memory:.0f} GiB, Linux {platform.release()}"


def commit() -> str:
    said = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "unknown"
