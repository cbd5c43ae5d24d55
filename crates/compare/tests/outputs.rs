//! Raw outputs of real benchmarks, and such as their documents show, against the values in them as read by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use fieldline_compare::measurement::{BetterDirection, Measurement};
use fieldline_compare::readers::{ReadError, read};
use std::fmt::Write;
use std::path::PathBuf;

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../fixtures/compare"].iter().collect()
}

/// One line a measurement: metric, value, unit, direction.
fn list(found: &[Measurement]) -> String {
    let mut out = String::new();
    for Measurement { metric, traits, value, repeats, .. } in found {
        let better = match traits.better {
            BetterDirection::Lower => "lower",
            BetterDirection::Higher => "higher",
            BetterDirection::Unknown => "?",
        };
        let key = if traits.is_key { "" } else { ", minor" };
        let _ = write!(out, "  {} = {value} {} ({better}{key})", metric.name(), traits.unit);
        if let Some(repeats) = repeats {
            let _ = write!(out, " of {} runs, deviation {:.4}", repeats.runs, repeats.deviation);
        }
        out.push('\n');
    }
    out
}

#[test]
fn every_value_of_real_outputs_is_read_and_none_is_misread() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder().join("outputs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut found = String::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let _ = writeln!(found, "{}", file.file_name().unwrap().to_string_lossy());
        found.push_str(&list(&read(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))));
    }
    let expected = std::fs::read_to_string(folder().join("outputs.expected")).unwrap();
    if found != expected {
        let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        panic!("outputs.expected differs at {differs:?}; all that was read:\n{found}");
    }
}

#[track_caller]
fn values(text: &str) -> Vec<(String, f64)> {
    let found = read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    found.into_iter().map(|found| (found.metric.name(), found.value)).collect()
}

#[track_caller]
fn assert_values(text: &str, expected: &[(&str, f64)]) {
    let expected: Vec<(String, f64)> =
        expected.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    assert_eq!(values(text), expected, "{text}");
}

/// A block of schbench: head, then rows of percentile, value and mark.
fn block(head: &str, rows: &[(&str, u32, bool)]) -> String {
    let mut out = format!("{head}\n");
    for (percentile, value, is_key) in rows {
        let mark = if *is_key { "* " } else { "  " };
        let _ = writeln!(out, "\t{mark}{percentile}th: {value:<10} (100 samples)");
    }
    out + "\t  min=1, max=99999\n"
}

#[test]
fn schbench_counts_the_last_block_of_a_run() {
    let wakeup = |seconds: u32, value| {
        let head = format!("Wakeup Latencies percentiles (usec) runtime {seconds} (s) (1000 total samples)");
        block(&head, &[("50.0", 5, false), ("99.0", value, true)])
    };
    let rate = |seconds: u32, value| {
        block(
            &format!("RPS percentiles (requests) runtime {seconds} (s) (3 total samples)"),
            &[("50.0", value, true)],
        )
    };
    let run = |value| {
        format!(
            "{}{}current rps: 12.00\n{}{}average rps: 3009.10\n",
            wakeup(10, 1),
            rate(10, 2),
            wakeup(20, value),
            rate(20, 3000)
        )
    };
    let expected = |value| {
        [
            ("schbench wakeup latency 50.0th", 5.0),
            ("schbench wakeup latency 99.0th", value),
            ("schbench requests per second 50.0th", 3000.0),
            ("schbench average rps", 3009.1),
        ]
    };
    assert_values(&run(272), &expected(272.0));
    assert_values(&(run(272) + &run(280)), &[expected(272.0), expected(280.0)].concat());
    // The last interval and the end may have the same time; two runs without an end have it too.
    let same = wakeup(30, 8) + "current rps: 493.97\n" + &wakeup(30, 9);
    assert_eq!(values(&same).len(), 2);
    assert_eq!(values(&(wakeup(30, 8) + &wakeup(30, 9))).len(), 4);
    assert_eq!(values(&(wakeup(30, 8) + &wakeup(10, 9) + &wakeup(20, 7))).len(), 4);
}

