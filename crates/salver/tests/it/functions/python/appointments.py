"""Days, moments and keys."""

import uuid
from datetime import date, datetime, time, timedelta, timezone
from typing import List, Optional


def working_days(start: date, end: date, holidays: Optional[List[date]] = None) -> int:
    days = (start + timedelta(n) for n in range((end - start).days + 1))
    return sum(day.weekday() < 5 and day not in (holidays or []) for day in days)


def moved(when: datetime, by: timedelta = timedelta(hours=1)) -> datetime:
    return when + by


def in_utc(when: datetime) -> datetime:
    return when.astimezone(timezone.utc)


def opens(at: time) -> bool:
    return time(9) <= at < time(17, 30)


def key_of(name: str, space: uuid.UUID = uuid.NAMESPACE_URL) -> uuid.UUID:
    return uuid.uuid5(space, name)


def version(key: uuid.UUID) -> Optional[int]:
    return key.version
