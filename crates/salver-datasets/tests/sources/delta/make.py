"""Writes the Delta tables in this directory, with Spark 4.0.1 and Delta Lake 4.0.0 (`pip install pyspark==4.0.1
delta-spark==4.0.0`, Java 17), and `rows.txt` with the rows that Spark reads from them:

    python make.py DIRECTORY

What only Spark writes is here: deletion vectors, column mapping, checkpoints of several parts and of the second kind,
widened types, times of commits. The tests write the other tables when they run, with the package `deltalake`.
"""

import glob
import os
import re
import sys

from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

out = os.path.abspath(sys.argv[1])
builder = SparkSession.builder.master("local[1]")
for key, value in {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.ui.enabled": "false",
    "spark.databricks.delta.snapshotPartitions": "1",
}.items():
    builder = builder.config(key, value)
spark = configure_spark_with_delta_pip(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


def table(name, columns, properties, partitions=""):
    by = f"partitioned by ({partitions})" if partitions else ""
    listed = ", ".join(f"'delta.{key}' = '{value}'" for key, value in properties.items())
    told = f" tblproperties ({listed})" if listed else ""
    spark.sql(f"create table delta.`{out}/{name}` ({columns}) using delta {by}{told}")


def run(name, *statements):
    for statement in statements:
        spark.sql(statement.replace("TABLE", f"delta.`{out}/{name}`"))


def forget(name, before):
    """Deletes the commits before a version, as Delta does when they are old and a checkpoint has what they say."""
    for path in glob.glob(f"{out}/{name}/_delta_log/*.json"):
        found = re.fullmatch(r"(\d{20})\.json", os.path.basename(path))
        if found and int(found[1]) < before:
            os.remove(path)


# Deletion vectors: in files of their own, of several files, one replaced by a later one; a file without one.
table("vectors", "id bigint, name string, part string", {"enableDeletionVectors": "true"}, "part")
run(
    "vectors",
    "insert into TABLE select /*+ coalesce(1) */ id, concat('n', id), 'a b=c/%' from range(40)",
    "insert into TABLE select /*+ coalesce(1) */ id, concat('n', id), null from range(40, 60)",
    "insert into TABLE select /*+ coalesce(1) */ id, concat('n', id), 'whole' from range(60, 63)",
    "delete from TABLE where id % 4 = 0 and id < 60",
    "delete from TABLE where id in (1, 2, 41)",
    "update TABLE set name = 'updated' where id = 3",
)

# A deletion vector over many rows: runs, and more than 65,536 rows.
table("runs", "id bigint, one boolean", {"enableDeletionVectors": "true"})
run(
    "runs",
    "insert into TABLE select /*+ coalesce(1) */ id div 1000, id % 1000 = 7 from range(200000)",
    "delete from TABLE where id between 1 and 150 or one",
)

# Columns by name: renamed, dropped, added again under an old name, in structs, and a partition.
table(
    "names",
    "id int, `a b,c` string, gone int, s struct<x: int, y: string>, l array<struct<k: int>>, "
    "m map<string, struct<v: int>>, p int",
    {"columnMapping.mode": "name", "minReaderVersion": "2", "minWriterVersion": "5"},
    "p",
)
run(
    "names",
    "insert into TABLE values (1, 'one', 10, struct(1, 'x'), array(struct(1)), map('k', struct(1)), 7)",
    "alter table TABLE rename column `a b,c` to label",
    "alter table TABLE rename column s.x to renamed",
    "alter table TABLE rename column l.element.k to kk",
    "alter table TABLE rename column p to part",
    "alter table TABLE drop column gone",
    "alter table TABLE add columns (gone string, s.z double)",
    "insert into TABLE (id, label, s, l, m, part, gone) values "
    "(2, 'two', struct(2, 'y', 2.5D), array(struct(2), null), map('k', struct(2)), null, 'back')",
)

# Columns by their number.
table("numbers", "id int, v string", {"columnMapping.mode": "id"})
run(
    "numbers",
    "insert into TABLE values (1, 'a'), (2, null)",
    "alter table TABLE rename column v to w",
    "insert into TABLE values (3, 'c')",
)

# Types that became wider.
table(
    "widened",
    "id int, a tinyint, b smallint, c float, d decimal(4, 2), e date, f int, s struct<x: smallint>, p smallint",
    {"enableTypeWidening": "true", "feature.timestampNtz": "supported"},
    "p",
)
run(
    "widened",
    "insert into TABLE values (1, 1Y, 300S, 1.5F, 12.34, date'2024-02-29', 7, struct(1S), 1S)",
    "alter table TABLE change column a type int",
    "alter table TABLE change column b type bigint",
    "alter table TABLE change column c type double",
    "alter table TABLE change column d type decimal(20, 4)",
    "alter table TABLE change column e type timestamp_ntz",
    "alter table TABLE change column f type double",
    "alter table TABLE change column s.x type int",
    "alter table TABLE change column p type int",
    "insert into TABLE values (2, 70000, 5000000000, 0.1D, 1234567890.1234, "
    "timestamp_ntz'2024-03-01 12:30:00.5', 0.25D, struct(70000), 70000)",
)

# Checkpoints: of several parts, and of the second kind with a list in Parquet or JSON.
for name, policy, conf in [
    ("parts", "classic", {"spark.databricks.delta.checkpoint.partSize": "2"}),
    ("second_parquet", "v2", {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "parquet"}),
    ("second_json", "v2", {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "json"}),
]:
    for key, value in conf.items():
        spark.conf.set(key, value)
    properties = {"checkpointPolicy": policy, "checkpointInterval": "4", "enableDeletionVectors": "true"}
    table(name, "id bigint, p date", properties, "p")
    run(
        name,
        "insert into TABLE select /*+ coalesce(1) */ id, date'2024-01-01' from range(10)",
        "insert into TABLE select /*+ coalesce(1) */ id, date'2024-01-02' from range(10, 20)",
        "delete from TABLE where id in (3, 13)",
        "insert into TABLE select /*+ coalesce(1) */ id, null from range(20, 22)",
        "insert into TABLE select /*+ coalesce(1) */ id, date'2024-01-03' from range(22, 24)",
    )
    forget(name, 4)
    for key in conf:
        spark.conf.unset(key)

# Times of commits in the log, and Spark's own form of timestamps.
table("times", "id int, at timestamp, local timestamp_ntz", {"enableInCommitTimestamps": "true"})
run(
    "times",
    "insert into TABLE values (1, timestamp'2024-05-01 12:00:00.123456Z', timestamp_ntz'1500-01-01 00:00:00')",
    "insert into TABLE values (2, timestamp'9999-12-31 23:59:59Z', null)",
)

# What can't be read.
table("variants", "id int, v variant", {})
run("variants", "insert into TABLE select 1, parse_json('{\"a\": 1}')")

with open(f"{out}/rows.txt", "w") as told:
    for name in sorted(os.listdir(out)):
        if not os.path.isdir(f"{out}/{name}/_delta_log"):
            continue
        frame = spark.read.format("delta").load(f"{out}/{name}")
        told.write(f"{name}: {frame.schema.simpleString()}\n")
        if name == "runs":
            told.write(f"  {frame.selectExpr('count(*)', 'sum(id)', 'count(distinct id)', 'count_if(one)').first()}\n")
            continue
        for row in frame.orderBy("id").collect():
            told.write(f"  {row}\n")

for path in glob.glob(f"{out}/**/.*.crc", recursive=True) + glob.glob(f"{out}/**/*.crc", recursive=True):
    os.remove(path)
