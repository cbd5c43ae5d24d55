//! `compare`: runs of benchmarks to tables and verdicts, call trees, locks, symbols.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Files of variants in a folder of their own.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
        command.arg("compare").args(arguments).current_dir(self.0.path()).output().unwrap()
    }

    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn error(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }
}

/// Values with exactly this mean and coefficient of variation, in percent.
fn runs(mean: f64, variation: f64) -> Vec<f64> {
    let steps: Vec<f64> = (0..10).map(|run| f64::from(run) - 4.5).collect();
    let deviation = (steps.iter().map(|step| step * step).sum::<f64>() / 9.0).sqrt();
    steps.iter().map(|step| mean * (1.0 + step / deviation * variation / 100.0)).collect()
}

fn hackbench(groups: u32, seconds: &[f64]) -> String {
    let mut out = String::new();
    for seconds in seconds {
        let tasks = 40 * groups;
        let _ = write!(
            out,
            "Running in process mode with {groups} groups using 40 file descriptors each (== {tasks} tasks)\n\
             Each sender will pass 100 messages of 100 bytes\nTime: {seconds:.9}\n"
        );
    }
    out
}

fn schbench(latency: f64) -> String {
    format!("Latency percentiles (usec)\n\t50.0th: 5\n\t*99.0th: {latency:.6}\n\tmin=0, max=99\n")
}

/// Lines with blanks collapsed, those of rules left out.
fn collapsed(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty() && !line.starts_with("===")).collect()
}

#[test]
fn normalised_tables_are_those_of_scheduler_posts() {
    let files = Files::new();
    for (groups, base, other) in [(1, (2.0, 10.12), 1.0089), (16, (4.0, 1.32), 2.5898)] {
        files.write(&format!("tip/hackbench-{groups}.txt"), &hackbench(groups, &runs(base.0, base.1)));
        files.write(&format!("new/hackbench-{groups}.txt"), &hackbench(groups, &runs(base.0 * other, 2.84)));
    }
    for (workers, factor) in [(1, 0.3778), (8, 113.9623)] {
        for (run, (base, other)) in runs(50.0, 6.67).into_iter().zip(runs(50.0 * factor, 5.88)).enumerate() {
            files.write(&format!("tip/schbench/{workers}-workers.{run}.txt"), &schbench(base));
            files.write(&format!("new/schbench/{workers}-workers.{run}.txt"), &schbench(other));
        }
    }
    let table = files.text(&["tip", "--vs", "new", "--format", "normalised"]);
    assert_eq!(
        collapsed(&table),
        [
            "Test : hackbench",
            "Units : Normalized time in seconds",
            "Interpretation: Lower is better",
            "Statistic : AMean",
            "Case: tip[pct imp](CV) new[pct imp](CV)",
            "1-groups 1.00 [ -0.00](10.12) 1.01 [ -0.89]( 2.84)",
            "16-groups 1.00 [ -0.00]( 1.32) 2.59 [-158.98]( 2.84)",
            "Test : schbench",
            "Units : Normalized 99th percentile latency in us",
            "Interpretation: Lower is better",
            "Statistic : Median",
            "#workers: tip[pct imp](CV) new[pct imp](CV)",
            "1-workers 1.00 [ -0.00]( 6.67) 0.38 [ 62.22] ( 5.88)",
            "8-workers 1.00 [ -0.00]( 6.67) 113.96 [-11296.23] ( 5.88)",
        ]
    );
    let mmtests = collapsed(&files.text(&["tip", "--vs", "new", "--format", "mmtests"])).join("\n");
    assert!(mmtests.contains("AMean 1-groups 2.000 ( 0.00%) 2.018 ( -0.89%)"), "{mmtests}");
    assert!(mmtests.contains("AMean 16-groups 4.000 ( 0.00%) 10.36 *-158.98%*"), "{mmtests}");
}

