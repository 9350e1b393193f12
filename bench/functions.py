"""Measures functions: the founding text's service on Salver, plumber, FastAPI and R by itself, in turns."""

import json
import re
import subprocess
import sys
from pathlib import Path

import function_works as works
import load
from databases import Missing, program
from function_peers import FILES, FastApi, Plumber, looped, over_column
from peers import Request, Salver

TITLE = "Functions: against plumber, FastAPI, and R computing in a loop"
NOTE = """The founding text's service as it stands (RestRserve's interface, which Salver brings along), its recursive
function at n = 15, 20, 25, and a Python function; two processes each. plumber is one process, as it comes. "R in a
loop" is R calling the function by itself, without a server, in as many processes as there are connections, at most two:
the limit. In SQL a function is called for every row of a table, and R calls it for the same vector, by itself, with
vapply; Salver's time is that of the whole answer as JSON. New connections are made by ab, all others are kept by
wrk."""
PROCESSES = 2


def keys() -> list[str]:
    return [work.key for work in [*works.WORKS, works.SQL_FIB]]


def measure(options, names, chosen, results, scratch: Path) -> None:
    results.section(TITLE, NOTE.replace("\n", " "))
    for file in dict.fromkeys(work.file for work in works.WORKS if chosen(work.key)):
        chosen_here = [work for work in works.WORKS if work.file == file and chosen(work.key)]
        try:
            Measured(options, names, results, scratch, file, chosen_here).run()
        except (Missing, RuntimeError, SystemExit) as reason:
            results.fault(f"functions were not measured to the end: {reason}")
    if chosen(works.SQL_FIB.key) and "Salver" in names:
        over_columns(options, results, scratch, works.SQL_FIB)


def over_columns(options, results, scratch: Path, work) -> None:
    """One statement over a table, and the same vector in R, in turns."""
    print(f"measuring functions: {work.name}", file=sys.stderr, flush=True)
    numbers = scratch / "numbers.csv"
    numbers.write_text("n\n" + "".join(f"{row % 31}\n" for row in range(work.rows)))
    peer = Salver(scratch / "salver.log", options.salver.resolve())
    settings = {"file": str(FILES / work.file), "workers": PROCESSES, "workers_min": PROCESSES}
    seconds = {"Salver": [], "R": []}
    try:
        peer.start({"numbers": numbers}, ready=work.check, functions={"bench": settings})
        results.versions[peer.name] = peer.version()
        ours = json.loads(peer.ask(work.check)[2])[0]["f"]
        for _ in range(options.rounds):
            seconds["Salver"].append(load.download(peer, work.request)[0])
            took, total = over_column(work.file, numbers)
            seconds["R"].append(took)
            if ours != total:
                results.fault(f"{work.key}: Salver's sum is {ours}, and R's {total}")
        results.over_column(work, seconds)
        results.memory(peer, work.name)
    except (Missing, RuntimeError, SystemExit) as reason:
        results.fault(f"{work.key} was not measured to the end: {reason}")
    finally:
        peer.stop()


class Measured:
    """The works on one file."""

    def __init__(self, options, names, results, scratch, file, chosen):
        self.options, self.names, self.results, self.scratch = options, names, results, scratch
        self.file, self.works, self.peers = file, chosen, {}

    def run(self) -> None:
        try:
            self.start_peers()
            for work in self.works:
                print(f"measuring functions: {work.name}", file=sys.stderr, flush=True)
                self.called(work)
        finally:
            for peer in self.peers.values():
                peer.stop()

    def start_peers(self) -> None:
        log = lambda name: self.scratch / f"{name}.log"
        if "Salver" in self.names:
            peer = self.peers["Salver"] = Salver(log("salver"), self.options.salver.resolve())
            peer.start({}, ready=self.works[0].request,
                       functions={"bench": {"file": str(FILES / self.file), "workers": PROCESSES,
                                            "workers_min": PROCESSES}})
        rivals = {name.split()[0] for work in self.works for name in work.rivals} & set(self.names)
        for name, make in (("plumber", Plumber), ("FastAPI", FastApi)):
            if name in rivals:
                peer = self.peers[name] = make(log(name.lower()))
                peer.start({}, ready=self.works[0].rivals[name].request)
        for peer in self.peers.values():
            self.results.versions[peer.name] = peer.version()

    def called(self, work) -> None:
        asked = {"Salver": (self.peers.get("Salver"), work.request)}
        asked |= {name: (self.peers.get(name.split()[0]), rival.request) for name, rival in work.rivals.items()}
        asked = {name: (peer, request) for name, (peer, request) in asked.items() if peer}
        for name, (peer, request) in asked.items():
            status, _, body = peer.ask(request)
            if (status, body.decode()) != (200, work.answer):
                self.results.fault(f"{work.key}: {name} answers {status}: {body[:200]!r}")
        if work.of_health and "Salver" in self.peers:
            asked["/health"] = (self.peers["Salver"], works.HEALTH)
        for connections in work.connections:
            rounds = {name: [] for name in asked}
            for _ in range(self.options.rounds):
                for name, (peer, request) in asked.items():
                    rounds[name].append(self.round(work, peer, request, connections))
                if work.of_loop:
                    per_second = looped(work.n, self.options.seconds, min(connections, PROCESSES))
                    rounds.setdefault("R in a loop", []).append(load.Round(per_second, None, None))
            self.results.called(work, connections, rounds)
            if "Salver" in self.peers:
                self.results.memory(self.peers["Salver"], f"{work.name}; {connections} connections")

    def round(self, work, peer, request: Request, connections: int) -> load.Round:
        if work.keep_alive:
            return load.wrk(peer, request, self.options.seconds, connections, 0)
        return ab(peer, request, self.options.seconds, connections)


def ab(peer, request: Request, seconds: int, connections: int) -> load.Round:
    """One run of ab, which makes a new connection for each request."""
    url = f"http://127.0.0.1:{peer.port}{request.path}"
    command = [program("ab"), "-q", "-t", str(seconds), "-n", "10000000", "-c", str(connections), url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    number = lambda words: re.search(rf"^\s*{words}:?\s+([\d.]+)", done.stdout, re.MULTILINE)
    if not number("Requests per second"):
        raise SystemExit(f"ab failed: {done.stdout}{done.stderr}")
    failed = sum(int(float(found[1])) for found in (number("Failed requests"), number("Non-2xx responses")) if found)
    return load.Round(float(number("Requests per second")[1]), float(number("50%")[1]), float(number("99%")[1]),
                      failed, 0, int(float(number("Complete requests")[1])))
