//! A pipe, a device, a socket or a file of the kernel in place of any input: exit code 2, the file and what it is, and
//! never a command that waits.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any of these commands takes, and shorter than for ever.
const PATIENCE: Duration = Duration::from_secs(60);

/// The demo's files, with special ones beside them.
struct Demo {
    folder: tempfile::TempDir,
}

impl Demo {
    fn new() -> Self {
        let demo = Self { folder: tempfile::tempdir().unwrap() };
        let (code, text) = finish(&["demo", &demo.path("")]);
        assert_eq!(code, Some(0), "{text}");
        std::fs::write(demo.path("objects.tsv"), "1000 tx_flow 320\n2000 tx_class 384\n").unwrap();
        make_pipe(&demo.folder.path().join("pipe"));
        std::os::unix::fs::symlink("pipe", demo.path("link")).unwrap();
        demo
    }

    fn path(&self, inner: &str) -> String {
        self.folder.path().join(inner).display().to_string()
    }

    /// The words of a command, files of the demo for those with `=` in front, fixtures for `+`, a special one for `X`, blanks for `~`.
    fn words(&self, text: &str, special: &str) -> Vec<String> {
        let word = |word: &str| match (word.strip_prefix('='), word.strip_prefix('+')) {
            (Some(inner), _) => self.path(inner),
            (_, Some(name)) => fixture(name),
            _ if word == "X" => special.to_owned(),
            _ => word.replace('~', " "),
        };
        text.split(' ').map(word).collect()
    }
}

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).display().to_string()
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The exit code and all output of a command that ends by itself.
fn finish(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let began = Instant::now();
    // What is printed here fits into a pipe, so that nothing has to be read meanwhile.
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{args:?}: waits");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// The command refuses a file and says what it is.
fn refuses(args: &[String], file: &str, what: &str) {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (code, text) = finish(&words);
    assert_eq!(code, Some(2), "{args:?}: {text}");
    assert!(text.contains(file) && text.contains(what), "{args:?}: {text}");
}

/// Each place of each command where a file is given.
const COMMANDS: &[&str] = &[
    "layout --vmlinux X",
    "layout --vmlinux +layout/x86_64.btf --btf-base X",
    "diff X =shaper",
    "diff =shaper X",
    "baseline --vmlinux X -o =made",
    "init --vmlinux X tx_flow",
    "check --config X",
    "doctor --perf X",
    "doctor --perf =shaper.perf.data --vmlinux X",
    "profile --vmlinux X --perf =shaper.perf.data",
    "profile --vmlinux =shaper --perf X",
    "samples --vmlinux =shaper --perf X",
    "import X --vmlinux =shaper",
    "merge X =profile.json -o =made",
    "explain --vmlinux X main",
    "report --profile X",
    "report --profile =profile.json --vmlinux X",
    "plan tx_flow --profile X --vmlinux =shaper",
    "plan tx_flow --static --vmlinux X",
    "plan tx_flow --static --vmlinux =shaper --pins X",
    "plan tx_flow --static --vmlinux =shaper --also X",
    "place tx_flow --vmlinux X --member long~x",
    "simulate --plan X --profile =profile.json --vmlinux =shaper",
    "simulate --plan =plan.json --trace X --objects =objects.tsv",
    "simulate --plan =plan.json --trace =plan.json --objects X",
    "simulate --plan =plan.json --profile X --vmlinux =shaper",
    "patch --plan X --tree =tree -o =made",
    "patch --plan =plan.json --tree =tree --profile X -o =made --series --from A~<a@b.c>",
    "verify --plan X --vmlinux =shaper",
    "verify --plan =plan.json --vmlinux X",
    "propose tx_flow --vmlinux =shaper --perf X --tree =tree -o =made",
    "record --kernel --object tx_flow@flows --vmlinux X -o =made",
    "guest record --kernel X --vmlinux =shaper -o =made",
    "guest record --kernel =shaper --vmlinux X -o =made",
    "guest record --kernel =shaper --vmlinux =shaper --initrd X -o =made",
    "guest record --kernel =shaper --vmlinux =shaper --module X -o =made",
];

#[test]
fn a_pipe_behind_a_link_is_refused_by_every_option() {
    if !fieldline_testing::has_programs(&["mkfifo"]) {
        return;
    }
    let demo = Demo::new();
    let link = demo.path("link");
    for command in COMMANDS {
        refuses(&demo.words(command, &link), "link", "a pipe (FIFO)");
    }
    assert!(!Path::new(&demo.path("made")).exists());
}

#[test]
fn devices_sockets_folders_and_files_of_the_kernel_are_refused() {
    if !fieldline_testing::has_programs(&["mkfifo"]) {
        return;
    }
    let demo = Demo::new();
    let socket = demo.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (special, what) in [
        ("/dev/zero", "a character device"),
        ("/dev/tty", "a character device"),
        (socket.as_str(), "a socket"),
        ("/proc/self/maps", "made up by the kernel"),
    ] {
        for command in
            ["layout --vmlinux X", "merge X =profile.json -o =made", "doctor --perf X", "check --config X"]
        {
            refuses(&demo.words(command, special), special, what);
        }
    }
}

#[test]
fn files_of_the_configuration_are_refused_as_arguments_are() {
    if !fieldline_testing::has_programs(&["mkfifo"]) {
        return;
    }
    let demo = Demo::new();
    for text in [
        "types = [\"tx_flow\"]\n[target.x]\nfile = \"link\"\n",
        "types = [\"tx_flow\"]\n[target.x]\nfile = \"shaper\"\nagainst = \"link\"\n",
        "types = [\"tx_flow\"]\nprofile = \"link\"\n[target.x]\nfile = \"shaper\"\n",
    ] {
        std::fs::write(demo.path("fieldline.toml"), text).unwrap();
        refuses(&demo.words("check --config =fieldline.toml", ""), "link", "a pipe (FIFO)");
    }
}

#[test]
fn trees_and_builds_have_no_pipes_among_their_sources() {
    if !fieldline_testing::has_programs(&["mkfifo", "cc"]) {
        return;
    }
    let demo = Demo::new();
    let link = |inner: &str| {
        let path = PathBuf::from(demo.path(inner));
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(demo.path("pipe"), path).unwrap();
    };
    let commands = [
        "plan tx_flow --static --vmlinux =shaper --tree =tree",
        "verify --plan =plan.json --tree =tree --build =out",
    ];
    std::fs::create_dir(demo.path("out")).unwrap();
    link("out/compile_commands.json");
    refuses(&demo.words(commands[1], ""), "compile_commands.json", "a pipe (FIFO)");
    std::fs::remove_file(demo.path("out/compile_commands.json")).unwrap();
    link("out/.a.o.cmd");
    refuses(&demo.words(commands[1], ""), ".a.o.cmd", "a pipe (FIFO)");
    link("tree/shaper/extra.c");
    for command in commands {
        refuses(&demo.words(command, ""), "extra.c", "a pipe (FIFO)");
    }
    std::fs::remove_file(demo.path("tree/shaper/extra.c")).unwrap();
    link("tree/include/shaper.h");
    for command in ["patch --plan =plan.json --tree =tree -o =made", commands[0]] {
        refuses(&demo.words(command, ""), "shaper.h", "a pipe (FIFO)");
    }
}

#[test]
fn a_machine_described_by_a_pipe_is_none() {
    if !fieldline_testing::has_programs(&["mkfifo"]) {
        return;
    }
    let demo = Demo::new();
    std::fs::create_dir(demo.path("proc")).unwrap();
    make_pipe(Path::new(&demo.path("proc/cpuinfo")));
    refuses(&demo.words("doctor --root =", ""), "proc/cpuinfo", "a pipe (FIFO)");
}

#[test]
fn regular_files_behind_links_and_as_standard_input_are_read() {
    let demo = Demo::new();
    std::os::unix::fs::symlink("shaper", demo.path("program")).unwrap();
    assert_eq!(finish(&["layout", "tx_flow", "--vmlinux", &demo.path("program")]).0, Some(0));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    let input = std::fs::File::open(demo.path("shaper")).unwrap();
    let output =
        command.args(["layout", "tx_flow", "--vmlinux", "/dev/stdin"]).stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
