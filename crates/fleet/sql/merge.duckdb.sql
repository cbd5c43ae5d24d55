-- Merges the tables below the folder fleet into the folder merged, by DuckDB. docs/fleet.md says how.
-- Of host and day, which are left out here, those that are wanted may stay: name them in SELECT and GROUP BY.

COPY (
SELECT "host",
       "day",
       "labels",
       "build_id",
       "other_build_ids",
       "kernel",
       "file",
       "command",
       "cacheline",
       "blind_spots",
       CAST(SUM("samples") AS BIGINT) AS "samples",
       CAST(SUM("lost") AS BIGINT) AS "lost",
       CAST(SUM("callchains") AS BIGINT) AS "callchains",
       CAST(SUM("branch_stacks") AS BIGINT) AS "branch_stacks",
       CAST(SUM("branch_runs") AS BIGINT) AS "branch_runs"
FROM read_parquet('fleet/**/recordings.parquet')
GROUP BY "host", "day", "labels", "build_id", "other_build_ids", "kernel", "file", "command", "cacheline", "blind_spots"
) TO 'merged/recordings.parquet' (FORMAT parquet, COMPRESSION snappy);

COPY (
SELECT CAST(NULL AS VARCHAR) AS "host",
       CAST(NULL AS VARCHAR) AS "day",
       "labels",
       "host_group",
       CAST(NULL AS BIGINT) AS "block",
       "build_id",
       "event",
       "reason",
       CAST(SUM("samples") AS BIGINT) AS "samples",
       CAST(SUM("period") AS BIGINT) AS "period"
FROM read_parquet('fleet/**/coverage.parquet')
GROUP BY "labels", "host_group", "build_id", "event", "reason"
) TO 'merged/coverage.parquet' (FORMAT parquet, COMPRESSION snappy);

COPY (
SELECT "build_id",
       "type",
       "fingerprint",
       "type_size",
       "line_size",
       "member",
       "member_type",
       "offset",
       "size",
       "layout",
       CAST(SUM("profiles") AS BIGINT) AS "profiles"
FROM read_parquet('fleet/**/layouts.parquet')
GROUP BY "build_id", "type", "fingerprint", "type_size", "line_size", "member", "member_type", "offset", "size", "layout"
) TO 'merged/layouts.parquet' (FORMAT parquet, COMPRESSION snappy);

COPY (
SELECT CAST(NULL AS VARCHAR) AS "host",
       CAST(NULL AS VARCHAR) AS "day",
       "labels",
       "host_group",
       CAST(NULL AS BIGINT) AS "block",
       "build_id",
       "type",
       "fingerprint",
       "member",
       "offset",
       "size",
       "ip",
       "function",
       "cpu",
       "written",
       "measure",
       CAST(SUM("count") AS BIGINT) AS "count"
FROM read_parquet('fleet/**/accesses.parquet')
GROUP BY "labels", "host_group", "build_id", "type", "fingerprint", "member", "offset", "size", "ip", "function", "cpu", "written", "measure"
) TO 'merged/accesses.parquet' (FORMAT parquet, COMPRESSION snappy);

COPY (
SELECT CAST(NULL AS VARCHAR) AS "host",
       CAST(NULL AS VARCHAR) AS "day",
       "labels",
       "host_group",
       CAST(NULL AS BIGINT) AS "block",
       "build_id",
       "words",
       CAST(SUM("count") AS BIGINT) AS "count"
FROM read_parquet('fleet/**/windows.parquet')
GROUP BY "labels", "host_group", "build_id", "words"
) TO 'merged/windows.parquet' (FORMAT parquet, COMPRESSION snappy);
