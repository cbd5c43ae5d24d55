//! A struct aligned within the one that holds it: plan, patch, series and proof.

use fieldline_access::access::{Access, AccessProfile, SampleCount, TypeProfile, Window};
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

const ALIGNED: &str = "#define __aligned(x) __attribute__((__aligned__(x)))\n";
const USER: &str = "#include \"include/state.h\"\n\nstruct state one;\n";

/// A tree with two structs in a third one. The first loses a cacheline if its members are ordered by size.
struct HolderTree(tempfile::TempDir);

impl HolderTree {
    fn new(is_kernel: bool) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        let mut text = String::new();
        if is_kernel {
            tree.write("tree/include/linux/compiler_attributes.h", ALIGNED);
            text.push_str("#include \"linux/compiler_attributes.h\"\n\n");
        }
        let line = "__attribute__((aligned(64)))";
        write!(text, "struct queue {{\n\tchar name[64] {line};\n").unwrap();
        (0..20).for_each(|number| write!(text, "\tint count{number};\n\tlong sum{number};\n").unwrap());
        write!(text, "}};\n\nstruct entity {{\n\tchar name[64] {line};\n").unwrap();
        (0..8).for_each(|number| writeln!(text, "\tlong load{number};").unwrap());
        text.push_str(
            "};\n\nstruct state {\n\tstruct queue queue;\n\tstruct entity se; /* of the queue */\n};\n",
        );
        tree.write("tree/include/state.h", &text);
        tree.write("tree/state.c", USER);
        tree
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.place(name).parent().unwrap()).unwrap();
        std::fs::write(self.place(name), text).unwrap();
    }

    fn compile(&self, object: &str) {
        let mut gcc = Command::new("gcc");
        gcc.current_dir(self.place("tree")).args(["-g", "-Iinclude", "-c", "state.c", "-o"]);
        assert!(gcc.arg(self.place(object)).status().unwrap().success(), "{object}");
    }

    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
        let output = command.current_dir(self.0.path()).args(args).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }

    /// Writes a profile in which some members of the first struct are touched together, and all of the second.
    fn record(&self) {
        let layouts = types::with_types(&self.place("before.o"), None, None, |types| {
            Ok([types.layouts("queue")?, types.layouts("entity")?].concat())
        });
        let mut profile = AccessProfile::empty();
        for (layout, every) in layouts.unwrap().iter().zip([8, 1]) {
            let touched: Vec<usize> = (0..layout.members.len()).step_by(every).collect();
            add_accesses(&mut profile, layout, &touched);
        }
        std::fs::write(self.place("profile.json"), serde_json::to_vec(&profile).unwrap()).unwrap();
    }

    /// Plans both structs, and gives what came of the one that holds them.
    fn plan(&self, more: &[&str]) -> Value {
        let known = ["--profile", "profile.json", "--vmlinux", "before.o", "-o", "plan.json"];
        let args =
            [&["plan", "--together", "queue,entity", "--candidate", "best"][..], &known, more].concat();
        let (code, text) = self.run(&args);
        assert_eq!(code, Some(0), "{text}");
        let plan: Value = serde_json::from_slice(&std::fs::read(self.place("plan.json")).unwrap()).unwrap();
        assert_eq!(
            (&plan["structs"][0]["chosen"]["size"], &plan["together"][0]["before"]),
            (&320.into(), &512.into())
        );
        plan["together"][0].clone()
    }

    /// The header with the patch, compiled.
    fn apply(&self) -> String {
        let (code, text) = self.run(&["patch", "--plan", "plan.json", "--tree", "tree", "-o", "patches"]);
        assert_eq!(code, Some(0), "{text}");
        let patch = self.place("patches/0001-include-state-h.patch");
        let done =
            Command::new("git").current_dir(self.place("tree")).arg("apply").arg(patch).status().unwrap();
        assert!(done.success());
        self.compile("after.o");
        std::fs::read_to_string(self.place("tree/include/state.h")).unwrap()
    }
}

