"""Runs a file of SQL in Spark on this machine; the current folder holds the tables."""

import pathlib
import sys

from pyspark.sql import SparkSession

session = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "4g")
    .config("spark.sql.shuffle.partitions", "8")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
session.sparkContext.setLogLevel("ERROR")
text = pathlib.Path(sys.argv[1]).read_text()
lines = [line for line in text.splitlines() if not line.startswith("--")]
for statement in "\n".join(lines).split(";"):
    if statement.strip():
        session.sql(statement)
session.stop()