#[test]
fn old_schbench_and_its_json_are_read() {
    let old = "Latency percentiles (usec)\n\t50.0000th: 22\n\t75.0000th: 29\n\t*99.0000th: 2132\n\t99.5000th: 6296\n\tmin=0, max=25313\n";
    let names = [
        ("schbench latency 50.0th", 22.0),
        ("schbench latency 75.0th", 29.0),
        ("schbench latency 99.0th", 2132.0),
        ("schbench latency 99.5th", 6296.0),
    ];
    assert_values(old, &names);
    assert_values(&old.repeat(2), &[names, names].concat());
    let json = r#"{"normal": {"name": "x"}, "int": {"runtime": 30, "wakeup_latency_pct50.0": 7, "wakeup_latency_pct99.0": 272,
        "wakeup_latency_min": 1, "request_latency_pct99.0": 14320, "rps_pct50.0": 6984, "rps_pct90.0": 6990}}"#;
    let found = read(json).unwrap();
    let keys: Vec<&str> =
        found.iter().filter(|found| found.traits.is_key).map(|found| found.metric.measure.as_str()).collect();
    assert_eq!(keys, ["request latency 99.0th", "requests per second 50.0th", "wakeup latency 99.0th"]);
    assert_eq!(found.len(), 5);
}

#[test]
fn stream_is_read_from_its_rows() {
    let text = "-------------------------------------------------------------
STREAM version $Revision: 5.10 $
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           22945.6     0.006989     0.006973     0.007011
Scale:          14000.5     0.011500     0.011428     0.011700
Add:            15500.0     0.015600     0.015484     0.015800
Triad:          15600.0     0.015500     0.015385     0.015700
Solution Validates: avg error less than 1.000000e-13 on all three arrays
";
    assert_values(
        text,
        &[
            ("stream Copy bandwidth", 22945.6),
            ("stream Scale bandwidth", 14000.5),
            ("stream Add bandwidth", 15500.0),
            ("stream Triad bandwidth", 15600.0),
        ],
    );
    assert!(read(text).unwrap().iter().all(|found| found.traits.average.name() == "HMean"));
}

#[test]
fn netperf_is_read_in_all_its_forms() {
    let banner = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0 AF_INET : demo";
    let classic = format!(
        "{banner}
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 32       1024    10.00    6537.30
16384  131072
"
    );
    assert_values(&classic, &[("netperf TCP_RR", 6537.3)]);
    assert_values(&classic.repeat(2), &[("netperf TCP_RR", 6537.3), ("netperf TCP_RR", 6537.3)]);
    // `-c -C` adds four columns, `-P 0` leaves out what stands above.
    assert_values(
        "16384  131072 32       1024    10.00    6537.30  12.1  12.2  18.5  18.6\n16384  131072\n",
        &[("netperf RR", 6537.3)],
    );
    let stream = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to x () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00    26125.20
";
    assert_values(stream, &[("netperf TCP_STREAM", 26125.2)]);
    let udp = "MIGRATED UDP STREAM TEST from 0.0.0.0 () port 0 AF_INET to x () port 0 AF_INET
Socket  Message  Elapsed      Messages
Size    Size     Time         Okay Errors   Throughput
bytes   bytes    secs            #      #   10^6bits/sec

212992   65507   10.00      100000      0    5240.56
212992           10.00       99000           5188.15
";
    assert_values(udp, &[("netperf UDP_STREAM", 5240.56)]);
    let keyed = format!(
        "{banner}\nTHROUGHPUT=6537.30\nTHROUGHPUT_UNITS=Trans/s\nP99_LATENCY=210\nTHROUGHPUT=6600.00\n"
    );
    assert_values(
        &keyed,
        &[("netperf TCP_RR", 6537.3), ("netperf TCP_RR p99 latency", 210.0), ("netperf TCP_RR", 6600.0)],
    );
    let csv = format!("{banner}\nThroughput,Throughput Units,Elapsed Time (sec)\n6537.30,Trans/s,10.00\n");
    assert_values(&csv, &[("netperf TCP_RR", 6537.3)]);
}

