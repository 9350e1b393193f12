"""Measures what keeps a server safe: Salver with access rules or TLS beside itself without them, in turns, and what
crowds of clients cost another one."""

import json
import sqlite3
import statistics
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import data
import load
import works
from peers import Request, Salver
from report import latency

ROOT = Path(__file__).resolve().parent.parent
TITLE = "Guards: beside the same server without them"
NOTE = "The peer is Salver without the guard. The ratio is the median of the rounds' ratios; each round has four turns."
POSTS = 100_000
RULES = 100
KEY = "a-key-of-more-than-sixteen-characters"
IDLE, SLOW = 10_000, 2_000
PACED = 2_000


@dataclass(frozen=True)
class Guard:
    """A request to a server with a guard and to one without."""

    key: str
    name: str
    guard: str
    request: Request
    target: float
    connections: int = 50


SEED = next(work.request for work in works.SMALL if work.key == "rest-seed")
LOOK_UP = next(work.request for work in works.SMALL if work.key == "key")
READ = Request("/api/records/posts/{of50000}")
GUARDS = [
    Guard("access-seed", f"the seed URL under {RULES} access rules", "access", SEED, 0.95),
    Guard("access-key", f"key look-ups in a file under {RULES} access rules", "access", LOOK_UP, 0.95),
    Guard("access-read", f"records by key (SQLite) under {RULES} access rules", "access", READ, 0.95, 16),
    Guard("tls-seed", "the seed URL over TLS, kept connections", "tls", SEED, 0.65),
    Guard("metrics-seed", "the seed URL while `/metrics` is read each second", "metrics", SEED, 0.97),
]


def keys() -> list[str]:
    return [guard.key for guard in GUARDS] + ["crowd"]


def measure(options, names, chosen, results, scratch: Path) -> None:
    if "Salver" not in names or not any(map(chosen, keys())):
        return
    results.section(TITLE, NOTE)
    results.versions |= {"Salver": Salver(scratch / "salver.log", options.salver.resolve()).version()}
    home = scratch / "guards"
    home.mkdir(exist_ok=True)
    posts(home / "posts.db")
    for guard in filter(lambda guard: chosen(guard.key), GUARDS):
        note(guard.name)
        pair = {"Salver": serve(options, home, guard.guard), "without": serve(options, home, "")}
        ended = threading.Event()
        if guard.guard == "metrics":
            threading.Thread(target=scrape, args=(pair["Salver"], ended), daemon=True).start()
        try:
            rounds, ratios = in_turns(pair, guard, options, results)
        finally:
            ended.set()
            for peer in pair.values():
                peer.stop()
        report(results, guard, rounds, ratios)
    if chosen("crowd"):
        note("a crowd of clients")
        crowd(options, home, results)


def scrape(peer: Salver, ended: threading.Event) -> None:
    """Reads the measurements as Prometheus does, and more often than it does by default."""
    while not ended.wait(1):
        peer.ask(Request("/metrics", None, {"X-API-Key": KEY}))


def posts(path: Path) -> None:
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.execute("create table posts (id integer primary key, title text, content text, views integer)")
        rows = ((at, f"post {at}", "some text of a usual length, as posts have it", at % 977)
                for at in range(1, POSTS + 1))
        database.executemany("insert into posts values (?, ?, ?, ?)", rows)
    database.close()


def serve(options, home: Path, guard: str, more: str = "") -> Salver:
    """A server with a guard. Its callers are known by keys, so that only the guard differs."""
    tables = {"uk_cities": ROOT / "examples/demo/data/uk_cities.csv",
              "orders": data.orders(ROOT / ".bench/data", 1_000_000)}
    text = f'[auth]\nmode = "optional"\napi_keys = ["bench:{KEY}", "flood:{KEY}-flood"]\n' + more
    peer = Salver(home / f"salver-{guard or 'plain'}.log", options.salver.resolve())
    if guard == "tls":
        certificate, key = home / "cert.pem", home / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        text += f'[server]\ntls_certificate = "{certificate}"\ntls_key = "{key}"\n'
        peer.scheme = "https"
    if guard == "access":
        text += rules()
    peer.start(tables, {"orders": "id"}, ready=Request("/ready"), databases={"shop": f"sqlite:{home / 'posts.db'}"},
               more=text)
    return peer


def rules() -> str:
    """Rules as a server with many teams has them: the last is about the caller."""
    text = ""
    for number in range(RULES - 1):
        text += (f'[[role]]\nname = "team{number}"\nwhen = "caller.team = \'{number}\'"\n'
                 f'[[access]]\nroles = ["team{number}"]\nentries = ["team{number}_*", "shop.team{number}_*"]\n'
                 f'columns_hidden = ["secret"]\nrows = "owner = caller.user"\n')
    everything = json.dumps(["read", "sql", "export"])
    return text + (f'[[role]]\nname = "bench"\ncallers = ["api_key:bench"]\n[[access]]\nroles = ["bench"]\n'
                   f'entries = ["*"]\npermissions = {everything}\n')


