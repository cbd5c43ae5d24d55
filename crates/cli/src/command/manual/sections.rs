//! Sections of manual pages beyond the arguments: exit status, environment, files, notes, examples, further pages.

use clap_mangen::roff::{Roff, bold, roman};

/// Commands that may end with exit code 1, and when.
const NEGATIVE: &[(&str, &str)] = &[
    ("check", "A rule at level error is broken, and no suppression or baseline accepts it."),
    ("diff", "With --exit-code: a struct differs."),
    ("doctor", "The machine or the recording can't answer; the findings say why, and which command could."),
    ("plan", "A struct is refused; the reason is printed."),
    ("place", "The struct is refused; the reason is printed."),
    ("patch", "A struct is refused; the reason is printed. Patches of the others are written."),
    ("propose", "A struct is refused; the reason is printed. Results of the others are written."),
    ("verify", "A layout or a test differs from what the plan predicts."),
];

/// Environment variables by the option that makes a command read them; an empty option: every command does.
const ENVIRONMENT: &[(&str, &str, &str)] = &[
    ("", "NO_COLOR", "If set and not empty, no colours unless --color asks for them."),
    ("build", "LIBCLANG_PATH", "Folder or file of the libclang to load."),
    ("build", "XDG_CACHE_HOME", "Folder of caches, instead of ~/.cache."),
    ("initrd", "XDG_CACHE_HOME", "Folder of caches, instead of ~/.cache."),
    ("quota", "XDG_CACHE_HOME", "Folder of caches, instead of ~/.cache."),
    ("series", "SOURCE_DATE_EPOCH", "Date of the mails in seconds since 1970, if --date is not given."),
];

/// Files that arguments don't name, by the option that makes a command read or write them.
const FILES: &[(&str, &str, &str)] = &[
    ("config", "fieldline.toml", "Targets, structs and rules to check, unless --config names another file."),
    (
        "vmlinux",
        "/usr/lib/debug",
        "Separate debug files, found by build ID or name. --debug-dir adds folders.",
    ),
    ("btf-base", "/sys/kernel/btf/vmlinux", "Layouts of the running kernel, read if no file is named."),
    ("build", "compile_commands.json, .*.cmd", "Commands of a build's compilers, in the folder of --build."),
    ("build", "~/.cache/fieldline/uses", "What was found in units of builds. It may be deleted."),
    ("initrd", "~/.cache/fieldline/guest", "Compiled programs of guests. They may be deleted."),
    ("quota", "~/.cache/fieldline/guest", "The compiled program with the loads. It may be deleted."),
];

/// Examples by command.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "fieldline demo",
            "fieldline profile --vmlinux vmlinux --perf perf.data -o profile.json",
            "fieldline propose net_device --vmlinux vmlinux --perf perf.data --tree linux -o out",
            "fieldline verify --plan out/plan.json --tree linux --build O=build",
        ],
    ),
    (
        "layout",
        &["fieldline layout task_struct vmlinux", "fieldline layout 'sched_*' --format pahole vmlinux"],
    ),
    (
        "diff",
        &[
            "fieldline diff vmlinux.old vmlinux",
            "fieldline diff git:v1.0:layouts.json layouts.json --exit-code",
        ],
    ),
    ("check", &["fieldline check", "fieldline check --format sarif=findings.sarif"]),
    ("profile", &["fieldline profile --vmlinux vmlinux --perf perf.data -o profile.json"]),
    ("report", &["fieldline report net_device --profile profile.json"]),
    ("explain", &["fieldline explain --vmlinux vmlinux 0xffffffff81123456"]),
    (
        "plan",
        &["fieldline plan net_device --profile profile.json --vmlinux vmlinux --tree linux -o plan.json"],
    ),
    ("patch", &["fieldline patch --plan plan.json --tree linux -o patches"]),
    ("verify", &["fieldline verify --plan plan.json --tree linux --build O=build"]),
    ("propose", &["fieldline propose net_device --vmlinux vmlinux --perf perf.data --tree linux -o out"]),
    ("record", &["fieldline record -o perf.data -- ./program"]),
    (
        "guest record",
        &["fieldline guest record --kernel vmlinuz --vmlinux vmlinux --types net_device -o guest.perf.data"],
    ),
    ("doctor", &["fieldline doctor", "fieldline doctor --perf perf.data"]),
    // Hyphens in names of pages are read as blanks.
    (
        "bench cgroup tree",
        &[
            "fieldline bench cgroup-tree -o base",
            "fieldline bench cgroup-tree --depth 0 --quota 0 --load hackbench -o hackbench",
        ],
    ),
    ("man", &["fieldline man plan   # | man -l -", "fieldline man -o /usr/local/share/man/man1"]),
];