#[test]
fn ebizzys_rate_is_no_time() {
    assert_values("948 records/s\nreal 10.00 s\nuser  3.20 s\nsys   6.71 s\n", &[("ebizzy record/s", 948.0)]);
}

#[test]
fn several_tools_and_runs_may_share_a_file() {
    let hackbench = "Running in process mode with 4 groups using 40 file descriptors each (== 160 tasks)\n\
        Each sender will pass 100 messages of 100 bytes\nTime: 0.890\n";
    let timed = format!("{hackbench}\nreal\t0m0.912s\nuser\t0m1.000s\nsys\t0m0.500s\n");
    let text = timed.replace("4 groups", "2 groups") + &timed + hackbench;
    let names: Vec<String> = values(&text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[..3], ["hackbench 2-groups time", "hackbench 4-groups time", "hackbench 4-groups time"]);
    assert_eq!(names.len(), 3 + 6);
}

#[test]
fn names_with_values_and_csv_are_read() {
    assert_values(
        "# a comment\nycsb-mongodb 12,345\nlatency: 3.5 ms\nrate = 4 ops/s\n",
        &[("ycsb-mongodb", 12345.0), ("latency", 3.5), ("rate", 4.0)],
    );
    let found = read("latency: 3.5 ms\nrate = 4 ops/s\nx 1\n").unwrap();
    assert_eq!(
        found.iter().map(|found| found.traits.better).collect::<Vec<_>>(),
        [BetterDirection::Lower, BetterDirection::Higher, BetterDirection::Unknown]
    );
    let long =
        "machine,test,case,metric,unit,better,statistic,value\nm1,a,\"1, x\",time,s,higher,Median,2.5\n";
    let found = read(long).unwrap();
    assert_eq!(list(&found), "  m1 a 1, x time = 2.5 s (higher)\n");
    assert_eq!(found[0].traits.average.name(), "Median");
    let wide = "run;load;time (s);score\n1;idle;2;7\n2;idle;3;8\n";
    assert_values(wide, &[("time idle", 2.0), ("score idle", 7.0), ("time idle", 3.0), ("score idle", 8.0)]);
}

#[test]
fn unknown_files_are_named_by_their_first_line() {
    for text in [
        "\n  A report of something\nwith 3 lines\nand a 4th.\n",
        "Benchmark 1: sleep 0.01\n  Time (mean ± σ):      26.4 ms ±  10.4 ms\n",
        "waiting for connections\n",
        "{\"results\": 3}",
        "[1, 2]",
        "a\0b 3\n",
        "x,y\n1,2,3\n4,5\n",
    ] {
        let error = read(text).unwrap_err();
        let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap();
        match &error {
            ReadError::Unknown { first: shown } => assert_eq!(shown, first),
            ReadError::Broken { line, .. } => assert_eq!(*line, 2, "{text}"),
            other => panic!("{other}: {text}"),
        }
    }
    assert_eq!(read(" \n\t\n"), Err(ReadError::Empty));
    let long = "x".repeat(500) + " y z a b";
    assert!(read(&long).unwrap_err().to_string().chars().count() < 160);
}

#[test]
fn outputs_that_end_too_early_are_errors_with_a_line() {
    let cut = |text: &str, line: usize| match read(text) {
        Err(ReadError::Broken { line: found, .. }) => assert_eq!(found, line, "{text}"),
        other => panic!("{other:?}: {text}"),
    };
    let head = "Running in process mode with 4 groups using 40 file descriptors each (== 160 tasks)\n";
    cut(head, 1);
    cut(&format!("{head}Time: nan\n"), 2);
    cut(&format!("{head}{head}Time: 1\n"), 1);
    cut(
        "dbench version 4.00 - Copyright Andrew Tridgell 1999-2004\n   2  8005   119.09 MB/sec  execute   1 sec\n",
        1,
    );
    cut("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nThreads started!\n", 1);
    cut("# Running 'sched/pipe' benchmark:\n# Executed 20000 pipe operations\n", 1);
    cut("x\nTCP STREAM TEST from a to b\n\n", 2);
    cut("{\n \"results\": [\n", 3);
    cut("test,value\na,1\nb,much\n", 3);
}
