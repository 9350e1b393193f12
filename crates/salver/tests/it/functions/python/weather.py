"""Coroutines that wait for one another."""

import asyncio
from typing import List

STATIONS = {"north": 3.5, "south": 18.25, "east": None}


async def measured(station: str) -> float:
    await asyncio.sleep(0)
    return STATIONS[station]


async def report(stations: List[str]):
    values = await asyncio.gather(*(measured(station) for station in stations), return_exceptions=True)
    return {name: None if isinstance(value, Exception) else value for name, value in zip(stations, values)}


async def warmest() -> str:
    known = {name: value for name, value in STATIONS.items() if value is not None}
    async with asyncio.Lock():
        return max(known, key=known.get)


async def patient(seconds: float = 0.0):
    try:
        return await asyncio.wait_for(asyncio.Event().wait(), seconds)
    except asyncio.TimeoutError:
        return "nobody came"