/// Functions that touch three members each, all of them in one visit.
fn add_accesses(profile: &mut AccessProfile, layout: &Layout, touched: &[usize]) {
    let first = profile.functions.len() as u32;
    let mut held = TypeProfile {
        name: layout.name.clone(),
        size: layout.size,
        fingerprint: layout.fingerprint(),
        ..TypeProfile::default()
    };
    for (place, index) in touched.iter().enumerate() {
        let function = first + place as u32 / 3;
        let loads = SampleCount { samples: 4_000, period: 40_000 };
        let (ip, offset) = (0x1000 * u64::from(function) + 4 * place as u64, layout.members[*index].offset());
        held.accesses.push(Access { ip, function, offset, size: 4, loads, ..Access::default() });
    }
    let count = touched.len().div_ceil(3) as u32;
    profile.functions.extend((first..first + count).map(|function| format!("f{function}")));
    let entries = (first..first + count).flat_map(|function| [(0, function); 3]).collect();
    profile.windows.push(Window { entries, count: 4_000, blocks: Vec::new() });
    profile.types.push(held);
}

#[test]
fn a_part_that_would_begin_within_a_line_is_aligned_and_proven() {
    if !fieldline_testing::has_programs(&["gcc", "git"]) {
        return;
    }
    let tree = HolderTree::new(true);
    tree.compile("before.o");
    tree.record();
    // Without a tree the plan is the same; a patch looks the declaration up.
    let without_tree = tree.plan(&[]);
    let found = tree.plan(&["--tree", "tree"]);
    assert_eq!((&found["parts"][1]["to"], &found["after"]), (&384.into(), &512.into()));
    let aligned = &found["aligned"][0];
    assert_eq!(without_tree, found);
    assert_eq!(
        (&aligned["member"], &aligned["to"], &aligned["padding"]),
        (&"se".into(), &128.into(), &64.into())
    );
    let args = ["patch", "--series", "--from", "A <a@example.org>", "--plan", "plan.json", "--tree", "tree"];
    let (code, text) = tree.run(&[&args[..], &["-o", "series"]].concat());
    assert_eq!(code, Some(0), "{text}");
    let names: Vec<String> = std::fs::read_dir(tree.place("series"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.contains("Align-se-in-struct-state")), "{names:?}");

    let header = tree.apply();
    assert!(header.contains("\tstruct entity se __aligned(128); /* of the queue */\n"), "{header}");
    for object in ["after.o", "after.o=before.o"] {
        let (code, text) = tree.run(&["verify", "--plan", "plan.json", "--vmlinux", object]);
        assert_eq!(code, Some(0), "{text}");
    }
    // The alignment is a part of what is predicted.
    tree.write("tree/include/state.h", &header.replace(" __aligned(128)", ""));
    tree.compile("without.o");
    for object in ["without.o", "without.o=before.o"] {
        let (code, text) = tree.run(&["verify", "--plan", "plan.json", "--vmlinux", object]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("se: predicted at offset 384, is at 320"), "{text}");
    }
}

#[test]
fn other_trees_get_the_attribute_as_c_has_it_and_declarations_that_cant_be_edited_none() {
    if !fieldline_testing::has_programs(&["gcc", "git"]) {
        return;
    }
    let tree = HolderTree::new(false);
    tree.compile("before.o");
    tree.record();
    tree.plan(&["--tree", "tree"]);
    let declared = std::fs::read_to_string(tree.place("tree/include/state.h")).unwrap();
    let header = tree.apply();
    assert!(header.contains("\tstruct entity se __attribute__((aligned(128))); /*"), "{header}");
    assert_eq!(tree.run(&["verify", "--plan", "plan.json", "--vmlinux", "after.o=before.o"]).0, Some(0));
    // A declaration that is not as debug info has it.
    tree.write("tree/include/state.h", &declared.replace("entity se;", "entity se, *next;"));
    let found = tree.plan(&["--tree", "tree"]);
    assert_eq!((&found["parts"][1]["to"], &found["aligned"]), (&320.into(), &Value::Null));
    assert!(found["unaligned"].as_str().unwrap().contains("include/state.h"), "{found}");
}