def in_turns(pair, guard: Guard, options, results):
    """Rounds of four turns, without and with: see turns.py for why."""
    request = Request(guard.request.path, guard.request.body, {**guard.request.headers, "X-API-Key": KEY},
                      guard.request.method)
    rounds, ratios, start = {name: [] for name in pair}, [], 1
    for name, peer in pair.items():
        status, _, body = peer.ask(request.numbered(1))
        if status != 200:
            results.fault(f"{guard.key}: {name} answers {status}: {body[:300]!r}")
        load.wrk(peer, request, 1, guard.connections, start)
        start += 50_000_000
    for turn in range(2 * options.rounds):
        order = ["without", "Salver", "Salver", "without"]
        for name in order if turn % 2 == 0 else reversed(order):
            rounds[name].append(load.wrk(pair[name], request, max(1, options.seconds // 2), guard.connections, start))
            start += 50_000_000
        with_, without = (sum(done.per_second for done in rounds[name][-2:]) for name in pair)
        ratios.append(with_ / without)
    return rounds, ratios


def report(results, guard: Guard, rounds, ratios) -> None:
    results.keep("guards", guard.key, {"ratios": ratios, **{name: [done.per_second for done in all_]
                                                            for name, all_ in rounds.items()}})
    results.failed(guard.key, rounds)
    ours, theirs = (statistics.median(done.per_second for done in rounds[name]) for name in ("Salver", "without"))
    results.row(guard.name, f"{ours:,.0f}/s", f"{theirs:,.0f}/s (without)", statistics.median(ratios), guard.target,
                latency(rounds["Salver"]), latency(rounds["without"]), key=guard.key)


def note(text: str) -> None:
    print(f"measuring {text}", file=sys.stderr, flush=True)


def crowd_rounds(peer: Salver, request: Request, options, first: int):
    """Rounds of a caller that asks about `PACED` times a second, and of one that asks as often as it is answered: its
    p99 is the time for which the kernel lets others run on processors that are never free."""
    starts = [(first + at) * 50_000_000 for at in range(options.rounds)]
    return [[load.wrk(peer, request, options.seconds, 8, start, every_ms) for start in starts]
            for every_ms in (8_000 // PACED, 0)]


def crowd(options, home: Path, results) -> None:
    """A caller beside ten thousand idle connections, two thousand slow ones and a flood over its rate limit."""
    limit = ('[[role]]\nname = "flood"\ncallers = ["api_key:flood"]\n'
             '[[limit]]\nroles = ["flood"]\nrequests_per_second = 100\n'
             f'[limits]\nconnections_max = {IDLE + SLOW + 1000}\n')
    peer = serve(options, home, "crowd", limit)
    request = Request(LOOK_UP.path, None, {"X-API-Key": KEY})
    try:
        load.wrk(peer, request, 1, 8, 1)
        alone = crowd_rounds(peer, request, options, 1)
        memory = peer.memory_mb()
        # The crowd's own processor time is not the server's: as clients elsewhere, it takes what is left. A nice
        # process would still hold a processor for milliseconds once it has it.
        command = ["chrt", "--idle", "0", sys.executable, Path(__file__).parent / "crowd.py"]
        client = subprocess.Popen([*command, str(peer.port), str(IDLE), str(SLOW), f"{KEY}-flood"],
                                  stdout=subprocess.PIPE, text=True)
        try:
            opened = client.stdout.readline().strip()
            beside = crowd_rounds(peer, request, options, 20)
        finally:
            client.terminate()
            said = client.communicate()[0].strip().splitlines()
        results.keep("guards", "crowd", {"opened": opened, "flood": said, "memory_mb": [memory, peer.memory_mb()]})
        results.failed("crowd", {"Salver": [done for all_ in (alone, beside) for rounds in all_ for done in rounds]})
        (before, flat_out), (during, flat_out_beside) = (
            (statistics.median(done.p99_ms for done in paced), statistics.median(done.per_second for done in full))
            for paced, full in (alone, beside))
        results.row(f"p99 of a caller beside {opened}; flood: {said[-1] if said else ''}", f"{during:.2f} ms",
                    f"{before:.2f} ms (alone)", during / before, "<= 2 x", met=during <= 2 * before, key="crowd")
        results.row("the same: a caller that never waits", f"{flat_out_beside:,.0f}/s", f"{flat_out:,.0f}/s (alone)",
                    flat_out_beside / flat_out, None, key="crowd")
        results.row("the same: memory of the server", f"{peer.memory_mb('VmHWM'):.0f} MB", f"{memory:.0f} MB (before)",
                    None, None, key="crowd")
    finally:
        peer.stop()
