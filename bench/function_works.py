"""What is measured of functions: each work with its request, its rivals and what it must reach."""

from dataclasses import dataclass, field

from peers import Request

FIB10 = Request("/fib?n=10")
HEALTH = Request("/health")
PYTHON = Request("/f?n=10")


@dataclass(frozen=True)
class Rival:
    """Whom a work is compared with, and how many times as fast Salver should be at least."""

    request: Request
    target: float | None


@dataclass(frozen=True)
class Called:
    """Many calls of one function."""

    key: str
    name: str
    file: str
    request: Request
    answer: str
    connections: tuple[int, ...]
    rivals: dict[str, Rival] = field(default_factory=dict)
    per_second: int | None = None
    of_health: float | None = None
    of_loop: float | None = None
    keep_alive: bool = True
    p99_ms_max: float | None = None
    # How many connections the targets are for; the others are for comparison.
    judged: int = 4

    @property
    def n(self) -> int:
        return int(self.request.path.rsplit("=", 1)[1])


@dataclass(frozen=True)
class Column:
    """One statement that calls a function for every row of a table, against R doing the same to a vector."""

    key: str
    name: str
    file: str
    rows: int
    request: Request
    check: Request
    times_max: float


def recursive(n: int, answer: int) -> Called:
    request = Request(f"/rec?n={n}")
    return Called(f"rec-{n}", f"recursive fib {n}, keep-alive", "restrserve.R", request, str(answer), (1, 2, 4),
                  {"plumber": Rival(request, None)}, of_loop=0.9, judged=2)


WORKS = [
    Called("fib-10", "fib 10, keep-alive", "restrserve.R", FIB10, "55", (1, 2, 4), {"plumber": Rival(FIB10, None)},
           per_second=20_000),
    Called("fib-10-new", "fib 10, a new connection for each request (ab)", "restrserve.R", FIB10, "55", (4,),
           {"plumber": Rival(FIB10, None)}, of_health=0.6, keep_alive=False),
    recursive(15, 610),
    recursive(20, 6765),
    recursive(25, 75025),
    Called("fib-10-crowd", "fib 10", "restrserve.R", FIB10, "55", (256,), p99_ms_max=50, judged=256),
    Called("python", "Python `def f(n: int)`, keep-alive", "fib.py", PYTHON, "55", (4,),
           {"FastAPI": Rival(PYTHON, 5), "FastAPI async": Rival(Request("/f-async?n=10"), None)}, per_second=30_000),
]

SQL_FIB = Column("sql-fib", "`select fib(n) from` 1 M rows", "column.R", 1_000_000,
                 Request("/api/sql", "select fib(n) as f from numbers"),
                 Request("/api/sql", "select cast(sum(fib(n)) as bigint) as f from numbers"), 1.2)
