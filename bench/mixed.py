"""Ten clients at once, whose statements are small and large: eight ask for single rows and small groups, two for
TPC-H's queries, one after the other, for as long as it takes. The same statements go to Salver over HTTP and, by as
many threads, to DuckDB in one process."""

import http.client
import random
import statistics
import sys
import threading
import time
from pathlib import Path
from typing import Callable

SMALL_CLIENTS = 8
LARGE_CLIENTS = 2
CUSTOMERS, ORDERS, PARTS = 150_000, 1_500_000, 200_000
QUERIES = sorted((Path(__file__).resolve().parent / "sql/tpch").glob("*.sql"))


def small(dice: random.Random) -> str:
    """One of a few statements that a page of an application would ask."""
    customer, order, part = dice.randint(1, CUSTOMERS), dice.randint(1, ORDERS), dice.randint(1, PARTS)
    return dice.choice([
        f"select * from customer where c_custkey = {customer}",
        f"select o_orderkey, o_totalprice from orders where o_custkey = {customer} order by o_totalprice desc limit 5",
        f"select l_linestatus, count(*) from lineitem where l_orderkey = {order} group by l_linestatus",
        f"select p_name, p_retailprice from part where p_partkey between {part} and {part + 20} order by p_partkey",
        "select n_name, r_name from nation join region on n_regionkey = r_regionkey order by n_name",
    ])


class Load:
    """What the clients came to."""

    def __init__(self):
        self.small: list[float] = []
        self.large: list[float] = []
        self.failures: list[str] = []

    def run(self, connect: Callable[[], Callable[[str], None]], seconds: float) -> None:
        """Starts the clients, each with what `connect` makes it: a function that runs a statement."""
        until = time.monotonic() + seconds
        clients = [threading.Thread(target=self.client, args=(connect(), number, until))
                   for number in range(SMALL_CLIENTS + LARGE_CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()

    def client(self, ask: Callable[[str], None], number: int, until: float) -> None:
        dice = random.Random(number)
        is_large = number >= SMALL_CLIENTS
        at = number * 7
        while time.monotonic() < until:
            # A comment makes each statement a new one: answers of Salver's are kept.
            text = QUERIES[at % len(QUERIES)].read_text() if is_large else small(dice)
            at += 1
            started = time.perf_counter()
            try:
                ask(f"{text} -- {number} {at}")
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                continue
            (self.large if is_large else self.small).append(time.perf_counter() - started)

    def told(self) -> dict:
        at = statistics.quantiles(self.small, n=100) if len(self.small) > 1 else [0.0] * 99
        return {"small": len(self.small), "large": len(self.large), "failures": self.failures[:5],
                "failed": len(self.failures), "p50_ms": at[49] * 1000, "p99_ms": at[98] * 1000}


def over_http(port: int) -> Callable[[], Callable[[str], None]]:
    """Clients of a Salver server."""
    def connect() -> Callable[[str], None]:
        connection = http.client.HTTPConnection("127.0.0.1", port)

        def ask(text: str) -> None:
            connection.request("POST", "/api/sql", text.encode(),
                               {"content-type": "application/sql", "accept": "application/vnd.apache.arrow.stream"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{answer.status} {body[:200]!r}")
        return ask
    return connect


def main() -> None:
    """Runs the load on DuckDB, and prints what it came to. Arguments: seconds, and NAME=FILE of each table."""
    import json

    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 2")
    for table in sys.argv[2:]:
        name, file = table.split("=", 1)
        database.execute(f"CREATE VIEW {name} AS SELECT * FROM '{file}'")

    def connect() -> Callable[[str], None]:
        cursor = database.cursor()
        return lambda text: cursor.sql(text).to_arrow_table()

    load = Load()
    load.run(connect, float(sys.argv[1]))
    print(json.dumps(load.told()))


if __name__ == "__main__":
    main()
