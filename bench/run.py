"""Measures Salver against its peers on the same data, in turns, in one run, and prints one table.

    make bench                              everything
    make bench BENCH="--seconds 2"          shorter rounds
    make bench BENCH="--only key"           one row; also: start, and the keys in works.py
    make bench BENCH="--peers Salver"       without a peer (no ratios)

Absolute numbers depend on the machine and on what else it does; the ratios are what counts. Raw numbers go to
bench/results.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import data
import load
import report
import works
from peers import Request, Roapi, Salver

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".bench"
HEALTH = Request("/health")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--salver", type=Path, default=ROOT / "target/release/salver", help="the binary")
    parser.add_argument("--roapi", type=Path, default=Path(sys.executable).parent / "roapi", help="the binary")
    parser.add_argument("--peers", default="Salver,ROAPI", help="whom to measure")
    parser.add_argument("--only", default="", help="comma-separated keys of the rows to measure")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each server on each row")
    parser.add_argument("--seconds", type=int, default=5, help="length of one turn")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    wanted = [key for key in options.only.split(",") if key]
    chosen = lambda key: not wanted or key in wanted
    SCRATCH.mkdir(exist_ok=True)
    every = {"Salver": lambda: Salver(SCRATCH / "salver.log", options.salver.resolve()),
             "ROAPI": lambda: Roapi(SCRATCH / "roapi.log", options.roapi.resolve())}
    names = options.peers.split(",")
    results = report.Results(names, {name: every[name]().version() for name in names}, options.rounds, options.seconds)
    small = [work for work in works.SMALL if chosen(work.key)]
    large = [work for work in works.LARGE if chosen(work.key)]
    if small or large:
        tables = {"uk_cities": ROOT / "examples/demo/data/uk_cities.csv",
                  "orders": data.orders(SCRATCH / "data", 1_000_000)}
        peers = [every[name]() for name in names]
        try:
            for peer in peers:
                peer.start(tables, {"orders": "id"}, ready=Request("/api/tables/orders?limit=1"))
                results.memory(peer, "two tables (37 and 1 M rows), idle")
            measure_small(peers, small, results, options)
            measure_large(peers, large, results, options)
            for peer in peers:
                results.memory(peer, "two tables, after all of the above")
        finally:
            for peer in peers:
                peer.stop()
    if chosen("start"):
        measure_start(every, names, results, options)
    print(results.save(ROOT / "bench/results"))
    return 1 if results.wrong else 0


def measure_small(peers, small, results, options) -> None:
    # Numbers never come twice in one run of the program, whoever is asked.
    start = 1
    for work in small:
        note(work.name)
        check_small(peers, work, results)
        rounds = {peer.name: [] for peer in peers}
        rounds["/health"] = []
        for _ in range(options.rounds):
            for peer in peers:
                rounds[peer.name].append(load.wrk(peer, work.request, options.seconds, work.connections, start))
                start += 50_000_000
            if peers[0].name == "Salver" and work.of_health:
                rounds["/health"].append(load.wrk(peers[0], HEALTH, options.seconds, work.connections, 0))
        results.small(work, rounds)


def check_small(peers, work, results) -> None:
    """Both must answer, and the same, before their speed means anything."""
    for n, m in [(1, 7), (123_456_789, 999_999), (999_999_999, 500_000)]:
        answers = [peer.ask(work.request.with_numbers(n=f"{n:09}", m=m)) for peer in peers]
        for peer, (status, _, body) in zip(peers, answers):
            if status != 200:
                results.fault(f"{work.key}: {peer.name} answers {status}: {body[:300]!r}")
        for (status, _, body), peer in zip(answers[1:], peers[1:]):
            if why := works.same_rows(answers[0][2], body):
                results.fault(f"{work.key}: {peers[0].name} and {peer.name} differ: {why}")


def measure_large(peers, large, results, options) -> None:
    for work in large:
        note(work.name)
        bodies = [peer.ask(work.request)[2] for peer in peers]
        for body, peer in zip(bodies[1:], peers[1:]):
            if why := works.same_table(bodies[0], body, 1_000_000, work.arrow):
                results.fault(f"{work.key}: {peers[0].name} and {peer.name} differ: {why}")
        del bodies
        rounds = {peer.name: [] for peer in peers}
        for _ in range(options.rounds):
            for peer in peers:
                rounds[peer.name].append(load.download(peer, work.request))
        results.large(work, rounds)


def measure_start(every, names, results, options) -> None:
    """From exec to the first 200 on ten million rows, and the memory of a server that nobody asks any more."""
    note("10 M-row Parquet: exec to first 200")
    path = data.orders(SCRATCH / "data", 10_000_000)
    path.read_bytes()  # so that none of them has to wait for the disk
    kinds = [(name, name, {}) for name in names]
    if "ROAPI" in names:
        kinds = [(label, name, settings) for label, name, settings in kinds if name != "ROAPI"]
        kinds += [("ROAPI as it comes (all in memory)", "ROAPI", {"in_memory": True})]
        kinds += [("ROAPI with use_memory_table=false", "ROAPI", {"in_memory": False})]
    seconds = {label: [] for label, _, _ in kinds}
    memory = {label: [] for label, _, _ in kinds}
    for _ in range(options.rounds):
        for label, name, settings in kinds:
            peer = every[name]()
            try:
                ready = Request("/api/tables/orders?columns=id&limit=1")
                seconds[label].append(peer.start({"orders": path}, {}, ready, **settings))
                time.sleep(3)
                memory[label].append(peer.memory_mb())
            finally:
                peer.stop()
    results.start({label: statistics.median(values) for label, values in seconds.items()},
                  {label: statistics.median(values) for label, values in memory.items()})


def note(text: str) -> None:
    print(f"measuring {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
