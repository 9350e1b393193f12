"""A crowd of clients: idle connections, slow ones, and one that asks more often than it may.

    python crowd.py PORT IDLE SLOW KEY

Prints a line when all are there, and when it is terminated how the flood was answered.
"""

import asyncio
import collections
import random
import resource
import signal
import sys

FLOOD_CONNECTIONS = 20
# Requests of a connection of the flood, at most: the crowd must not take the processors of the server.
FLOOD_EVERY_S = 0.01


async def idle(port: int, source: str):
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))


async def slow(port: int) -> None:
    """One byte of a head each second."""
    head = b"GET /api/tables/orders?limit=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: " + b"x" * 10_000
    # Clients elsewhere don't all send at the same moment of each second.
    await asyncio.sleep(random.random())
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.3", 0))
            for byte in head:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            await asyncio.sleep(0.1)


async def flood(port: int, key: str, statuses: collections.Counter) -> None:
    request = f"GET /api/tables/orders?limit=1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: {key}\r\n\r\n".encode()
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.4", 0))
            while True:
                writer.write(request)
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
                await reader.readexactly(int(length.split(":")[1]))
                statuses[head.split()[1]] += 1
                await asyncio.sleep(FLOOD_EVERY_S)
        except (OSError, asyncio.IncompleteReadError):
            statuses["closed"] += 1
            await asyncio.sleep(FLOOD_EVERY_S)


async def main() -> None:
    port, idle_count, slow_count, key = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    kept, refused = [], 0
    for _ in range(idle_count):
        try:
            kept.append(await idle(port, "127.0.0.2"))
        except OSError:
            refused += 1
    statuses: collections.Counter = collections.Counter()
    tasks = [asyncio.create_task(slow(port)) for _ in range(slow_count)]
    tasks += [asyncio.create_task(flood(port, key, statuses)) for _ in range(FLOOD_CONNECTIONS)]
    await asyncio.sleep(2)
    print(f"{len(kept)} idle connections ({refused} refused), {slow_count} slow ones and a flood", flush=True)
    await ended.wait()
    for task in tasks:
        task.cancel()
    print(", ".join(f"{count} x {status}" for status, count in sorted(statuses.items())), flush=True)


asyncio.run(main())