/// Pages to read next, by command; those of this project without its name.
const SEE_ALSO: &[(&str, &[&str])] = &[
    ("", &["pahole(1)", "perf-mem(1)", "perf-c2c(1)", "perf-annotate(1)"]),
    ("layout", &["diff", "check", "pahole(1)"]),
    ("diff", &["baseline", "check", "pahole(1)"]),
    ("baseline", &["diff", "check"]),
    ("check", &["init", "baseline", "diff"]),
    ("init", &["check"]),
    ("profile", &["report", "samples", "merge", "import", "perf-mem(1)"]),
    ("import", &["profile", "merge", "perf-report(1)", "perf-annotate(1)"]),
    ("merge", &["profile", "import"]),
    ("samples", &["profile", "explain", "perf-script(1)"]),
    ("explain", &["samples", "profile", "perf-annotate(1)"]),
    ("report", &["profile", "plan", "perf-c2c(1)"]),
    ("plan", &["profile", "simulate", "patch", "verify", "propose"]),
    ("place", &["plan", "profile"]),
    ("simulate", &["plan", "guest-record"]),
    ("patch", &["plan", "verify", "git-apply(1)", "git-am(1)"]),
    ("verify", &["plan", "patch"]),
    ("propose", &["profile", "plan", "patch", "verify"]),
    ("record", &["profile", "guest-record", "ptrace(2)", "perf_event_open(2)"]),
    ("guest", &["guest-record", "record"]),
    ("guest record", &["record", "profile", "simulate", "qemu-system-x86_64(1)"]),
    ("doctor", &["profile", "record", "perf-mem(1)", "perf-record(1)"]),
    ("bench", &["bench-cgroup-tree", "compare"]),
    ("bench cgroup tree", &["compare", "perf-stat(1)", "perf-bench(1)"]),
    ("demo", &["propose"]),
    ("man", &["completions", "man(1)"]),
    ("completions", &["man", "bash(1)"]),
];

/// Where documents beyond these pages are.
const DOCUMENTS: &str = "Methods, file formats and rules are described in the documents of the project: \
                         docs/METHOD.md, docs/formats.md, docs/rules.";

/// The sections of a command with these options and notes.
pub(super) fn write(command: &str, options: &[String], notes: Option<&str>) -> Roff {
    let mut out = Roff::new();
    exit_status(&mut out, command);
    terms(&mut out, "ENVIRONMENT", &of_options(ENVIRONMENT, options));
    terms(&mut out, "FILES", &of_options(FILES, options));
    if let Some(notes) = notes {
        out.control("SH", ["NOTES"]);
        for line in notes.lines() {
            out.text([roman(line)]).control("br", []);
        }
    }
    if let Some(lines) = find(EXAMPLES, command) {
        out.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in lines {
            out.text([roman(line.replace("   # |", " |"))]);
        }
        out.control("fi", []);
    }
    further_pages(&mut out, command);
    out
}

fn exit_status(out: &mut Roff, command: &str) {
    let negative = match find(NEGATIVE, command) {
        Some(when) => when,
        None if command.is_empty() => "The inputs were understood, and the answer is no.",
        None => "Not used by this command.",
    };
    let broken = "An input is missing, broken, or belongs to something else; or the arguments are wrong. Nothing was written.";
    let done = "Done, also where there is nothing to gain.";
    terms(out, "EXIT STATUS", &[("0", done), ("1", negative), ("2", broken)]);
}

fn further_pages(out: &mut Roff, command: &str) {
    let ours = |name: &str| match name.contains('(') {
        true => name.to_owned(),
        false => format!("fieldline-{name}(1)"),
    };
    let named = find(SEE_ALSO, command).unwrap_or_default().iter().map(|name| ours(name));
    let mut names: Vec<String> = named.collect();
    if command.is_empty() {
        let others = SEE_ALSO.iter().filter(|(other, _)| !other.is_empty());
        names.splice(..0, others.map(|(other, _)| ours(&other.replace(' ', "-"))));
    } else {
        names.insert(0, "fieldline(1)".to_owned());
    }
    out.control("SH", ["SEE ALSO"]);
    out.text([roman(names.join(", "))]);
    out.control("PP", []).text([roman(DOCUMENTS)]);
}

/// A section of terms with their meanings; none if there are no terms.
fn terms(out: &mut Roff, title: &str, terms: &[(&str, &str)]) {
    if terms.is_empty() {
        return;
    }
    out.control("SH", [title]);
    for (term, meaning) in terms {
        out.control("TP", []).text([bold(*term)]).text([roman(*meaning)]);
    }
}

/// Rows of a table by option that hold for a command with these options.
fn of_options(
    table: &[(&str, &'static str, &'static str)],
    options: &[String],
) -> Vec<(&'static str, &'static str)> {
    let rows =
        table.iter().filter(|(option, ..)| option.is_empty() || options.iter().any(|other| other == option));
    rows.map(|(_, term, meaning)| (*term, *meaning)).collect()
}

fn find<T: Copy>(table: &[(&str, T)], command: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == command).map(|(_, value)| *value)
}

/// The commands that the tables name.
#[cfg(test)]
pub(super) fn named_commands() -> Vec<&'static str> {
    let negative = NEGATIVE.iter().map(|(name, _)| *name);
    let examples = EXAMPLES.iter().map(|(name, _)| *name);
    negative.chain(examples).chain(SEE_ALSO.iter().map(|(name, _)| *name)).collect()
}

/// All examples.
#[cfg(test)]
pub(super) fn examples() -> Vec<&'static str> {
    EXAMPLES.iter().flat_map(|(_, lines)| lines.iter().copied()).collect()
}
