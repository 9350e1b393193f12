"""Measures datasets: Salver and ROAPI on the same files, in turns."""

import statistics
import sys
import time
from pathlib import Path

import data
import load
import works
from peers import Request, Roapi, Salver

HEALTH = Request("/health")
TITLE = "Datasets: against ROAPI"
NOTE = "50 connections."


def keys() -> list[str]:
    return [work.key for work in works.SMALL + works.LARGE] + ["start"]


def measure(options, names, chosen, results, scratch: Path) -> None:
    every = {"Salver": lambda: Salver(scratch / "salver.log", options.salver.resolve()),
             "ROAPI": lambda: Roapi(scratch / "roapi.log", options.roapi.resolve())}
    names = [name for name in names if name in every]
    results.section(TITLE, NOTE)
    results.versions |= {name: every[name]().version() for name in names}
    small = [work for work in works.SMALL if chosen(work.key)]
    large = [work for work in works.LARGE if chosen(work.key)]
    if small or large:
        tables = {"uk_cities": Path(__file__).resolve().parent.parent / "examples/demo/data/uk_cities.csv",
                  "orders": data.orders(scratch / "data", 1_000_000)}
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
        measure_start(every, names, results, options, scratch)


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
    for n in (1, 123_456_789, 999_999_999):
        answers = [peer.ask(work.request.numbered(n)) for peer in peers]
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


def measure_start(every, names, results, options, scratch) -> None:
    """From exec to the first 200 on ten million rows, and the memory of a server that nobody asks any more."""
    note("10 M-row Parquet: exec to first 200")
    path = data.orders(scratch / "data", 10_000_000)
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
