-- Merges the tables below the folder fleet into the folder merged, by Spark SQL. docs/fleet.md says how.
-- Of host and day, which are left out here, those that are wanted may stay: name them in SELECT and GROUP BY.

CREATE OR REPLACE TEMPORARY VIEW recordings USING parquet
OPTIONS (path 'fleet', recursiveFileLookup 'true', pathGlobFilter 'recordings.parquet');

INSERT OVERWRITE DIRECTORY 'merged/recordings' USING parquet OPTIONS (compression 'snappy')
SELECT `host`,
       `day`,
       `labels`,
       `build_id`,
       `other_build_ids`,
       `kernel`,
       `file`,
       `command`,
       `cacheline`,
       `blind_spots`,
       CAST(SUM(`samples`) AS BIGINT) AS `samples`,
       CAST(SUM(`lost`) AS BIGINT) AS `lost`,
       CAST(SUM(`callchains`) AS BIGINT) AS `callchains`,
       CAST(SUM(`branch_stacks`) AS BIGINT) AS `branch_stacks`,
       CAST(SUM(`branch_runs`) AS BIGINT) AS `branch_runs`
FROM recordings
GROUP BY `host`, `day`, `labels`, `build_id`, `other_build_ids`, `kernel`, `file`, `command`, `cacheline`, `blind_spots`;

CREATE OR REPLACE TEMPORARY VIEW coverage USING parquet
OPTIONS (path 'fleet', recursiveFileLookup 'true', pathGlobFilter 'coverage.parquet');

INSERT OVERWRITE DIRECTORY 'merged/coverage' USING parquet OPTIONS (compression 'snappy')
SELECT CAST(NULL AS STRING) AS `host`,
       CAST(NULL AS STRING) AS `day`,
       `labels`,
       `host_group`,
       CAST(NULL AS BIGINT) AS `block`,
       `build_id`,
       `event`,
       `reason`,
       CAST(SUM(`samples`) AS BIGINT) AS `samples`,
       CAST(SUM(`period`) AS BIGINT) AS `period`
FROM coverage
GROUP BY `labels`, `host_group`, `build_id`, `event`, `reason`;

CREATE OR REPLACE TEMPORARY VIEW layouts USING parquet
OPTIONS (path 'fleet', recursiveFileLookup 'true', pathGlobFilter 'layouts.parquet');

INSERT OVERWRITE DIRECTORY 'merged/layouts' USING parquet OPTIONS (compression 'snappy')
SELECT `build_id`,
       `type`,
       `fingerprint`,
       `type_size`,
       `line_size`,
       `member`,
       `member_type`,
       `offset`,
       `size`,
       `layout`,
       CAST(SUM(`profiles`) AS BIGINT) AS `profiles`
FROM layouts
GROUP BY `build_id`, `type`, `fingerprint`, `type_size`, `line_size`, `member`, `member_type`, `offset`, `size`, `layout`;

CREATE OR REPLACE TEMPORARY VIEW accesses USING parquet
OPTIONS (path 'fleet', recursiveFileLookup 'true', pathGlobFilter 'accesses.parquet');

INSERT OVERWRITE DIRECTORY 'merged/accesses' USING parquet OPTIONS (compression 'snappy')
SELECT CAST(NULL AS STRING) AS `host`,
       CAST(NULL AS STRING) AS `day`,
       `labels`,
       `host_group`,
       CAST(NULL AS BIGINT) AS `block`,
       `build_id`,
       `type`,
       `fingerprint`,
       `member`,
       `offset`,
       `size`,
       `ip`,
       `function`,
       `cpu`,
       `written`,
       `measure`,
       CAST(SUM(`count`) AS BIGINT) AS `count`
FROM accesses
GROUP BY `labels`, `host_group`, `build_id`, `type`, `fingerprint`, `member`, `offset`, `size`, `ip`, `function`, `cpu`, `written`, `measure`;

CREATE OR REPLACE TEMPORARY VIEW windows USING parquet
OPTIONS (path 'fleet', recursiveFileLookup 'true', pathGlobFilter 'windows.parquet');

INSERT OVERWRITE DIRECTORY 'merged/windows' USING parquet OPTIONS (compression 'snappy')
SELECT CAST(NULL AS STRING) AS `host`,
       CAST(NULL AS STRING) AS `day`,
       `labels`,
       `host_group`,
       CAST(NULL AS BIGINT) AS `block`,
       `build_id`,
       `words`,
       CAST(SUM(`count`) AS BIGINT) AS `count`
FROM windows
GROUP BY `labels`, `host_group`, `build_id`, `words`;
