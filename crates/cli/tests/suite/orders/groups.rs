//! The groups of a plan as cacheline markers in a tree that has them, checked at startup and proven by
//! compiling.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The parts of a kernel's include/linux/cache.h that are needed.
const CACHE: &str = "#ifndef CACHE_H
#define CACHE_H
#define __aligned(x) __attribute__((__aligned__(x)))
#define __cacheline_group_begin(GROUP) unsigned char __cacheline_group_begin__##GROUP[0]
#define __cacheline_group_end(GROUP) unsigned char __cacheline_group_end__##GROUP[0]
#define __cacheline_group_begin_aligned(GROUP, ...) \\
	__cacheline_group_begin(GROUP) __aligned((__VA_ARGS__ + 0) ? : SMP_CACHE_BYTES)
#define __cacheline_group_end_aligned(GROUP, ...) \\
	__cacheline_group_end(GROUP) __aligned(sizeof(long)); \\
	struct { } __cacheline_group_pad__##GROUP __aligned((__VA_ARGS__ + 0) ? : SMP_CACHE_BYTES)
#define OFFSET(TYPE, MEMBER) __builtin_offsetof(TYPE, MEMBER)
#define CACHELINE_ASSERT_GROUP_MEMBER(TYPE, GROUP, MEMBER) \\
	_Static_assert(OFFSET(TYPE, MEMBER) >= OFFSET(TYPE, __cacheline_group_begin__##GROUP) && \\
		       OFFSET(TYPE, MEMBER) + sizeof(((TYPE *)0)->MEMBER) <= \\
		       OFFSET(TYPE, __cacheline_group_end__##GROUP), #MEMBER)
#endif
";

/// A file with a function that runs at startup.
const USER: &str = "#include \"shaper.h\"
#define __init
struct tx_class first_class;
struct tx_flow first_flow;
struct tx_class *class_of(struct tx_flow *flow);

struct tx_class *class_of(struct tx_flow *flow)
{
	return flow->class;
}

/* Sets up what the others use. */
void __init shaper_init(void)
{
	struct tx_class *class = &first_class;

	first_flow.class = class;
}
";

fn fieldline(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// The demo, its tree that of a kernel.
struct Kernel(tempfile::TempDir);

impl Kernel {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(fieldline(&["demo", folder.path().to_str().unwrap()]).0, Some(0));
        let kernel = Self(folder);
        kernel.write("tree/include/linux/cache.h", CACHE);
        kernel.write("tree/kernel/shaper.c", USER);
        kernel
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.place(name).parent().unwrap()).unwrap();
        std::fs::write(self.place(name), text).unwrap();
    }

    fn plan(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.place("plan.json")).unwrap()).unwrap()
    }

    fn patch(&self, out: &str, more: &[&str]) -> (Option<i32>, String) {
        let place = |name: &str| self.place(name).to_str().unwrap().to_owned();
        let (plan, tree, out) = (place("plan.json"), place("tree"), place(out));
        fieldline(&[&["patch", "--plan", &plan, "--tree", &tree, "-o", &out], more].concat())
    }

    /// Texts of the files in a folder, by name.
    fn files(&self, folder: &str) -> Vec<(String, String)> {
        let entries = std::fs::read_dir(self.place(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = entries.collect();
        paths.sort();
        let read = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        };
        paths.iter().map(read).collect()
    }

    /// Compiles the file with the function for lines of so many bytes.
    fn compile(&self, object: &str, line: u32, flags: &[&str]) {
        assert!(self.compiles(object, line, flags), "{object}");
    }

    fn compiles(&self, object: &str, line: u32, flags: &[&str]) -> bool {
        let size = format!("-DLINE={line}");
        let common = ["-std=gnu11", "-g", "-Iinclude", "-include", "config.h", "-include", "types.h"];
        let more = ["-include", "linux/cache.h", "-c", "kernel/shaper.c", "-o"];
        let mut gcc = Command::new("gcc");
        gcc.current_dir(self.place("tree")).args(flags).arg(size).args(common).args(more);
        gcc.arg(self.place(object)).output().unwrap().status.success()
    }

    /// Takes the tree's cacheline size from a compiler flag.
    fn take_line_from_compiler(&self) {
        let types = self.place("tree/include/types.h");
        let text = std::fs::read_to_string(&types).unwrap();
        let any = text.replace("#define SMP_CACHE_BYTES 64", "#define SMP_CACHE_BYTES LINE");
        assert_ne!(any, text);
        std::fs::write(types, any).unwrap();
    }

    fn sizes(&self, object: &str) -> Vec<u64> {
        let size_in = |name: &str| {
            let object = self.place(object);
            let (_, text) =
                fieldline(&["layout", name, "--vmlinux", object.to_str().unwrap(), "--format", "json"]);
            let layout: Value = serde_json::from_str(&text).unwrap();
            layout["layouts"][0]["size"].as_u64().unwrap()
        };
        ["tx_class", "tx_flow"].map(size_in).to_vec()
    }
}

fn git(folder: &Path, args: &[&str]) {
    let who = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(folder).args(who).args(args).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{args:?}: {text}");
}

/// Groups that mean something: touched together, and brought onto one line by members that move.
fn meant_groups(plan: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    for struct_plan in plan["structs"].as_array().unwrap() {
        let moves = |index: &Value| {
            let mut moved = struct_plan["moved"].as_array().into_iter().flatten();
            moved.any(|member| {
                member["index"] == *index
                    && member["loads"].as_u64().unwrap() + member["stores"].as_u64().unwrap() > 0
            })
        };
        found.extend(struct_plan["groups"].as_array().unwrap().iter().filter(|group| {
            let members = group["members"].as_array().unwrap();
            let is_used = group["kind"] != "cold" && members.len() > 1;
            is_used
                && group["gathered"] == true
                && group["together"].as_f64().unwrap() >= 0.5
                && members.iter().any(moves)
        }));
    }
    found
}

#[test]
fn a_kernel_s_groups_get_comments_and_markers_where_one_drifts() {
    let kernel = Kernel::new();
    let (code, text) = kernel.patch("plain", &[]);
    assert_eq!(code, Some(0), "{text}");
    let patch: String = kernel.files("plain").into_iter().map(|(_, text)| text).collect();
    assert!(!patch.contains("__cacheline_group") && patch.contains("used by "), "{patch}");
    let mut plan = kernel.plan();
    let meant = meant_groups(&plan)[0]["first_offset"].clone();
    let groups = plan["structs"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .flat_map(|planned| planned["groups"].as_array_mut().unwrap());
    groups
        .filter(|group| group["first_offset"] == meant)
        .for_each(|group| group["drifts"] = serde_json::json!(["other.o"]));
    kernel.write("plan.json", &plan.to_string());
    let (code, text) = kernel.patch("drifting", &[]);
    assert_eq!(code, Some(0), "{text}");
    let patch: String = kernel.files("drifting").into_iter().map(|(_, text)| text).collect();
    assert!(patch.contains("+\t__cacheline_group_begin"), "{patch}");
}

#[test]
fn groups_that_mean_something_are_marked_and_checked() {
    let kernel = Kernel::new();
    let (code, text) = kernel.patch("groups", &["--idiom", "groups"]);
    assert_eq!(code, Some(0), "{text}");
    let patch: String = kernel.files("groups").into_iter().map(|(_, text)| text).collect();
    let is_begin_marker = |line: &&str| line.starts_with("+\t__cacheline_group_begin") && line.ends_with(';');
    let begins = patch.lines().filter(is_begin_marker);
    let meant = meant_groups(&kernel.plan()).len();
    assert_eq!((begins.count(), meant > 0), (meant, true), "{patch}");
    let checks = patch.lines().filter(|line| line.starts_with("+static void __init ")).count();
    assert!((1..=2).contains(&checks), "{patch}");
    assert_eq!(patch.lines().filter(|line| line.ends_with("_struct_check();")).count(), checks, "{patch}");
    assert!(text.contains("kernel/shaper.c, called from shaper_init()"), "{text}");
    // Bit-fields have no offset, so nothing asserts them.
    let asserted: Vec<&str> = patch.lines().filter(|line| line.contains("ASSERT_GROUP_MEMBER(")).collect();
    assert!(!asserted.is_empty());
    for bits in ["active", "throttled", "draining", "prio", "queued", "lost", "ecn", "probing"] {
        assert!(!asserted.iter().any(|line| line.contains(&format!(", {bits});"))), "{asserted:?}");
    }
    let (code, text) = kernel.patch("none", &["--idiom", "none"]);
    assert_eq!(code, Some(0), "{text}");
    let files = kernel.files("none");
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(!files[0].1.contains("__cacheline_group"), "{files:?}");
}

#[test]
fn a_tree_without_groups_gets_none_and_says_so() {
    let kernel = Kernel::new();
    std::fs::remove_file(kernel.place("tree/include/linux/cache.h")).unwrap();
    let (code, text) = kernel.patch("default", &[]);
    assert_eq!((code, text.contains("so groups aren't marked")), (Some(0), true), "{text}");
    let (code, text) = kernel.patch("asked", &["--idiom", "groups"]);
    assert_eq!((code, text.contains("cache.h: no cacheline groups")), (Some(2), true), "{text}");
    assert!(!kernel.place("asked").exists());
}

#[test]
fn names_and_the_caller_can_be_given() {
    let kernel = Kernel::new();
    kernel.write("tree/kernel/other.c", &USER.replace("shaper_init", "other_start"));
    let plan = kernel.plan();
    let group = meant_groups(&plan)[0];
    let function = group["functions"][0][0].as_str().unwrap().trim_start_matches('_').to_owned();
    let word = group["purpose"].as_str().map_or(function, str::to_owned);
    let renamed = format!("{word}=own_word");
    let more = ["--idiom", "groups", "--group-name", &renamed, "--check-in", "kernel/other.c:other_start"];
    let (code, text) = kernel.patch("named", &more);
    assert_eq!(code, Some(0), "{text}");
    let patch: String = kernel.files("named").into_iter().map(|(_, text)| text).collect();
    assert!(
        patch.contains("_own_word")
            && patch.contains("/* Own_word: used by")
            && patch.contains("+++ b/kernel/other.c\n"),
        "{patch}"
    );
    let wrong: [(&[&str], &str); 5] = [
        (&["--group-name", "nothing=x"], "no such group; there are "),
        (&["--group-name", "a=a-b"], "letters"),
        (&["--check-in", "kernel/gone.c:init"], "kernel/gone.c"),
        (&["--check-in", "kernel/shaper.c:class_of"], "no __init function of that name"),
        (&["--align-groups", "cond:128"], "for lines of 64 B only"),
    ];
    for (args, reason) in wrong {
        let (code, text) = kernel.patch("wrong", &[&["--idiom", "groups"], args].concat());
        assert_eq!(code, Some(2), "{args:?}: {text}");
        assert!(text.contains(reason), "{args:?}: {text}");
        assert!(!kernel.place("wrong").exists(), "{args:?}");
    }
}

#[test]
fn without_a_place_for_checks_the_markers_stand_alone() {
    let kernel = Kernel::new();
    kernel
        .write("tree/kernel/shaper.c", "#include \"shaper.h\"\nMODULE_LICENSE(\"x\");\nstruct tx_flow a;\n");
    let (code, text) = kernel.patch("alone", &["--idiom", "groups"]);
    assert_eq!((code, text.contains("nothing asserts the groups")), (Some(0), true), "{text}");
    kernel.write("tree/kernel/shaper.c", "#include \"shaper.h\"\nstruct tx_flow a;\nstruct tx_class b;\n");
    let (code, text) = kernel.patch("initcall", &["--idiom", "groups"]);
    assert_eq!(code, Some(0), "{text}");
    let patch: String = kernel.files("initcall").into_iter().map(|(_, text)| text).collect();
    assert!(patch.contains("+core_initcall(tx_") && patch.contains("_struct_check);\n"), "{patch}");
    assert!(patch.contains("+static int __init tx_"), "{patch}");
}

#[test]
fn what_is_built_is_as_predicted_with_markers_and_conditions() {
    if !fieldline_testing::has_programs(&["gcc", "git"]) {
        return;
    }
    let kernel = Kernel::new();
    kernel.take_line_from_compiler();
    let other = ["-UCONFIG_SHAPER_STATS", "-D_CONFIG_H", "-DCONFIG_SHAPER_DEBUG=1"];
    kernel.compile("before-64.o", 64, &[]);
    kernel.compile("before-128.o", 128, &[]);
    kernel.compile("before-other.o", 64, &other);
    let who = "Ada <ada@example.org>";
    let more = ["--idiom", "groups", "--series", "--from", who, "--align-groups", "cond:64"];
    let (code, text) = kernel.patch("series", &more);
    assert_eq!(code, Some(0), "{text}");
    let files = kernel.files("series");
    let cover = &files[0].1;
    let is_aligned = files.iter().any(|(_, text)| text.contains("+\t__cacheline_group_begin_aligned_cond("));
    assert!(is_aligned, "{text}");
    assert!(cover.contains("Why alignment has a condition"), "{cover}");
    assert!(files[1].1.contains("+#define __cacheline_group_begin_aligned_cond(GROUP, COND)"), "{files:?}");
    let tree = kernel.place("tree");
    git(&tree, &["init", "-q"]);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-q", "-m", "base"]);
    for (name, _) in files.iter().skip(1) {
        git(&tree, &["am", kernel.place("series").join(name).to_str().unwrap()]);
        // Each patch compiles by itself.
        kernel.compile("after-64.o", 64, &[]);
    }
    kernel.compile("after-128.o", 128, &[]);
    kernel.compile("after-other.o", 64, &other);
    let verify = |objects: &[String]| {
        let plan = kernel.place("plan.json");
        let args = ["verify", "--plan", plan.to_str().unwrap(), "--vmlinux"];
        fieldline(&[&args[..], &objects.iter().map(String::as_str).collect::<Vec<_>>()].concat())
    };
    let place = |name: &str| kernel.place(name).display().to_string();
    let pair =
        |name: &str| format!("{}={}", place(&format!("after-{name}.o")), place(&format!("before-{name}.o")));
    let (code, text) = verify(&[place("after-64.o"), pair("64"), pair("128"), pair("other")]);
    assert_eq!(code, Some(0), "{text}");
    // Longer lines don't pay for the condition.
    let (before, after) = (kernel.sizes("before-128.o"), kernel.sizes("after-128.o"));
    assert!(before.iter().zip(&after).all(|(before, after)| after <= before), "{before:?} {after:?}");
    let user = std::fs::read_to_string(tree.join("kernel/shaper.c")).unwrap();
    assert!(user.contains("_struct_check();\n\n"), "{user}");
    // A member that isn't in the group doesn't compile.
    let (start, last) = user.rsplit_once("CACHELINE_ASSERT_GROUP_MEMBER(struct ").unwrap();
    let (place, rest) = last.split_once(");").unwrap();
    let parts: Vec<&str> = place.split(", ").collect();
    let plan = kernel.plan();
    let planned =
        plan["structs"].as_array().unwrap().iter().find(|planned| planned["name"] == parts[0]).unwrap();
    let members = planned["chosen"]["members"].as_array().unwrap().iter();
    let mut others = members
        .filter(|member| member.get("bit_size").is_none())
        .filter_map(|member| member["name"].as_str());
    let other = others.find(|name| !user.contains(&format!(", {}, {name})", parts[1]))).unwrap();
    let wrong =
        format!("{start}CACHELINE_ASSERT_GROUP_MEMBER(struct {}, {}, {other});{rest}", parts[0], parts[1]);
    kernel.write("tree/kernel/shaper.c", &wrong);
    assert!(!kernel.compiles("wrong.o", 64, &[]));
}
