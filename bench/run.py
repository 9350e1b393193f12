"""Measures Salver against its peers on the same data, in turns, in one run, and prints its tables.

    make bench                                everything
    make bench BENCH="--seconds 2"            shorter rounds
    make bench BENCH="--only records"         one table: datasets, records, streams, exports,
                                              functions, guards, browser, wires or engine
    make bench BENCH="--only key,load-sqlite" single rows; their keys are in works.py (and: start), record_works.py,
                                              stream_works.py (and: count), export_works.py,
                                              function_works.py, guards.py (and: crowd), browser.py,
                                              wires.py and engine.py
    make bench BENCH="--peers Salver"         without a peer (no ratios)

Absolute numbers depend on the machine and on what else it does; the ratios are what counts. Raw numbers go to
bench/results.
"""

import argparse
import sys
from pathlib import Path

import browser
import datasets
import engine
import exports
import functions
import guards
import records
import report
import streams
import wires

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".bench"
PEERS = "Salver,ROAPI,Python,PocketBase,pgbench,loader,founding,producer,DuckDB,chDB,plumber,FastAPI"
TABLES = {"datasets": datasets, "records": records, "streams": streams, "exports": exports,
          "functions": functions, "guards": guards, "browser": browser, "wires": wires, "engine": engine}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--salver", type=Path, default=ROOT / "target/release/salver", help="the binary")
    parser.add_argument("--roapi", type=Path, default=Path(sys.executable).parent / "roapi", help="the binary")
    parser.add_argument("--peers", default=PEERS, help="whom to measure")
    parser.add_argument("--only", default=",".join(TABLES), help="comma-separated tables, or keys of rows")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each server on each row")
    parser.add_argument("--seconds", type=int, default=5, help="length of one turn")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    wanted = {key for word in options.only.split(",") for key in (TABLES[word].keys() if word in TABLES else [word])}
    if unknown := wanted - {key for table in TABLES.values() for key in table.keys()}:
        where = ("works.py, record_works.py, stream_works.py, export_works.py, function_works.py, guards.py,"
                 " browser.py, wires.py or engine.py")
        raise SystemExit(f"no row is called {', '.join(sorted(unknown))}; see {where}")
    SCRATCH.mkdir(exist_ok=True)
    results = report.Results(options.rounds, options.seconds)
    for table in TABLES.values():
        if wanted & set(table.keys()):
            table.measure(options, options.peers.split(","), wanted.__contains__, results, SCRATCH)
    print(results.save(ROOT / "bench/results"))
    return 1 if results.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
