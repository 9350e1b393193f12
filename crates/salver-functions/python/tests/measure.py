"""Measures calls a second of one worker: `python3 measure.py [SECONDS]`.

Frames are sent in blocks of several calls, so that this client costs next to nothing and the worker never waits: what
is measured is what a call costs the worker. Beside it stands the same one call at a time, and the worker's CPU time.
"""

import os
import sys
import time

from served import Served, call_frame

SOURCE = """
def double(n: int) -> int:
    return 2 * n

def scale(x: float = 1.0) -> float:
    return 0.5 * x

def greet(name: str) -> str:
    return "Hello " + name

def row(n: int) -> dict:
    return {"n": n, "name": "row", "list": [1, 2, 3]}

def seen(request, n: int):
    return n

async def later(n: int) -> int:
    return n
"""
CALLS = [
    (0, {"n": 21}), (1, {"x": 2.5}), (2, {"name": "World"}), (3, {"n": 1}), (4, {"n": 1}), (5, {"n": 1}),
]
BROWSER = [(f"x-field-{index}", "some value of a header field") for index in range(12)]
BLOCK = 64


def cpu_seconds(process):
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(worker, block, answers_bytes, seconds):
    """Calls, seconds and CPU seconds."""
    send, receive = worker.connection.sendall, worker.connection.recv_into
    buffer = memoryview(bytearray(1 << 20))
    count, cpu, begin = 0, cpu_seconds(worker.process), time.perf_counter()
    while time.perf_counter() - begin < seconds:
        send(block)
        missing = answers_bytes
        while missing:
            missing -= receive(buffer[:missing])
        count += 1
    return count, time.perf_counter() - begin, cpu_seconds(worker.process) - cpu


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2
    with Served(SOURCE) as served:
        names = [endpoint["function"] for endpoint in served.offer()["endpoints"]]
        worker = served.worker()
        for headers in ((), BROWSER):
            for endpoint, arguments in CALLS:
                one = call_frame(endpoint, arguments, path="/api/functions/sample/" + names[endpoint], headers=headers)
                worker.connection.sendall(one)
                kind, payload = worker.read()
                assert kind == b"A", payload
                answer_bytes = 5 + len(payload)
                told = f"{names[endpoint]}, {len(headers)} header fields"
                for block in (BLOCK, 1):
                    count, took, cpu = measured(worker, one * block, answer_bytes * block, seconds)
                    calls = count * block
                    rate, cost_us = calls / took, 1e6 * cpu / calls
                    print(f"{told}, {block} in flight: {rate:,.0f} calls/s, {cost_us:.1f} us CPU a call")


if __name__ == "__main__":
    main()
