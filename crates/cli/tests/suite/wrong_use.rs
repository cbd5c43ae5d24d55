//! Wrong uses: a table of commands with the exit code each must have and what its message must say.
//!
//! Wrong input never looks like success: 2 if an input is missing, broken or belongs to something else, 1 if the
//! inputs were understood and the answer is no.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const PROGRAM: &str = "unsigned sleep(unsigned seconds);
struct tx_class { long a; char b; int c; };
struct other { long x;
    int y; };
struct tx_class class;
struct other others;
int main(void) { sleep(1); return class.c + others.y; }
";
const SECOND_UNIT: &str = "struct other { char a;
    long b; };
struct other second;
";
const CONFIG: &str = "types = [\"tx_class\"]\n[target.main]\nfile = \"small\"\n[rules]\n";

/// Files to use wrongly, in a folder of their own.
struct Inputs {
    folder: TempDir,
}

impl Inputs {
    fn new() -> Self {
        let inputs = Self { folder: tempfile::tempdir().unwrap() };
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
        for name in ["shaper", "shaper.perf.data"] {
            fs::copy(demo.join(name), inputs.path(name)).unwrap();
        }
        std::os::unix::fs::symlink(demo.join("tree"), inputs.path("tree")).unwrap();
        inputs.write("small.c", PROGRAM);
        inputs.write("second.c", SECOND_UNIT);
        inputs
            .must("gcc -g small.c -o small && gcc -g small.c second.c -o double && strip small -o stripped");
        inputs.must("gcc -g -Wl,--build-id=none small.c -o plain");
        // The same layouts in another build.
        let mut rebuilt = fs::read(inputs.path("shaper")).unwrap();
        // The head of a note with a build id of 20 bytes.
        let head = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
        let at = rebuilt.windows(head.len()).position(|bytes| bytes == head).unwrap();
        rebuilt[at + head.len()] ^= 1;
        fs::write(inputs.path("rebuilt"), rebuilt).unwrap();
        inputs.write("garbage", "garbage\n");
        inputs.write("empty", "");
        inputs.write("empty.json", "{}");
        inputs.write("level.toml", &format!("{CONFIG}size-grew = \"wran\"\n"));
        inputs.write("table.toml", &format!("{CONFIG}size-grew = {{ level = \"fatal\" }}\n"));
        inputs.write("rule.toml", &format!("{CONFIG}size-grow = \"warn\"\n"));
        inputs.write("type.toml", &CONFIG.replace("tx_class", "tx_clas"));
        inputs.write("glob.toml", &CONFIG.replace("tx_class", "zz*"));
        inputs.write("file.toml", &CONFIG.replace("\"small\"", "\"nosuch\""));
        inputs.write("good.toml", CONFIG);
        inputs.run("profile --vmlinux shaper --perf shaper.perf.data -o p.json", 0);
        inputs.run("plan tx_class tx_flow --vmlinux shaper --profile p.json --tree tree -o plan.json", 0);
        inputs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn must(&self, line: &str) {
        let status = Command::new("sh").args(["-c", line]).current_dir(self.folder.path()).status();
        assert!(status.unwrap().success(), "{line}");
    }

    fn must_print(&self, line: &str) -> String {
        let output = Command::new("sh").args(["-c", line]).current_dir(self.folder.path()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command line, which must end with `code`; gives all that it printed.
    fn run(&self, line: &str, code: i32) -> String {
        let (ended, printed) = self.output(line);
        assert_eq!(ended, Some(code), "{line}\n{printed}");
        printed
    }

    /// Exit code of a command line, and all that it printed.
    fn output(&self, line: &str) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_fieldline"))
            .args(shlex::split(line).unwrap())
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .output()
            .unwrap();
        let printed =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.code(), printed.concat())
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> =
            fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.retain(|path| !path.ends_with("cache"));
        all.sort();
        all
    }
}

/// A command line, its exit code, and texts that its message must have.
type WrongUse = (&'static str, i32, &'static [&'static str]);

const LAYOUTS: &[WrongUse] = &[
    ("layout nosuch shaper", 2, &["shaper", "'nosuch'"]),
    ("layout tx_clas --vmlinux shaper", 2, &["near names: tx_class"]),
    ("layout 'nosuch_*' shaper", 2, &["nothing matches 'nosuch_*'"]),
    ("layout tx_class 'nosuch_*' shaper", 2, &["nothing matches 'nosuch_*'"]),
    ("layout tx_class vmlinux-6.12", 2, &["vmlinux-6.12: No such file"]),
    ("layout tx_class ./nosuch.o", 2, &["nosuch.o: No such file"]),
    ("layout tx_class garbage", 2, &["garbage", "not an ELF file"]),
    ("layout tx_class empty", 2, &["empty"]),
    ("layout nosuch tree --vmlinux small", 2, &["'nosuch'"]),
    ("layout tx_class shaper --lines 48", 2, &["power of two"]),
    ("layout tx_class shaper --lines 64,", 2, &["--lines"]),
    ("layout tx_class shaper --format xml", 2, &["text, pahole, json"]),
    ("layout tx_class shaper --format text --style pahole", 2, &["--style"]),
    ("layout tx_class shaper --from small", 2, &["--from"]),
    ("layout tx_class shaper --color maybe", 2, &["auto, always, never"]),
    ("layout tx_class shaper --threads 0", 2, &["--threads"]),
    ("layout tx_class shaper -q -v", 2, &["cannot be used with"]),
    ("layout tx_class shaper --btf-base garbage", 2, &["--debug-format btf"]),
    ("layout tx_class shaper --debug-format btf", 2, &[".BTF"]),
    ("layout tx_class stripped", 2, &["stripped", "debug info"]),
    ("diff small", 2, &["name the later one"]),
    ("diff small nosuch", 2, &["nosuch: No such file"]),
    ("diff small shaper nosuch", 2, &["'nosuch'"]),
    ("diff small shaper tx_class 'zz*'", 2, &["nothing matches 'zz*'"]),
    ("diff small shaper --format xml", 2, &["text, json, markdown"]),
    ("diff small shaper --exit-code", 1, &["tx_class"]),
    ("diff small --vmlinux shaper --exit-code tx_class", 1, &["tx_class"]),
    ("diff git:nosuch small", 2, &["git:REV:FILE"]),
    ("baseline nosuch small -o b.json", 2, &["'nosuch'"]),
    ("baseline tx_class 'zz*' small -o b.json", 2, &["nothing matches 'zz*'"]),
    ("baseline tx_class -o b.json", 2, &["--vmlinux FILE"]),
    ("baseline tx_class small -o nosuch/b.json", 2, &["cannot write nosuch/b.json"]),
    ("init nosuch small -o i.toml", 2, &["'nosuch'"]),
    ("init tx_class 'zz*' small -o i.toml", 2, &["nothing matches 'zz*'"]),
    ("init small -o i.toml", 2, &["name the types to check", "--profile"]),
    ("init tx_class small -o good.toml", 2, &["good.toml: is there already", "-o"]),
    ("init tx_class small --profile plan.json -o i.toml", 2, &["a fieldline-plan file"]),
    ("check", 2, &["fieldline.toml", "fieldline init"]),
    ("check --config nosuch.toml", 2, &["nosuch.toml", "fieldline init"]),
    ("check --config garbage", 2, &["garbage:1"]),
    ("check --config level.toml", 2, &["level.toml:5", "\"wran\"", "\"off\", \"warn\", \"error\"", "'warn'"]),
    ("check --config table.toml", 2, &["table.toml:5", "\"fatal\"", "\"off\", \"warn\", \"error\""]),
    ("check --config rule.toml", 2, &["rule.toml:5", "'size-grow'", "did you mean 'size-grew'?"]),
    ("check --config type.toml", 2, &["'tx_clas'"]),
    ("check --config glob.toml", 2, &["nothing matches 'zz*'"]),
    ("check --config file.toml", 2, &["nosuch"]),
    ("check --config good.toml --vmlinux nosuch", 2, &["nosuch"]),
    ("check --config good.toml --vmlinux small --vmlinux shaper", 2, &["has another one already"]),
    ("check --config good.toml --against nosuch.json", 2, &["nosuch.json"]),
    ("check --config good.toml --format xml", 2, &["xml"]),
    ("check --config good.toml --today tomorrow", 2, &["2026-01-31"]),
];

const ACCESSES: &[WrongUse] = &[
    ("profile --vmlinux small --perf shaper.perf.data", 2, &["none of its samples is of small", "shaper"]),
    ("profile --vmlinux small --perf shaper.perf.data --force", 2, &["none of its samples is of small"]),
    ("samples --vmlinux small --perf shaper.perf.data", 2, &["none of its samples is of small"]),
    ("profile --vmlinux rebuilt --perf shaper.perf.data", 2, &["none of its samples is of rebuilt"]),
    ("profile --vmlinux shaper --perf garbage", 2, &["garbage:1", "perf script"]),
    ("profile --vmlinux shaper --perf p.json", 2, &["p.json"]),
    ("profile --vmlinux shaper --perf empty", 2, &["empty"]),
    ("profile --vmlinux shaper --perf nosuch", 2, &["nosuch: cannot read", "No such file"]),
    ("profile --vmlinux stripped --perf shaper.perf.data", 2, &["stripped"]),
    ("profile --perf shaper.perf.data", 2, &["--vmlinux"]),
    ("report nosuch --profile p.json", 2, &["no samples of struct nosuch", "tx_class"]),
    ("report tx_clas --profile p.json", 2, &["did you mean 'tx_class'?"]),
    ("report tx_class --profile p.json plain", 2, &["plain", "another layout"]),
    ("report tx_class --profile p.json rebuilt", 2, &["p.json: made with build id", "rebuilt"]),
    ("report --profile plan.json", 2, &["a fieldline-profile file is expected"]),
    ("report --profile empty.json", 2, &["not a fieldline-profile file"]),
    ("explain nosuch shaper", 2, &["nosuch"]),
    ("explain mai shaper", 2, &["did you mean 'main'?"]),
    ("explain 0x1 shaper", 2, &["0x1: no function"]),
    ("explain main+0xffff shaper", 2, &["only 0x"]),
    ("explain main+x shaper", 2, &["no offset"]),
    ("explain main", 2, &["--vmlinux FILE"]),
    ("doctor --perf garbage", 2, &["garbage:1"]),
    ("doctor --perf shaper.perf.data --vmlinux small", 2, &["none of its samples is of small"]),
    ("doctor nosuch --perf shaper.perf.data --vmlinux shaper", 2, &["'nosuch'"]),
    ("doctor tx_class --perf shaper.perf.data", 2, &["--vmlinux FILE"]),
    ("doctor --json", 2, &["--json"]),
    ("import garbage --vmlinux small", 2, &["garbage"]),
    ("merge p.json -o m.json", 2, &["PROFILE"]),
    ("merge p.json p.json -o m.json", 2, &["the same samples"]),
    ("merge p.json plan.json -o m.json", 2, &["plan.json: a fieldline-plan file"]),
    ("record -o r.data -- ./nosuch", 2, &["cannot run ./nosuch"]),
    ("record -o nosuch/r.data -- /bin/true", 2, &["cannot write nosuch/r.data"]),
    ("record --object tx_class@nosuch --kill -- ./small", 2, &["nosuch"]),
    ("record --object tx_class@class --members bb --kill -- ./small", 2, &["did you mean 'b'?"]),
    ("record --kernel --object a@b", 2, &["--vmlinux"]),
];

const ORDERS: &[WrongUse] = &[
    ("plan nosuch --vmlinux shaper --profile p.json", 2, &["'nosuch'"]),
    ("plan tx_class nosuch --vmlinux shaper --profile p.json", 1, &["struct nosuch: refused", "'nosuch'"]),
    ("plan tx_class --vmlinux plain --profile p.json", 2, &["plain", "another layout"]),
    (
        "plan tx_class --vmlinux rebuilt --profile p.json -o o.json",
        2,
        &["p.json: made with build id", "rebuilt"],
    ),
    ("plan tx_class --vmlinux shaper --profile plan.json", 2, &["a fieldline-profile file is expected"]),
    (
        "plan tx_class --vmlinux shaper --profile p.json --candidate 99 -o o.json",
        2,
        &["--candidate 99", "smaller number"],
    ),
    ("plan tx_class --vmlinux shaper --profile p.json --candidate 0", 2, &["a number from 1 on"]),
    ("plan tx_class --vmlinux shaper --profile p.json --candidate most", 2, &["best, smallest or a number"]),
    ("plan tx_class --vmlinux shaper --profile p.json --tree nosuch", 2, &["nosuch"]),
    (
        "plan tx_class --vmlinux shaper --profile p.json --tree tree --build tree",
        2,
        &["compile_commands.json"],
    ),
    ("plan tx_class --vmlinux shaper --profile p.json --pins garbage", 2, &["garbage:1"]),
    ("plan tx_class --vmlinux shaper --profile p.json --also nosuch", 2, &["nosuch"]),
    ("plan tx_class --vmlinux stripped --profile p.json", 2, &["stripped"]),
    ("plan tx_class --vmlinux shaper", 2, &["--profile"]),
    ("plan tx_class --profile p.json", 2, &["--vmlinux FILE"]),
    ("plan --static shaper", 2, &["no struct is named"]),
    ("propose nosuch --vmlinux shaper --perf shaper.perf.data --tree tree -o out", 2, &["'nosuch'"]),
    (
        "propose tx_class --vmlinux small --perf shaper.perf.data --tree tree -o out",
        2,
        &["none of its samples"],
    ),
    ("propose tx_class --vmlinux shaper --perf shaper.perf.data --tree nosuch -o out", 2, &["nosuch"]),
    (
        "propose tx_class --vmlinux shaper --perf shaper.perf.data --tree tree --candidate 99 -o out",
        2,
        &["--candidate 99"],
    ),
    ("patch --plan p.json --tree tree -o out", 2, &["a fieldline-plan file is expected"]),
    ("patch --plan plan.json --tree nosuch -o out", 2, &["nosuch"]),
    ("patch --plan plan.json --tree cache -o out", 2, &["not in this tree"]),
    ("patch --plan plan.json --tree tree --from 'A <a@b>' -o out", 2, &["--series"]),
    ("verify --plan plan.json", 2, &["--vmlinux"]),
    ("verify --plan plan.json --vmlinux small", 2, &["small", "'tx_flow'"]),
    ("verify --plan plan.json --vmlinux shaper", 1, &["predicted at offset"]),
    ("verify --plan plan.json --object shaper", 2, &["--object"]),
    ("verify --plan plan.json --tree tree", 2, &["--vmlinux"]),
    ("simulate --plan plan.json --profile p.json --vmlinux rebuilt", 2, &["p.json: made with build id"]),
    ("simulate --plan plan.json", 2, &["--trace"]),
    ("simulate --plan plan.json --profile p.json --vmlinux plain", 2, &["plain", "another layout"]),
    ("place tx_class rebuilt --profile p.json --member 'long z'", 2, &["p.json: made with build id"]),
    ("place nosuch shaper --member 'long z'", 2, &["nosuch"]),
    ("place tx_class other small --member 'long z'", 2, &["TYPE"]),
    ("place tx_class --member 'long z'", 2, &["--vmlinux FILE"]),
    ("place tx_class small --member 'long z' --with cc", 2, &["--with cc", "did you mean 'c'?"]),
    ("place tx_class plain --member 'long z' --profile p.json", 2, &["another layout"]),
];

/// Runs a table; nothing may be written.
fn check(table: &[WrongUse]) {
    let inputs = Inputs::new();
    fs::create_dir_all(inputs.path("cache")).unwrap();
    let before = inputs.files();
    let mut wrong = String::new();
    for (line, code, texts) in table {
        let (ended, printed) = inputs.output(line);
        let has_texts = texts.iter().all(|text| printed.contains(text));
        if ended != Some(*code) || !has_texts || printed.contains("panicked") || inputs.files() != before {
            wrong.push_str(&format!("{line}: {ended:?} for {code}; {texts:?} in\n{printed}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn wrong_uses_of_layouts_end_with_the_way_out() {
    check(LAYOUTS);
}

#[test]
fn wrong_uses_of_recordings_end_with_the_way_out() {
    check(ACCESSES);
}

#[test]
fn wrong_uses_of_orders_end_with_the_way_out() {
    check(ORDERS);
}

#[test]
fn of_several_definitions_it_is_said_which_is_taken() {
    let inputs = Inputs::new();
    for line in ["plan other --static double", "place other double --member 'long z'"] {
        let printed = inputs.run(line, 0);
        assert!(printed.contains("struct other has 2 definitions; the one of "), "{line}\n{printed}");
    }
    let printed = inputs.run("layout other double", 0);
    assert!(printed.contains("definition 1 of 2") && printed.contains("definition 2 of 2"), "{printed}");
    assert!(!inputs.run("plan other --static double -q", 0).contains("note:"));
}

/// Bindings repeat C's structs, often without their members, and more units may have them.
#[test]
fn opaque_copies_of_rust_do_not_shadow_structs_of_c() {
    let inputs = Inputs::new();
    for unit in ["one", "two"] {
        inputs.write(
            &format!("{unit}.rs"),
            &format!(
                "#![no_std]
                #[allow(non_camel_case_types)]
                pub mod bindings {{ #[repr(C)] pub struct tx_class {{ _unused: [u8; 0] }} }}
                pub static {}: Option<&'static bindings::tx_class> = None;",
                unit.to_uppercase()
            ),
        );
        inputs.must(&format!("rustc -g --crate-type lib --emit obj -o {unit}.o {unit}.rs"));
    }
    inputs.must("gcc -g -c small.c -o c.o && ld -r one.o two.o c.o -o mixed.o");
    let printed = inputs.run("plan tx_class --static mixed.o", 1);
    assert!(
        printed.contains("has 2 definitions; the one of") && printed.contains("with 16 bytes"),
        "{printed}"
    );
}

#[test]
fn the_compilers_copies_of_a_function_are_explained_by_its_name() {
    let inputs = Inputs::new();
    inputs.write(
        "copy.c",
        "struct s { long a, b; };
        static __attribute__((noinline)) long get(struct s *s, int unused) { return s->b; }
        long use(struct s *s) { return get(s, 1) + get(s + 1, 1); }",
    );
    inputs.must("gcc -g -O2 -c copy.c -o copy.o && nm copy.o | grep -q 'get\\.'");
    let address = inputs.must_print("nm copy.o | grep ' get' | cut -d' ' -f1");
    let by_address = inputs.run(&format!("explain 0x{} copy.o", address.trim()), 0);
    let name = by_address.split_whitespace().next().unwrap();
    assert_eq!(name, "get+0x0");
    assert_eq!(inputs.run(&format!("explain {name} copy.o"), 0), by_address);
}

#[test]
fn json_is_the_same_on_standard_output_and_in_the_file() {
    let inputs = Inputs::new();
    let plan = "plan tx_class --vmlinux shaper --profile p.json";
    let printed = inputs.run(&format!("{plan} --format json -o twice.json"), 0);
    assert_eq!(printed, fs::read_to_string(inputs.path("twice.json")).unwrap());
    let commands = [
        ("profile --vmlinux shaper --perf shaper.perf.data", "fieldline-profile", 0),
        ("profile --coverage --vmlinux shaper --perf shaper.perf.data", "fieldline-coverage", 0),
        ("samples --vmlinux shaper --perf shaper.perf.data", "fieldline-samples", 0),
        ("explain main shaper", "fieldline-explain", 0),
        ("report --profile p.json", "fieldline-report", 0),
        ("simulate --plan plan.json --profile p.json --vmlinux shaper", "fieldline-simulation", 0),
        ("verify --plan plan.json --vmlinux shaper", "fieldline-verify", 1),
        ("place tx_flow shaper --member 'long z'", "fieldline-place", 0),
        ("diff small shaper", "fieldline-diff", 0),
        ("layout tx_class small", "fieldline-layout", 0),
    ];
    for (line, format, code) in commands {
        let printed = inputs.run(&format!("{line} --format json -q"), code);
        let document: serde_json::Value =
            serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!((document["format"].as_str(), &document["version"]), (Some(format), &1.into()), "{line}");
    }
}

#[test]
fn colours_are_printed_as_asked() {
    let inputs = Inputs::new();
    let is_coloured = |more: &str| inputs.run(&format!("layout tx_class small {more}"), 0).contains('\u{1b}');
    assert!(is_coloured("--color always"));
    assert!(!is_coloured("--color never") && !is_coloured(""));
}

#[test]
fn a_configuration_names_its_files_from_its_own_folder() {
    let inputs = Inputs::new();
    fs::create_dir(inputs.path("ci")).unwrap();
    inputs.run("init tx_class small -o ci/fieldline.toml", 0);
    let text = fs::read_to_string(inputs.path("ci/fieldline.toml")).unwrap();
    assert!(text.contains("file = \"../small\""), "{text}");
    inputs.run("baseline tx_class small -o ci/layouts.json", 0);
    inputs.run("check --config ci/fieldline.toml", 0);
    let printed = inputs.run("init tx_class small -o -", 0);
    assert!(printed.contains("file = \"small\"") && !inputs.path("-").exists(), "{printed}");
    let other = inputs.run("check --config ci/fieldline.toml --vmlinux shaper", 1);
    assert!(other.contains("tx_class"), "{other}");
}
