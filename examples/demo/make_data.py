"""Makes the files of the demo that are not written by hand: launches, orders and stations.

The content is invented. The same script makes the same bytes, given the same releases of pyarrow and openpyxl:

    python3 -m venv /tmp/demo && /tmp/demo/bin/pip install pyarrow==26.0.1 openpyxl==3.1.5
    /tmp/demo/bin/python examples/demo/make_data.py
"""

import datetime as dt
import json
import random
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).parent / "data"
KNOWN_LAUNCH = ("600f9a8d8f798e2a4d5f979e", "Starlink-21 (v1.0)", "2021-03-14T10:01:00Z")


def launches(chance):
    """Launches as NDJSON, with a nested object, nulls and instants."""
    missions = ["Starlink", "Cargo", "Sentinel", "Relay", "Lunar Scout", "GeoComm"]
    rockets = ["falcon1", "falcon9", "falcon9", "falcon9", "falconheavy", "starship"]
    rows = []
    day = dt.datetime(2019, 1, 7, 12, 30, tzinfo=dt.timezone.utc)
    for number in range(1, 121):
        day += dt.timedelta(days=chance.randint(3, 21), minutes=chance.randint(0, 1439))
        rows.append(launch(chance, "%024x" % chance.getrandbits(96), f"{chance.choice(missions)}-{number}",
                           day.strftime("%Y-%m-%dT%H:%M:%SZ"), chance.choice(rockets), number))
    at = next(i for i, row in enumerate(rows) if row["date_utc"] > KNOWN_LAUNCH[2])
    rows.insert(at, launch(chance, *KNOWN_LAUNCH, "falcon9", 1000))
    with open(DATA / "launches.ndjson", "w") as out:
        for row in rows:
            out.write(json.dumps(row, separators=(",", ":")) + "\n")


def launch(chance, key, name, date, rocket, number):
    """One launch; the last ten are still to come."""
    planned = 110 < number < 1000
    success = None if planned else chance.random() < 0.93
    details = chance.choice([None, "Booster recovered at sea.", "Booster recovered on land.", "Night launch."])
    slug = name.lower().replace(" ", "-").replace("(", "").replace(")", "").replace(".", "-")
    links = {
        "webcast": None if planned else f"https://video.example/watch/{slug}",
        "article": f"https://news.example/{date[:4]}/{slug}" if chance.random() < 0.6 else None,
        "photos": [f"https://photos.example/{slug}/{i}.jpg" for i in range(chance.randint(0, 3))],
    }
    return {
        "id": key,
        "name": name,
        "date_utc": date,
        "rocket": rocket,
        "success": success,
        "payload_kg": None if chance.random() < 0.1 else round(chance.uniform(150, 16000), 1),
        "details": details,
        "links": links,
    }


def orders(chance):
    """Orders as Parquet, one file a month below year=/month=."""
    products = ["kettle", "lamp", "chair", "desk", "rug", "clock"]
    number = 1000
    for year, month in [(2025, 11), (2025, 12), (2026, 1), (2026, 2)]:
        rows = {"id": [], "customer": [], "product": [], "quantity": [], "price": [], "ordered_at": [], "note": []}
        for _ in range(60):
            number += 1
            rows["id"].append(number)
            rows["customer"].append(f"customer-{chance.randint(1, 25):02}")
            rows["product"].append(chance.choice(products))
            rows["quantity"].append(chance.randint(1, 5))
            rows["price"].append(f"{chance.randint(5, 400)}.{chance.choice(['00', '50', '95', '99'])}")
            rows["ordered_at"].append(dt.datetime(year, month, chance.randint(1, 28), chance.randint(0, 23),
                                                  chance.randint(0, 59), tzinfo=dt.timezone.utc))
            rows["note"].append(chance.choice([None, None, None, "gift", "leave with neighbour", "ring twice"]))
        table = pa.table({
            "id": pa.array(rows["id"], pa.int64()),
            "customer": pa.array(rows["customer"], pa.string()),
            "product": pa.array(rows["product"], pa.string()),
            "quantity": pa.array(rows["quantity"], pa.int32()),
            "price": pa.array([Decimal(price) for price in rows["price"]], pa.decimal128(10, 2)),
            "ordered_at": pa.array(rows["ordered_at"], pa.timestamp("ms", tz="UTC")),
            "note": pa.array(rows["note"], pa.string()),
        })
        folder = DATA / "orders" / f"year={year}" / f"month={month}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, folder / "orders.parquet", compression="zstd")


def stations():
    """A spreadsheet as people make them: a title, an empty row, then the table, beginning at B4."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Stations"
    sheet["A1"] = "Ground stations, as of January 2026"
    rows = [
        ("Station", "Country", "Dish m", "Online since", "Active"),
        ("Goonhilly", "United Kingdom", 32.0, dt.date(1962, 7, 11), True),
        ("Raisting", "Germany", 28.5, dt.date(1964, 10, 1), False),
        ("Kiruna", "Sweden", 15.0, dt.date(1990, 9, 14), True),
        ("Redu", "Belgium", 15.0, dt.date(1968, 1, 1), True),
        ("Maspalomas", "Spain", 15.0, dt.date(1984, 6, 2), True),
        ("Svalbard", "Norway", 13.0, dt.date(1997, 3, 8), True),
        ("Awarua", "New Zealand", 7.3, None, True),
    ]
    for down, row in enumerate(rows):
        for right, value in enumerate(row):
            sheet.cell(row=4 + down, column=2 + right, value=value)
    book.properties.created = book.properties.modified = dt.datetime(2026, 1, 15)
    book.save(DATA / "stations.xlsx")


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    launches(random.Random(1))
    orders(random.Random(2))
    stations()
