"""Makes a table of page views for the queries in bench/sql/hits: 105 columns with the types, shares of empty values,
numbers of different values and skew of a web counter's log, as ClickBench's table has them.

    python bench/hits.py ROWS FILE      writes FILE as Parquet

The same rows come out for the same number of rows.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

CHUNK_ROWS = 500_000
FIRST = np.datetime64("2024-07-01T00:00:00", "us")
SECONDS = 31 * 24 * 3600
WORDS = ("weather map news cat dog phone cheap buy film music game car house love free download photo video online "
         "russia moscow book price job school sport football recipe health travel hotel train ticket kids baby "
         "google search translate bank card credit garden flower paint shoes dress watch radio server").split()
HOSTS = ["www.google.com", "maps.google.com", "mail.example.org", "news.example.net"] + [
    f"{word}{n}.example.{end}" for n in range(40) for word in WORDS[:20] for end in ("com", "org", "net")]
PHONES = ["", "iPad", "iPhone 2", "N95", "A500", "Galaxy S", "Desire HD", "Lumia 800", "Xperia"] + [
    f"Model {n}" for n in range(150)]
# Small columns that are mostly one value: name, type, number of different values, share of the first one.
FLAGS = [
    ("java_enable", "int16", 2, 0.4), ("good_event", "int16", 1, 1), ("counter_class", "int16", 2, 0.9),
    ("os", "int16", 90, 0.3), ("user_agent", "int16", 60, 0.3), ("is_refresh", "int16", 2, 0.86),
    ("referer_category_id", "int16", 600, 0.5), ("referer_region_id", "int32", 2_500, 0.4),
    ("url_category_id", "int16", 550, 0.3), ("url_region_id", "int32", 2_400, 0.3),
    ("resolution_depth", "int16", 9, 0.1),
    ("flash_major", "int16", 10, 0.2), ("flash_minor", "int16", 5, 0.6), ("net_major", "int16", 6, 0.7),
    ("net_minor", "int16", 4, 0.7), ("user_agent_major", "int16", 60, 0.2), ("cookie_enable", "int16", 2, 0.02),
    ("javascript_enable", "int16", 2, 0.03), ("is_artifical", "int16", 2, 0.99), ("client_time_zone", "int16", 60, 0.3),
    ("silverlight_version1", "int16", 5, 0.5), ("silverlight_version2", "int16", 3, 0.9),
    ("silverlight_version3", "int32", 30, 0.5), ("silverlight_version4", "int16", 5, 0.9),
    ("code_version", "int32", 200, 0.2), ("is_link", "int16", 2, 0.93), ("is_download", "int16", 2, 0.995),
    ("is_not_bounce", "int16", 2, 0.2), ("is_old_counter", "int16", 2, 0.999), ("is_event", "int16", 2, 0.99),
    ("is_parameter", "int16", 2, 0.99), ("dont_count_hits", "int16", 2, 0.95), ("with_hash", "int16", 2, 0.99),
    ("age", "int16", 6, 0.3), ("sex", "int16", 3, 0.3), ("income", "int16", 4, 0.3), ("interests", "int16", 7_000, 0.4),
    ("robotness", "int16", 6, 0.8), ("window_name", "int32", 4_000, 0.5), ("opener_name", "int32", 2_000, 0.6),
    ("history_length", "int16", 120, 0.3), ("http_error", "int16", 2, 0.999), ("send_timing", "int32", 20_000, 0.5),
    ("dns_timing", "int32", 10_000, 0.6), ("connect_timing", "int32", 15_000, 0.5),
    ("response_start_timing", "int32", 20_000, 0.4), ("response_end_timing", "int32", 20_000, 0.4),
    ("fetch_timing", "int32", 30_000, 0.4), ("social_source_network_id", "int16", 5, 0.99),
    ("param_currency_id", "int16", 3, 0.99), ("has_gclid", "int16", 2, 0.99), ("clid", "int32", 1_000, 0.95),
    ("param_price", "int64", 10_000, 0.995)]
# Texts that are mostly empty: name, number of different values, share of the empty one.
RARE = [("flash_minor2", 60, 0.5), ("user_agent_minor", 80, 0.2), ("params", 5_000, 0.98), ("page_charset", 12, 0.3),
        ("browser_language", 70, 0.1), ("browser_country", 150, 0.1), ("social_network", 12, 0.999),
        ("social_action", 12, 0.999), ("social_source_page", 2_000, 0.995), ("param_order_id", 9_000, 0.999),
        ("param_currency", 4, 0.9), ("openstat_service_name", 20, 0.995), ("openstat_campaign_id", 900, 0.995),
        ("openstat_ad_id", 900, 0.995), ("openstat_source_id", 300, 0.995), ("utm_source", 200, 0.97),
        ("utm_medium", 50, 0.97), ("utm_campaign", 900, 0.97), ("utm_content", 900, 0.98), ("utm_term", 2_000, 0.98),
        ("from_tag", 300, 0.98), ("hit_color", 5, 0.6)]


def skewed(random, rows: int, values: int, power: float = 3.0) -> np.ndarray:
    """Numbers from 0 to `values` - 1, the small ones far more often."""
    return (values * random.random(rows) ** power).astype(np.int64)


def mostly(random, rows: int, values: int, first: float) -> np.ndarray:
    """Zero with the probability `first`, else a skewed number below `values`."""
    others = 1 + skewed(random, rows, max(values - 1, 1))
    return np.where(random.random(rows) < first, 0, others if values > 1 else 0)


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Spreads numbers over 63 bits, as hashes are (the finalizer of SplitMix64)."""
    with np.errstate(over="ignore"):
        n = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        n = (n ^ (n >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        n = (n ^ (n >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((n ^ (n >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)


def texts(numbers: np.ndarray, *parts) -> pa.Array:
    """Joins parts to one text for each number; a part is a text, a list to choose from, or a divisor of the number."""
    pieces = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(pa.scalar(part))
        elif isinstance(part, list):
            pieces.append(pa.array(part).take(pa.array(mixed(numbers + len(pieces)) % len(part))))
        else:
            pieces.append(pc.cast(pa.array(numbers // part), pa.string()))
    return pc.binary_join_element_wise(*pieces, "")


def unless(is_empty: np.ndarray, array: pa.Array) -> pa.Array:
    return pc.if_else(pa.array(is_empty), pa.scalar(""), array)


def chunk(random, start: int, rows: int, total: int) -> pa.Table:
    """The rows from `start` on, which are so many seconds of the month as they are rows of the table."""
    columns: dict[str, pa.Array] = {}
    at = (start + np.arange(rows)) / total * SECONDS
    time = FIRST + at.astype("timedelta64[s]").astype("timedelta64[us]")
    users = skewed(random, rows, max(total // 6, 10), 1.6)
    pages = skewed(random, rows, max(total // 5, 10), 2.2)
    sources = skewed(random, rows, max(total // 5, 10), 2.2)
    phrases = skewed(random, rows, max(total // 16, 10), 1.5)
    columns["watch_id"] = pa.array(mixed(start + np.arange(rows)))
    titles = texts(pages // 3, WORDS, " ", WORDS, " - ", WORDS, " page ", 40)
    columns["title"] = unless(random.random(rows) < 0.15, titles)
    columns["event_time"] = pa.array(time)
    columns["event_date"] = pa.array(time.astype("datetime64[D]"))
    columns["counter_id"] = pa.array(skewed(random, rows, 6_500, 5.0) + 38, pa.int32())
    columns["client_ip"] = pa.array((mixed(users // 2) % (2**32 - 16) - 2**31 + 8).astype(np.int32))
    columns["region_id"] = pa.array(skewed(random, rows, 9_000, 4.0).astype(np.int32))
    columns["user_id"] = pa.array(mixed(users))
    columns["url"] = texts(pages, "http://", HOSTS, "/", WORDS, "/", 7, "?id=", 1)
    columns["referer"] = unless(random.random(rows) < 0.2, texts(sources, "http://", HOSTS, "/", WORDS, "?q=", 3))
    columns["resolution_width"] = pa.array(skewed(random, rows, 1_900, 0.5).astype(np.int16))
    columns["resolution_height"] = pa.array(skewed(random, rows, 1_200, 0.5).astype(np.int16))
    is_mobile = random.random(rows) < 0.06
    columns["is_mobile"] = pa.array(is_mobile.astype(np.int16))
    phones = np.where(is_mobile, 1 + skewed(random, rows, len(PHONES) - 1), 0)
    columns["mobile_phone"] = pa.array((phones % 90).astype(np.int16))
    columns["mobile_phone_model"] = pa.array(PHONES).take(pa.array(phones))
    columns["ip_network_id"] = pa.array((mixed(users // 40) % 2**22).astype(np.int32))
    has_phrase = random.random(rows) < 0.13
    columns["trafic_source_id"] = pa.array((mostly(random, rows, 11, 0.5) - 1).astype(np.int16))
    columns["search_engine_id"] = pa.array(np.where(has_phrase, 1 + skewed(random, rows, 90), 0).astype(np.int16))
    columns["search_phrase"] = unless(~has_phrase, texts(phrases, WORDS, " ", WORDS, " ", WORDS, " ", 50))
    columns["adv_engine_id"] = pa.array(mostly(random, rows, 20, 0.994).astype(np.int16))
    columns["window_client_width"] = pa.array(skewed(random, rows, 3_000, 1.0).astype(np.int16))
    columns["window_client_height"] = pa.array(skewed(random, rows, 2_000, 1.0).astype(np.int16))
    shift = random.integers(-40_000, 40_000, rows).astype("timedelta64[s]").astype("timedelta64[us]")
    columns["client_event_time"] = pa.array(time + shift)
    columns["local_event_time"] = pa.array(time + shift // 2)
    columns["funiq_id"] = pa.array(np.where(random.random(rows) < 0.3, 0, mixed(users + 7)))
    columns["original_url"] = unless(random.random(rows) < 0.7, texts(pages, "http://", HOSTS, "/", WORDS, "/", 7))
    columns["hid"] = pa.array(random.integers(0, 2**30, rows).astype(np.int32))
    columns["remote_ip"] = pa.array((mixed(users // 3) % 2**32 - 2**31).astype(np.int32))
    columns["referer_hash"] = pa.array(mixed(sources))
    columns["url_hash"] = pa.array(mixed(pages))
    for name, kind, values, first in FLAGS:
        columns[name] = pa.array(mostly(random, rows, values, first), getattr(pa, kind)())
    for name, values, first in RARE:
        numbers = mostly(random, rows, values, first)
        columns[name] = unless(numbers == 0, texts(numbers, WORDS, 1))
    return pa.table(columns)


def write(path: Path, rows: int) -> None:
    """Writes the table with so many rows."""
    random = np.random.default_rng(105)
    writer = None
    for start in range(0, rows, CHUNK_ROWS):
        table = chunk(random, start, min(CHUNK_ROWS, rows - start), rows)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy")
        writer.write_table(table, row_group_size=CHUNK_ROWS)
    if writer:
        writer.close()


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[1]))
