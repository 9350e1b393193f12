"""What functions are measured against: plumber, FastAPI on uvicorn, and R by itself in a loop."""

import subprocess
import sys
from pathlib import Path

from databases import program, run
from peers import Peer

FILES = Path(__file__).resolve().parent / "peers/functions"


class Plumber(Peer):
    name = "plumber"

    def command(self, tables, keys, **options):
        return [program("Rscript"), str(FILES / "plumber.R"), str(self.port)], {}

    def version(self) -> str:
        said = run([program("Rscript"), "-e", "cat(format(packageVersion('plumber')), R.version$minor)"])
        plumber, minor = said.split()
        return f"{plumber} (R 4.{minor})"


class FastApi(Peer):
    """Two workers, without a line of log for each request."""

    name = "FastAPI"

    def command(self, tables, keys, **options):
        return [str(Path(sys.executable).parent / "uvicorn"), "--app-dir", str(FILES), "--host", "127.0.0.1", "--port",
                str(self.port), "--workers", "2", "--log-level", "error", "--no-access-log", "fastapi_app:app"], {}

    def version(self) -> str:
        words = "import fastapi, uvicorn; print(fastapi.__version__, uvicorn.__version__)"
        fastapi, uvicorn = run([sys.executable, "-c", words]).split()
        return f"{fastapi} (uvicorn {uvicorn})"


def looped(n: int, seconds: int, processes: int) -> float:
    """Calls a second of the recursive function by so many R processes at the same time."""
    command = [program("Rscript"), str(FILES / "loop.R"), str(n), str(seconds)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    return sum(float(process.communicate()[0]) for process in started)


def over_column(file: str, numbers: Path) -> tuple[float, int]:
    """The seconds R takes to call the function of a file for each of the numbers, and the sum of what it gives."""
    seconds, total = run([program("Rscript"), str(FILES / file), str(numbers)]).split()
    return float(seconds), int(float(total))