#[test]
fn intervals_of_machines_and_of_benchmarks_are_in_tables() {
    let files = Files::new();
    for (variant, factor) in [("orig", 1.0), ("opt", 0.8)] {
        for (machine, case, mean) in
            [("big", "d3 w10", 3000e6), ("big", "d5 w4", 3500e6), ("small", "d3 w10", 1200e6)]
        {
            for (run, count) in runs(mean * factor, 7.0).into_iter().enumerate() {
                let line = format!("{count:.0},,LLC-load-misses:k,30000000,100.00,,\n");
                files.write(&format!("misses/{variant}/{machine}/{case}/{run}.csv"), &line);
            }
        }
        files.write(&format!("{variant}/hackbench.txt"), &hackbench(4, &runs(27.0, 3.16)));
        let rate: String =
            runs(948.2, 14.7).iter().map(|rate| format!("{rate:.3} records/s\nreal 10.00 s\n")).collect();
        files.write(&format!("{variant}/ebizzy.txt"), &rate);
    }
    let table = files.text(&["misses/orig", "--vs", "misses/opt", "--machines", "--format", "ci"]);
    let expected = [
        "| LLC-load-misses:k | d3 w10 | d5 w4 |",
        "+-------------------+-------------------+-------------------+",
        "| big-orig | [2849.8, 3150.2]M | [3324.7, 3675.3]M |",
        "| big-opt | [2279.8, 2520.2]M | [2659.8, 2940.2]M |",
        "| Change | -20.00% | -20.00% |",
        "| small-orig | [1139.9, 1260.1]M | - |",
        "| small-opt | [911.9, 1008.1]M | - |",
        "| Change | -20.00% | - |",
    ];
    assert_eq!(collapsed(&table), expected);
    let benchmarks = files.text(&["orig", "--vs", "opt", "--format", "ci"]);
    assert_eq!(
        collapsed(&benchmarks)[2..],
        [
            "ebizzy | 948.2 [848.5, 1048] | 948.2 [848.5, 1048] | record/s",
            "hackbench | 27.00 [26.39, 27.61] | 27.00 [26.39, 27.61] | time",
        ]
    );
}

#[test]
fn each_row_has_a_verdict_with_its_reason() {
    let files = Files::new();
    let lines = |name: &str, unit: &str, values: &[f64]| -> String {
        values.iter().map(|value| format!("{name}: {value} {unit}\n")).collect()
    };
    let rows = [
        ("faster", "ms", runs(100.0, 1.0), runs(90.0, 1.0)),
        ("slower", "ops/s", runs(100.0, 1.0), runs(90.0, 1.0)),
        ("same", "ms", runs(100.0, 1.0), runs(100.2, 1.0)),
        ("noisy", "ms", runs(100.0, 30.0), runs(95.0, 30.0)),
        ("single", "ms", vec![1.0], vec![2.0]),
        ("unknown", "", runs(100.0, 1.0), runs(90.0, 1.0)),
    ];
    for (name, unit, base, other) in &rows {
        files.write(&format!("base/{name}.txt"), &lines(name, unit, base));
        files.write(&format!("other/{name}.txt"), &lines(name, unit, other));
    }
    let run = |more: &[&str]| {
        let arguments = [&["base", "--vs", "other", "--format", "json"], more].concat();
        let document: Value = serde_json::from_str(&files.text(&arguments)).unwrap();
        let rows = document["rows"].as_array().unwrap().clone();
        let verdict = |row: &Value| {
            let change = &row["changes"][0];
            format!(
                "{} {} {}",
                row["test"].as_str().unwrap(),
                change["verdict"].as_str().unwrap(),
                change["reason"].as_str().unwrap()
            )
        };
        (document["tests"].as_u64(), rows.iter().map(verdict).collect::<Vec<String>>())
    };
    let (tests, verdicts) = run(&[]);
    assert_eq!(tests, Some(5));
    assert_eq!(
        verdicts,
        [
            "faster better ",
            "noisy proves_nothing CV 30.0 % above the change of 5.0 %",
            "same no_difference_shown CV 1.0 % above the change of 0.2 %",
            "single proves_nothing n = 1",
            "slower worse ",
            "unknown different which direction is better is not known",
        ]
    );
    assert_eq!(run(&["--lower", "unk*"]).1[5], "unknown better ");
    assert_eq!(run(&["--higher", "unknown"]).1[5], "unknown worse ");
    assert!(
        files
            .error(&["base", "--vs", "other", "--lower", "fastre"], 2)
            .contains("no metric is named 'fastre'")
    );
    files.error(&["base", "--vs", "other", "--fail-on", "worse"], 1);
    files.text(&["base/faster.txt", "--vs", "other/faster.txt", "--fail-on", "worse"]);
    let table = files.text(&["base", "--vs", "other"]);
    assert!(
        table.contains("1 better, 1 worse, 1 different, 1 no difference shown, 2 proves nothing"),
        "{table}"
    );
}

