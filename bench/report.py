"""Keeps what was measured and writes it down: tables for people, the raw numbers for later."""

import dataclasses
import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path


@dataclasses.dataclass
class Section:
    """One table of the page, and the table of memory that stands below it."""

    title: str
    note: str
    rows: list = dataclasses.field(default_factory=list)
    memory_mb: dict = dataclasses.field(default_factory=dict)


class Results:
    """The results of one run."""

    def __init__(self, rounds, seconds):
        self.rounds, self.seconds = rounds, seconds
        self.raw, self.versions = {}, {}
        self.sections, self.wrong = [], []

    def section(self, title: str, note: str) -> None:
        """Begins a table; what is reported from now on belongs to it."""
        self.sections.append(Section(title, note))

    def keep(self, kind: str, key: str, value) -> None:
        """Keeps raw numbers."""
        self.raw.setdefault(kind, {})[key] = value

    def fault(self, text: str) -> None:
        """Something that makes a number worthless."""
        print(f"  WRONG: {text}", file=sys.stderr, flush=True)
        self.wrong.append(text)

    def memory(self, peer, moment: str) -> None:
        now, high = peer.memory_mb("VmRSS"), peer.memory_mb("VmHWM")
        self.sections[-1].memory_mb.setdefault(moment, {})[peer.name] = {"now": now, "highest": high}

    def small(self, work, rounds) -> None:
        self.keep("small", work.key, asdict(rounds))
        self.failed(work.key, rounds)
        median = {name: statistics.median(r.per_second for r in list_) for name, list_ in rounds.items() if list_}
        times = {name: latency(list_) for name, list_ in rounds.items() if list_}
        ours, theirs = median.get("Salver"), median.get("ROAPI")
        ratio = ours / theirs if ours and theirs else None
        self.row(work.name, f"{ours:,.0f}/s" if ours else "", f"{theirs:,.0f}/s" if theirs else "", ratio, work.target,
                 times.get("Salver", ""), times.get("ROAPI", ""), key=work.key)
        if health := median.get("/health"):
            self.row("`/health` of the same binary, the limit", f"{ours:,.0f}/s", f"{health:,.0f}/s", ours / health,
                     work.of_health, times.get("Salver", ""), times["/health"], key=work.key)

    def large(self, work, rounds) -> None:
        self.keep("large", work.key, rounds)
        median = {name: statistics.median(seconds for seconds, _ in list_) for name, list_ in rounds.items()}
        size = {name: list_[0][1] / 1e6 for name, list_ in rounds.items()}
        say = lambda name: f"{median[name]:.2f} s, {size[name]:.0f} MB" if name in median else ""
        ratio = median["ROAPI"] / median["Salver"] if len({"ROAPI", "Salver"} & median.keys()) == 2 else None
        self.row(work.name, say("Salver"), say("ROAPI"), ratio, work.target, key=work.key)

    def asked(self, work, connections: int, rounds) -> None:
        """Many small requests of records: a row for each rival."""
        self.keep("records", f"{work.key}-{connections}", asdict(rounds))
        self.failed(work.key, rounds)
        median = {name: statistics.median(r.per_second for r in list_) for name, list_ in rounds.items()}
        ours = median.pop("Salver", None)
        said, times = f"{ours:,.0f}/s" if ours else "", latency(rounds.get("Salver", []))
        for name, theirs in median.items():
            target = work.of_health if name == "/health" else work.rivals[name].target
            label = "its `/health`" if name == "/health" else f"`{name} -S`" if name == "pgbench" else name
            self.row(f"{work.name}; {connections} connections", said, f"{theirs:,.0f}/s ({label})",
                     ours / theirs if ours else None, target, times, latency(rounds[name]), key=work.key)
        if ours and not median:
            self.row(f"{work.name}; {connections} connections", said, "", None, None, times)

    def trips(self, work, trips: list[int]) -> None:
        """Round trips to the database for each of some requests."""
        self.keep("round_trips", work.key, trips)
        ours = statistics.median(trips)
        self.row(f"{work.name}: round trips", f"{ours:g}", f"{work.trips} (relations + 1)", ours / work.trips,
                 f"< {work.trips}", met=ours < work.trips, key=work.key)

    def loaded(self, work, loader: str, rounds) -> None:
        self.keep("load", work.key, rounds)
        median = {name: statistics.median(seconds) for name, seconds in rounds.items()}
        ours, theirs = median.get("Salver"), median.get("loader")
        self.row(work.name, f"{ours:.2f} s" if ours else "", f"{theirs:.2f} s (`{loader}`)" if theirs else "",
                 theirs / ours if ours and theirs else None, work.target, key=work.key)

    def appended(self, work, rounds, lost, drained) -> None:
        """Events that were appended: a row for each rival and each number that must be reached."""
        self.keep("streams", work.key, asdict(rounds))
        self.failed(work.key, rounds)
        median = {name: statistics.median(r.per_second for r in list_) for name, list_ in rounds.items()}
        ours, times = median.pop("Salver", None), latency(rounds.get("Salver", []))
        said = f"{ours:,.0f}/s" if ours else ""
        row = lambda name, theirs, value, target, their_times="": self.row(
            name, said, theirs, ours / value if ours else None, target, times, their_times, key=work.key)
        name = f"{work.name}; {work.connections} connections"
        for rival, theirs in median.items():
            target = work.of_health if rival == "/health" else work.rivals[rival].target
            label = "its `/health`" if rival == "/health" else rival
            row(name, f"{theirs:,.0f}/s ({label})", theirs, target, latency(rounds[rival]))
        if work.per_second:
            row(name, f"{work.per_second:,}/s (the target)", work.per_second, 1)
        self.keep("streams_lost", work.key, {peer: [list(turn) for turn in turns] for peer, turns in lost.items()})
        if work.sink == "kafka" and drained:
            self.keep("streams_drained", work.key, drained)
            rate, seconds = (statistics.median(values) for values in zip(*drained))
            gone = {peer: f"{sum(n for n, _ in turns):,} of {sum(n for _, n in turns):,} lost"
                    for peer, turns in lost.items()}
            self.row("the same, until all of it is in the topic",
                     f"{rate:,.0f}/s, {seconds:.1f} s more; {gone.pop('Salver')}", "; ".join(gone.values()),
                     None, None)

    def called(self, work, connections: int, rounds) -> None:
        """Calls of a function: a row for each rival and each number that must be reached."""
        self.keep("functions", f"{work.key}-{connections}", asdict(rounds))
        self.failed(work.key, rounds)
        judged = connections == work.judged
        median = {name: statistics.median(r.per_second for r in list_) for name, list_ in rounds.items()}
        ours, times = median.pop("Salver", None), latency(rounds.get("Salver", []))
        said, name = f"{ours:,.0f}/s" if ours else "", f"{work.name}; {connections} connections"
        row = lambda theirs, value, target, their_times="": self.row(
            name, said, theirs, ours / value if ours else None, target if judged else None, times, their_times,
            key=work.key)
        for rival, theirs in median.items():
            known = {"/health": work.of_health, "R in a loop": work.of_loop}
            target = known[rival] if rival in known else work.rivals[rival].target
            label = "its `/health`" if rival == "/health" else rival
            row(f"{theirs:,.1f}/s ({label})" if theirs < 100 else f"{theirs:,.0f}/s ({label})", theirs, target,
                latency(rounds[rival]))
        if work.per_second and judged:
            row(f"{work.per_second:,}/s (the target)", work.per_second, 1)
        if work.p99_ms_max and ours:
            p99_ms = statistics.median(r.p99_ms for r in rounds["Salver"])
            self.row(f"{name}: p99", f"{p99_ms:.1f} ms; {said}", f"{work.p99_ms_max:g} ms (the target)",
                     p99_ms / work.p99_ms_max, "< 1", met=p99_ms < work.p99_ms_max, key=work.key)

    def over_column(self, work, seconds) -> None:
        """A function over a column: how many times as long as R by itself takes for the vector."""
        self.keep("functions", work.key, seconds)
        ours, theirs = statistics.median(seconds["Salver"]), statistics.median(seconds["R"])
        self.row(work.name, f"{ours:.2f} s", f"{theirs:.2f} s (R's vapply)", ours / theirs, f"<= {work.times_max:g} x",
                 met=ours <= work.times_max * theirs, key=work.key)

    def counted(self, rows: int, seconds) -> None:
        """Questions about many events: the first answer and the median of all."""
        self.keep("streams", "count", seconds)
        for key, name, target in [("count", "`select count(*)`", 1), ("avg", "`select count(*), avg(...)`", None)]:
            slowest = max(seconds[key])
            self.row(f"{name} over {rows // 1_000_000} M logged events, slowest of {len(seconds[key])}",
                     f"{slowest:.2f} s", "1 s (the target)" if target else "", 1 / slowest if target else None, target,
                     f"{statistics.median(seconds[key]) * 1000:.0f} (median)", key="count")
        self.row(f"{rows // 1_000_000} M events logged before, 100 k a request", f"{seconds['load'][0]:.1f} s", "",
                 None, None)

    def first_batch(self, works, seconds) -> None:
        """The first documents of exports of several sizes."""
        self.keep("exports", works.FIRST, seconds)
        median = {name: statistics.median(taken) * 1000 for name, taken in seconds.items()}
        least = median[min(works.SIZES, key=works.SIZES.get)]
        for name, rows in works.SIZES.items():
            self.row(f"the first {works.BATCH:,} documents of {rows:,} rows", f"{median[name]:.2f} ms", "",
                     None, None, key=works.FIRST)
        ours = median[works.LARGEST]
        self.row("the largest against the smallest of them", f"{ours:.2f} ms", f"{least:.2f} ms", ours / least,
                 "<= 1.5 x", met=ours <= 1.5 * least, key=works.FIRST)
        self.row("the largest of them", f"{ours:.2f} ms", "10 ms (the target)", ours / 10, "< 1", met=ours < 10,
                 key=works.FIRST)

    def exported(self, key: str, name: str, rows: int, targets, rounds) -> None:
        """Whole exports, by everybody: a row for each rival."""
        self.keep("exports", key, rounds)
        rate = {who: rows / statistics.median(seconds for seconds, _ in turns) for who, turns in rounds.items()}
        size = {who: turns[0][1] / 1e6 for who, turns in rounds.items()}
        say = lambda who: f"{rate[who] / 1e6:.2f} M rows/s, {rate[who] / rows * size[who]:,.0f} MB/s"
        ours = rate.pop("Salver")
        said = f"{ours / 1e6:.2f} M rows/s, {ours / rows * size['Salver']:,.0f} MB/s"
        for who, theirs in rate.items():
            self.row(name, said, f"{say(who)} ({who})", ours / theirs, targets.get(who), key=key)
        if not rate:
            self.row(name, said, "", None, None, key=key)

    def slow_readers(self, works, more_mb: float, idle_mb: float) -> None:
        """What many slow readers cost in memory."""
        self.keep("exports", works.SLOW, {"over_idle_mb": more_mb, "idle_mb": idle_mb})
        self.row(f"memory over idle with {works.READERS} slow readers of 10 M rows", f"{more_mb:.0f} MB",
                 f"{works.IDLE_MB_MAX} MB (the target)", more_mb / works.IDLE_MB_MAX, "< 1",
                 met=more_mb < works.IDLE_MB_MAX, key=works.SLOW)

    def drawn(self, key: str, name: str, taken: list[float], ms_max: float) -> None:
        """A page in a browser: the milliseconds until it showed something."""
        self.keep("browser", key, taken)
        ours = statistics.median(taken)
        self.row(name, f"{ours:,.0f} ms ({min(taken):,.0f} to {max(taken):,.0f})", f"{ms_max:,.0f} ms (the target)",
                 ours / ms_max, "< 1", met=ours < ms_max, key=key)

    def failed(self, key: str, rounds) -> None:
        """Tells of requests that failed."""
        for name, list_ in rounds.items():
            if bad := sum(r.not_2xx + r.broken for r in list_):
                self.fault(f"{key}: {name} failed {bad} requests")

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

    def row(self, name, ours, theirs, ratio, target, times="", their_times="", met=None, key=None) -> None:
        """A row of the table. Without a target it is only for comparison; a fault of `key` spoils it."""
        spoiled = any(text.startswith(f"{key}:") for text in self.wrong)
        if met is None and target is not None:
            met = ratio is not None and ratio >= target
        verdict = "" if ratio is None or target is None else "yes" if met and not spoiled else "**no**"
        wanted = "" if target is None else target if isinstance(target, str) else f">= {target:g} x"
        said = f"{ratio:.2f} x" if ratio is not None else ""
        self.sections[-1].rows.append([name, ours, theirs, said, wanted, verdict, times, their_times])
        print("  " + " | ".join(cell for cell in self.sections[-1].rows[-1] if cell), file=sys.stderr, flush=True)

    def page(self) -> str:
        head = ["work", "Salver", "peer", "ratio", "target", "met", "p50 / p99 ms, Salver", "p50 / p99 ms, peer"]
        lines = [f"# Benchmark of {self.when:%Y-%m-%d %H:%M} UTC", "", f"{machine()}.",
                 "Versions: " + ", ".join(f"{name} {version}" for name, version in self.versions.items()) +
                 f"; commit {commit()}.",
                 f"Medians of {self.rounds} rounds of {self.seconds} s in turns, wrk with 2 threads on the same "
                 "processors.", ""]
        for section in self.sections:
            lines += [f"## {section.title}", "", section.note, "", table(head, section.rows), ""]
            memory = [[moment, name, f"{mb['now']:.0f}", f"{mb['highest']:.0f}"]
                      for moment, peers in section.memory_mb.items() for name, mb in peers.items()]
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
               "rounds": self.rounds, "seconds": self.seconds, **self.raw,
               "memory_mb": {moment: peers for section in self.sections for moment, peers in section.memory_mb.items()}}
        stem.with_suffix(".json").write_text(json.dumps(raw, indent=1) + "\n")
        return page


def asdict(rounds) -> dict:
    return {name: list(map(dataclasses.asdict, list_)) for name, list_ in rounds.items()}


def latency(rounds) -> str:
    """The medians of what half and of what nearly all requests took, where that is known."""
    if not rounds or rounds[0].p50_ms is None:
        return ""
    middle = lambda part: f"{statistics.median(getattr(r, part) for r in rounds):.2f}"
    return f"{middle('p50_ms')} / {middle('p99_ms')}"


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
