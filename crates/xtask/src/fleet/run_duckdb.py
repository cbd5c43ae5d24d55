"""Runs a file of SQL in DuckDB; the current folder holds the tables. Prints nothing unless it fails.

With a second argument, compares the tables of that folder with those of merged, row by row."""

import pathlib
import sys

import duckdb

TABLES = ["recordings", "coverage", "layouts", "accesses", "windows"]


def compare(connection, other):
    for table in TABLES:
        ours, theirs = f"read_parquet('{other}/{table}.parquet')", f"read_parquet('merged/{table}.parquet')"
        counts = [connection.execute(f"SELECT COUNT(*) FROM {side}").fetchall()[0][0] for side in (ours, theirs)]
        differ = [
            connection.execute(f"SELECT COUNT(*) FROM (FROM {left} EXCEPT ALL FROM {right})").fetchall()[0][0]
            for left, right in ((ours, theirs), (theirs, ours))
        ]
        print(f"  {table}: {counts[0]} rows and {counts[1]}, {differ[0]} and {differ[1]} of them differ")
        if counts[0] != counts[1] or any(differ):
            sys.exit(f"{table}: not the same rows")


connection = duckdb.connect()
connection.execute("SET memory_limit = '4GB'")
if len(sys.argv) > 2:
    compare(connection, sys.argv[2])
else:
    pathlib.Path("merged").mkdir(exist_ok=True)
    connection.execute(pathlib.Path(sys.argv[1]).read_text())