#[test]
fn pairs_find_what_the_scatter_hides() {
    let files = Files::new();
    let base = runs(100.0, 20.0);
    let lines =
        |values: &[f64]| -> String { values.iter().map(|value| format!("real {value:.3}\n")).collect() };
    files.write("a", &lines(&base));
    let other: Vec<f64> =
        base.iter().zip([0.1, -0.1].iter().cycle()).map(|(value, noise)| value - 2.0 + noise).collect();
    files.write("b", &lines(&other)).write("c", &lines(&base[..4]));
    assert!(files.text(&["a", "--vs", "b"]).contains("1 proves nothing"));
    assert!(files.text(&["a", "--vs", "b", "--paired"]).contains("1 better"));
    assert!(files.error(&["a", "--vs", "c", "--paired"], 2).contains("10 runs of a and 4 of c are no pairs"));
}

#[test]
fn files_that_are_unknown_or_of_nothing_in_common_are_refused() {
    let files = Files::new();
    files
        .write("a/time", "real 1.00\n")
        .write("a/notes", "Things to do\nfor 3 of us, soon\n")
        .write("b", "real 2.00\n");
    files.write("c", "948 records/s\n").write("empty", "").write("perf.data", "PERFILE2rest");
    let message = files.error(&["a", "--vs", "b"], 2);
    assert!(
        message.contains("a/notes: ") && message.contains("its first line is: Things to do"),
        "{message}"
    );
    assert!(files.error(&["c", "--vs", "b"], 2).contains("no metric in common"));
    assert!(files.error(&["b", "--vs", "empty"], 2).contains("the file is empty"));
    assert!(files.error(&["b", "--vs", "perf.data"], 2).contains("--symbols"));
    assert!(files.error(&["b", "--vs", "nowhere"], 2).contains("nowhere"));
    assert!(files.error(&["b", "--vs", "c", "--names", "x"], 2).contains("2 variants"));
    assert!(files.error(&["b", "--vs", "b", "--symbols", "--format", "ci"], 2).contains("--format table"));
}

#[test]
fn other_machines_and_settings_are_named_and_refused() {
    let files = Files::new();
    for (variant, kernel, governor) in
        [("a", "6.12.1", "performance"), ("b", "6.12.1-new", "powersave"), ("c", "6.12.1-new", "performance")]
    {
        files.write(
            &format!("{variant}/uname"),
            &format!("Linux host {kernel} #1 SMP Mon Jan 1 00:00:00 UTC 2024 x86_64 GNU/Linux\n"),
        );
        files.write(&format!("{variant}/governor"), &format!("{governor}\n").repeat(4));
        files.write(&format!("{variant}/time"), "real 1.00\nreal 1.01\n");
    }
    let message = files.error(&["a", "--vs", "b"], 2);
    assert!(
        message.contains("governor differs: a performance; b powersave") && message.contains("--force"),
        "{message}"
    );
    files.text(&["a", "--vs", "b", "--force"]);
    let output = files.run(&["a", "--vs", "c", "--format", "cover"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("kernel differs: a 6.12.1; c 6.12.1-new"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("* c: host host; kernel 6.12.1-new; governor performance"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 75), "{text}");
}

/// perf's tree with bars and blanks, and the same with blanks collapsed.
const REPORT: &str = "\
    40.00%     1.00%  swapper  [kernel.vmlinux]  [k] outer
            |
             --39.00%--outer
                       |
                       |--30.00%--first
                       |          |
                       |           --20.00%--inner
                       |                     leaf
                       |
                        --8.00%--second
                                  |
                                   --7.00%--inner
";

#[test]
fn call_trees_are_read_with_and_without_their_blanks() {
    let files = Files::new();
    let tight: String =
        REPORT.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect();
    let other = tight.replace("30.00%", "25.00%").replace("| --20.00%--inner\n| leaf\n", "");
    files.write("wide", REPORT).write("tight", &tight).write("other", &other);
    let table = files.text(&["--callers", "outer", "wide", "--vs", "tight", "--vs", "other"]);
    let rows = collapsed(&table);
    assert_eq!(
        rows[1..9],
        [
            "outer 40.00% 40.00% (+0.00) 40.00% (+0.00)",
            "outer 39.00% 39.00% (+0.00) 39.00% (+0.00)",
            "first 30.00% 30.00% (+0.00) 25.00% (-5.00)",
            "inner 20.00% 20.00% (+0.00) absent",
            "leaf 20.00% 20.00% (+0.00) absent",
            "second 8.00% 8.00% (+0.00) 8.00% (+0.00)",
            "inner 7.00% 7.00% (+0.00) 7.00% (+0.00)",
            "in outer itself: 1.00%, 1.00%, 1.00%",
        ],
        "{table}"
    );
    assert!(rows[9].contains("that is not zero"), "{table}");
    assert!(
        files
            .error(&["--callers", "nothing", "wide", "--vs", "tight"], 2)
            .contains("nothing in their call chains")
    );
}

#[test]
fn call_chains_of_perf_script_are_added_up() {
    let files = Files::new();
    let sample = |period: u32, frames: &[&str]| {
        let mut out = format!("task name  12 [001]  1234.567890:     {period} cycles:k: \n");
        for frame in frames {
            let _ = writeln!(out, "\tffffffff81000010 {frame}+0x10 ([kernel.kallsyms])");
        }
        out + "\n"
    };
    let base = sample(300, &["leaf", "mid", "root", "entry"])
        + &sample(100, &["mid", "root", "entry"])
        + &sample(600, &["other"]);
    let new = sample(100, &["mid", "root", "mid", "root", "entry"]) + &sample(900, &["other"]);
    files.write("base", &base).write("new", &new);
    let rows = collapsed(&files.text(&["--callers", "root", "base", "--vs", "new"]));
    assert_eq!(
        rows[1..7],
        [
            "root 40.00% 10.00% (-30.00)",
            "mid 40.00% 10.00% (-30.00)",
            "leaf 30.00% absent",
            "root absent 10.00%",
            "mid absent 10.00%",
            "in root itself: 0.00%, 0.00%",
        ]
    );
    let symbols = collapsed(&files.text(&["--symbols", "base", "--vs", "new", "--top", "2"]));
    assert_eq!(
        symbols[..5],
        [
            "| Symbol | base | new |",
            "+--------+--------+--------+",
            "| other | 60.00% | 90.00% |",
            "| leaf | 30.00% | 0.00% |",
            "| mid | 10.00% | 10.00% |",
        ]
    );
}

/// Symbols and LLC misses in percent as posted with RFC v2 "Reorder scheduling related structs" (2025), original and
/// optimised.
const INTEL: [(&str, f64, f64); 10] = [
    ("worker_thread", 75.41, 78.95),
    ("tg_unthrottle_up", 3.21, 1.61),
    ("tg_throttle_down", 2.42, 1.77),
    ("__update_load_avg_cfs_rq", 1.95, 1.60),
    ("walk_tg_tree_from", 1.23, 0.91),
    ("sched_balance_update_blocked_averages", 1.09, 1.13),
    ("sched_balance_rq", 1.03, 1.08),
    ("_raw_spin_lock", 1.01, 1.23),
    ("task_mm_cid_work", 0.87, 1.09),
    ("__update_load_avg_se", 0.78, 0.48),
];
const AMD: [(&str, f64, f64); 12] = [
    ("worker_thread", 53.97, 61.49),
    ("sched_balance_update_blocked_averages", 3.94, 2.48),
    ("__update_load_avg_cfs_rq", 3.52, 2.62),
    ("update_load_avg", 2.66, 2.19),
    ("tg_throttle_down", 1.99, 1.57),
    ("tg_unthrottle_up", 1.98, 1.34),
    ("__update_load_avg_se", 1.89, 1.32),
    ("walk_tg_tree_from", 1.79, 1.37),
    ("sched_clock_noinstr", 1.59, 1.01),
    ("sched_balance_rq", 1.53, 1.26),
    ("_raw_spin_lock", 1.47, 1.41),
    ("task_mm_cid_work", 1.34, 1.42),
];

/// A text of perf report with these symbols and others with less, most first.
fn symbol_report(shares: impl Iterator<Item = (&'static str, f64)>) -> String {
    let mut shares: Vec<(String, f64)> = shares.map(|(name, share)| (name.to_owned(), share)).collect();
    shares.extend((0..5).map(|number| (format!("other_{number}"), 0.40 - 0.01 * f64::from(number))));
    shares.sort_by(|left, right| right.1.total_cmp(&left.1));
    let mut text = "# Samples: 12K of event 'LLC-load-misses:k'\n#\n# Overhead  Command  Shared Object     Symbol\n#\n\n"
        .to_owned();
    for (name, share) in shares {
        writeln!(text, "    {share:5.2}%  schbench  [kernel.vmlinux]  [k] {name}").unwrap();
    }
    text
}

#[test]
fn a_posted_table_of_symbols_is_rebuilt_from_reports() {
    let files = Files::new();
    let machines = [
        ("Intel", &INTEL[..], "+---------------------------------------+------------+-----------+"),
        ("AMD", &AMD[..], "+---------------------------------------+----------+---------+"),
    ];
    for (machine, rows, rule) in machines {
        files.write("orig.txt", &symbol_report(rows.iter().map(|(name, orig, _)| (*name, *orig))));
        files.write("opt.txt", &symbol_report(rows.iter().map(|(name, _, opt)| (*name, *opt))));
        let names = format!("{machine}-orig,{machine}-opt");
        let table = files.text(&["--symbols", "orig.txt", "--vs", "opt.txt", "--names", &names]);
        let mut expected = vec![format!("| Symbol | {machine}-orig | {machine}-opt |"), rule.to_owned()];
        expected.extend(rows.iter().map(|(name, orig, opt)| format!("| {name} | {orig:.2}% | {opt:.2}% |")));
        assert_eq!(collapsed(&table), expected);
    }
}

const LOCKS: &str = "\
lock_stat version 0.4
-----------------------------------------------------------------------------------
  class name    con-bounces    contentions   waittime-min   waittime-max waittime-total   waittime-avg    acq-bounces   acquisitions   holdtime-min   holdtime-max holdtime-total   holdtime-avg
-----------------------------------------------------------------------------------

  &class->lock/1:   90  100  0.10  5.00  250.00  2.50  400  2000  0.05  9.00  1000.00  0.50
               --------------
  &class->lock/1    60  [<00000000516703f0>] charge+0x72/0xaa0
  &class->lock/1    40  [<0000000011be1562>] refill+0xa/0x10
               --------------
  &class->lock/1    100 [<00000000516703f0>] charge+0x99/0xaa0

..............................................................

  (wq_completion)a b:   0  0  0.00  0.00  0.00  0.00  1  20  0.05  9.00  10.00  0.50
";

#[test]
fn lock_classes_stand_side_by_side_and_on_their_lines() {
    let files = Files::new();
    files.write("a", LOCKS).write("b", &LOCKS.replace("  90  100  0.10", "  180  200  0.10"));
    let rows = collapsed(&files.text(&["--locks", "a", "--vs", "b"]));
    for expected in [
        "&class->lock/1 a b",
        "contentions 100 200 (+100.00%)",
        "contended, % 5 10 (+5.00)",
        "waited in charge 60 60 (+0.00%)",
        "held by charge 100 100 (+0.00%)",
        "(wq_completion)a b a b",
    ] {
        assert!(rows.iter().any(|row| row == expected), "{expected}: {rows:#?}");
    }
    if !fieldline_testing::has_programs(&["cc"]) {
        return;
    }
    // The struct is found by its member's type, not by the variable's name; another has no lock of that name.
    let source = "typedef struct { int word; } spinlock_t;
struct tx_class { long hot; spinlock_t lock; char pad[64]; long far; };
struct other { int lock; };
struct tx_class class; struct other other; int main(void) { return other.lock + class.pad[0]; }\n";
    files.write("p.c", source);
    let built =
        Command::new("cc").args(["-g", "-o", "p", "p.c"]).current_dir(files.0.path()).status().unwrap();
    assert!(built.success());
    let document: Value = serde_json::from_str(&files.text(&[
        "--locks",
        "a",
        "--vs",
        "b",
        "--vmlinux",
        "p",
        "--format",
        "json",
    ]))
    .unwrap();
    let lock = &document["programs"][0]["locks"][0];
    assert_eq!((lock["struct"].as_str(), lock["offset"].as_u64()), (Some("tx_class"), Some(8)));
    let names: Vec<&str> =
        lock["members"].as_array().unwrap().iter().map(|member| member["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["hot", "lock", "pad"], "far lies on another line");
    assert!(lock["contended_line_has_hot_members"].is_null(), "nobody knows which are hot");
    assert!(files.error(&["--locks", "p.c", "--vs", "b"], 2).contains("its first line is"));
}

#[test]
fn samples_of_recordings_are_split_by_symbol_and_member() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
    let (program, perf) = (demo.join("shaper"), demo.join("shaper.perf.data"));
    let [program, perf] = [&program, &perf].map(|path| path.to_str().unwrap());
    let files = Files::new();
    let arguments =
        ["--symbols", perf, "--vs", perf, "--vmlinux", program, "--structs", "tx_class", "--top", "3"];
    let message = files.error(&arguments, 2);
    let event =
        message.rsplit(": ").next().unwrap().split(", ").find(|name| name.contains("loads")).unwrap().trim();
    let document: Value = serde_json::from_str(
        &files.text(&[&arguments[..], &["--event", event, "--format", "json"]].concat()),
    )
    .unwrap();
    let rows = document["machines"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(
        rows.iter()
            .all(|row| row["shares"][0] == row["shares"][1]
                && row["shares"][0]["percent"].as_f64() > Some(1.0))
    );
    let members = document["structs"][0]["rows"].as_array().unwrap();
    assert!(members.len() > 5 && members.iter().all(|row| row["places"][0] == row["places"][1]));
}

#[test]
fn evidence_fills_the_cover_letters_slot() {
    let files = Files::new();
    files.write("stock", &hackbench(4, &runs(27.0, 1.0))).write("new", &hackbench(4, &runs(26.0, 1.0)));
    files.write("evidence.json", &files.text(&["stock", "--vs", "new", "--format", "json"]));
    let cover = files.text(&["stock", "--vs", "new", "--format", "cover"]);
    assert!(cover.contains("Better:\n  * hackbench 4-groups time: -3.70% ["), "{cover}");
    let demo: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
    let mut propose = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    propose
        .current_dir(files.0.path())
        .args(["propose", "tx_class", "-o", "out", "--series", "--from", "A <a@b>"]);
    propose.arg("--vmlinux").arg(demo.join("shaper")).arg("--perf").arg(demo.join("shaper.perf.data"));
    propose.arg("--tree").arg(demo.join("tree")).args(["--evidence", "evidence.json"]);
    let output = propose.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| fs::read_to_string(files.0.path().join("out").join(name)).unwrap();
    let names = fs::read_dir(files.0.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let letter = names.into_iter().find(|name| name.starts_with("0000")).unwrap();
    let (letter, report) = (read(&letter), read("report.md"));
    assert!(letter.contains("[PATCH 0/") && letter.contains(cover.trim_end()), "{letter}");
    assert!(report.contains(cover.trim_end()), "{report}");
    let page = read("report.html");
    let shown = page.split("id=\"measured\"").nth(1).expect("a section of the page");
    assert!(shown.contains("  * hackbench 4-groups time: -3.70% ["), "{shown}");
    let mut patch = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    patch.current_dir(files.0.path()).args(["patch", "--plan", "out/plan.json", "-o", "again"]);
    patch.args(["--series", "--from", "A <a@b>"]);
    let output = patch.arg("--tree").arg(demo.join("tree")).args(["--evidence", "stock"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("stock: not what fieldline compare"));
}
