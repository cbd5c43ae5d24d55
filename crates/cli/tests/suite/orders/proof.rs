//! A plan is proven by compiling it in a build's folder.

use fieldline_testing::has_programs;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

const HEADER: &str = "struct queue {\n\tint id;\n\tvoid *owner;\n\tint length;\n};\n";

fn fieldline(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// A tree with a header that two units include, one by quotes from its own folder, and a build folder beside
/// it.
struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let tree = Self { folder: tempfile::tempdir().unwrap() };
        tree.write("tree/net/queue.h", HEADER);
        tree.write(
            "tree/net/big.c",
            "#include \"queue.h\"\nint big(struct queue *q)\n{\n\treturn q->id + q->length;\n}\n",
        );
        tree.write("tree/net/small.c", "#include \"queue.h\"\nint one;\n");
        fs::create_dir_all(tree.path("out")).unwrap();
        tree
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(inner)
    }

    fn write(&self, inner: &str, text: &str) {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// compile_commands.json, whose commands write files of their own.
    fn database(&self, flags: &str) {
        let tree = self.path("tree");
        let entry = |name: &str| {
            let command =
                format!("cc {flags} -MMD -MF {name}.d -c -o {name}.o {}/net/{name}.c", tree.display());
            json!({"directory": self.path("out"), "file": tree.join(format!("net/{name}.c")), "command": command})
        };
        self.write("out/compile_commands.json", &json!([entry("big"), entry("small")]).to_string());
    }

    /// A plan that puts both ints side by side, made with an object of the tree.
    fn plan(&self) -> PathBuf {
        let object = self.path("queue.o");
        let source = self.path("tree/net/big.c");
        let built = Command::new("cc").args(["-g", "-c", "-o"]).args([&object, &source]).status().unwrap();
        assert!(built.success());
        let path = self.path("plan.json");
        let args = ["plan", "queue", "--static", "--vmlinux", object.to_str().unwrap(), "--tree"];
        let rest = [self.text("tree"), "-o".to_owned(), path.display().to_string()];
        let args: Vec<&str> = args.into_iter().chain(rest.iter().map(String::as_str)).collect();
        let (code, text) = fieldline(&args);
        assert_eq!(code, Some(0), "{text}");
        // Sizes alone find no reason here; the order is given.
        let mut plan: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let struct_plan = &mut plan["structs"][0];
        let declared = struct_plan["declared"]["members"].as_array().unwrap().clone();
        let mut chosen = vec![declared[0].clone(), declared[2].clone(), declared[1].clone()];
        for (member, offset) in chosen.iter_mut().zip([0, 4, 8]) {
            member["offset"] = json!(offset);
        }
        struct_plan["chosen"]["members"] = json!(chosen);
        struct_plan["chosen"]["size"] = json!(16);
        struct_plan["outcome"] = json!("moved");
        fs::write(&path, plan.to_string()).unwrap();
        path
    }

    fn text(&self, inner: &str) -> String {
        self.path(inner).display().to_string()
    }

    fn verify(&self, plan: &Path, more: &[&str]) -> (Option<i32>, String) {
        let (tree, out) = (self.text("tree"), format!("O={}", self.text("out")));
        let args = ["verify", "--plan", plan.to_str().unwrap(), "--tree", &tree, "--build", &out];
        fieldline(&[&args, more].concat())
    }

    /// Every file with its time of change and content.
    fn state(&self) -> Vec<(PathBuf, SystemTime, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.path("tree"), self.path("out")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                match entry.file_type().unwrap().is_dir() {
                    true => folders.push(entry.path()),
                    false => files.push((
                        entry.path(),
                        entry.metadata().unwrap().modified().unwrap(),
                        fs::read(entry.path()).unwrap(),
                    )),
                }
            }
        }
        files.sort();
        files
    }
}

#[test]
fn documents_follow_a_struct() {
    if !has_programs(&["cc"]) {
        return;
    }
    let tree = Tree::new();
    let doc = "/**\n * struct queue - waits\n * @id: names it\n * @owner: has it\n * @length: entries\n */\n";
    tree.write("tree/net/queue.h", &format!("{doc}{HEADER}"));
    let table = |rows: &str| {
        let border = "======== ======== ========";
        format!("queue struct\n============\n\n{border}\nType     Name     tx\n{border}\n{rows}{border}\n")
    };
    let before = table("int      id       rw\nvoid*    owner\nint      length   -\n");
    tree.write("tree/Documentation/networking/net_cachelines/queue.rst", &before);
    let plan = tree.plan();
    let out = tree.text("patches");
    let (code, text) =
        fieldline(&["patch", "--plan", plan.to_str().unwrap(), "--tree", &tree.text("tree"), "-o", &out]);
    assert_eq!(code, Some(0), "{text}");
    let mut patches = String::new();
    for entry in fs::read_dir(&out).unwrap() {
        patches.push_str(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    for change in [
        "+ * @length: entries\n  * @owner",
        "+int      length   -\n void*    owner\n-int      length   -\n",
        "+\tint length;",
    ] {
        assert!(patches.contains(change), "{change}\n{patches}");
    }
}

#[test]
fn the_smallest_unit_shows_the_struct_and_nothing_else_is_written() {
    if !fieldline_testing::has_programs(&["cc"]) {
        return;
    }
    let tree = Tree::new();
    tree.database("-O2");
    let plan = tree.plan();
    let before = tree.state();
    let (code, text) = tree.verify(&plan, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("net/small.c  24 -> 16  3 members as predicted"), "{text}");
    assert_eq!(tree.state(), before);
    let (code, text) = tree.verify(&plan, &["--unit", "net/big.c"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("net/big.c"), "{text}");
}

/// Options of a compiler that write files, by their names or where they are told to.
fn verify_leaves_all_as_it_is(compiler: &str, flags: &str, response: &str) {
    let tree = Tree::new();
    let top = tree.text("tree");
    let write = |text: &str| text.replace("TREE", &top);
    tree.write("out/more.rsp", &write(response));
    fs::create_dir(tree.path("out/sub")).unwrap();
    tree.database(&write(flags));
    let database = fs::read_to_string(tree.path("out/compile_commands.json")).unwrap();
    tree.write("out/compile_commands.json", &database.replace("\"cc ", &format!("\"{compiler} ")));
    let plan = tree.plan();
    let before = tree.state();
    let (code, text) = tree.verify(&plan, &["--unit", "net/big.c"]);
    assert_eq!(code, Some(0), "{text}");
    let after = tree.state();
    let names = |state: &[(PathBuf, SystemTime, Vec<u8>)]| {
        state.iter().map(|(path, ..)| path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&after), names(&before));
    assert_eq!(after, before);
    assert!(fs::read_dir(tree.path("out/sub")).unwrap().next().is_none());
}

#[test]
fn options_of_gcc_that_write_files_write_none() {
    if !fieldline_testing::has_programs(&["gcc"]) {
        return;
    }
    let flags = "-Wa,-adhln=big.lst -Wa,-al=TREE/net/list.s,-I. -Xassembler -ahl=sub/x.lst -save-temps=obj -dumpdir sub/d- \
        -dumpbase q -dumpbase-ext .c -fdump-tree-all -fdump-ipa-all=TREE/net/ipa -da -fprofile-generate=sub -fprofile-arcs \
        --coverage -ftest-coverage -gsplit-dwarf -Wp,-MMD,wp.d -Wp,-DX,-MD,TREE/net/wp.d -fcallgraph-info=su,da \
        -fstack-usage -frecord-gcc-switches -fdiagnostics-format=sarif-file -aux-info TREE/net/aux.X -fcompare-debug \
        -fopt-info-all=opt.txt -freport-bug -MFTREE/net/joined.d -MT x -MJ y -O2 @more.rsp";
    let response = "-MD -MF TREE/net/rsp.d -aux-info sub/rsp.X\n'-fdump-rtl-all' -save-temps -ojoined.o\n";
    verify_leaves_all_as_it_is("gcc", flags, response);
}

#[test]
fn options_of_clang_that_write_files_write_none() {
    let mut clang = Command::new("clang");
    let is_there = clang.arg("--version").output().is_ok_and(|output| output.status.success());
    if !fieldline_testing::is_available("clang", is_there) {
        return;
    }
    let flags = "-serialize-diagnostics TREE/net/x.dia -ftime-trace=sub -save-stats=obj -fsave-optimization-record \
        -foptimization-record-file=TREE/net/r.yaml -fmodules -fmodules-cache-path=sub/cache -fcrash-diagnostics-dir=sub \
        -fprofile-instr-generate=p.raw -fcoverage-mapping -save-temps -gsplit-dwarf -MJ TREE/net/j.json -MMD \
        -Xclang -dependency-file -Xclang TREE/net/cc1.d -Xclang -stats-file=sub/stats -fstack-usage -O2 @more.rsp";
    verify_leaves_all_as_it_is("clang", flags, "-index-store-path sub/index -MD -MF TREE/net/rsp.d\n");
}

#[test]
fn a_compiler_that_writes_to_the_build_all_the_same_is_an_error_with_the_file() {
    if !fieldline_testing::has_programs(&["cc"]) {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    let script = tree.path("wrapper");
    let log = tree.text("out/log");
    fs::write(&script, format!("#!/bin/sh\necho called >> {log}\nexec cc \"$@\"\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    tree.database("");
    let database = fs::read_to_string(tree.path("out/compile_commands.json")).unwrap();
    let called = database.replace("\"cc ", &format!("\"{} ", script.display()));
    tree.write("out/compile_commands.json", &called);
    let (code, text) = tree.verify(&tree.plan(), &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains(&format!("{log}: was written to while")), "{text}");
}

#[test]
fn a_build_that_packs_otherwise_has_its_own_prediction() {
    if !fieldline_testing::has_programs(&["cc"]) {
        return;
    }
    let tree = Tree::new();
    let plan = tree.plan();
    tree.database("-fpack-struct=4");
    let (code, text) = tree.verify(&plan, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("16 -> 16"), "{text}");
}

#[test]
fn what_stops_compiling_fails_with_the_compilers_words() {
    if !fieldline_testing::has_programs(&["cc"]) {
        return;
    }
    let tree = Tree::new();
    let assert = "#include <stddef.h>\n#include \"queue.h\"\n_Static_assert(offsetof(struct queue, length) == 16, \"moved\");\n";
    tree.write("tree/net/small.c", assert);
    tree.database("");
    // The plan was made without the tree's uses, as by hand.
    let plan = tree.plan();
    let (code, text) = tree.verify(&plan, &["--unit", "net/small.c"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("net/small.c does not compile with the patch") && text.contains("moved"), "{text}");
}

#[test]
fn sizes_that_depend_on_the_place_fail_with_both() {
    if !fieldline_testing::has_programs(&["cc"]) {
        return;
    }
    let tree = Tree::new();
    tree.write("tree/net/queue.h", &HEADER.replace("int length;", "char text[__LINE__ * 4 - 12];"));
    tree.write("tree/net/big.c", "#include \"queue.h\"\nint big(struct queue *q)\n{\n\treturn q->id;\n}\n");
    tree.database("");
    let plan = tree.plan();
    let (code, text) = tree.verify(&plan, &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("NOT as predicted") && text.contains("text"), "{text}");
}

#[test]
fn folders_that_tell_nothing_are_errors() {
    if !fieldline_testing::has_programs(&["cc"]) {
        return;
    }
    let tree = Tree::new();
    let plan = tree.plan();
    let (code, text) = tree.verify(&plan, &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("net/queue.h: no unit shows struct queue"), "{text}");
    tree.database("-DBROKEN -fno-such-flag");
    let (code, text) = tree.verify(&plan, &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("does not compile"), "{text}");
    tree.write("out/compile_commands.json", "{}");
    let (code, text) = tree.verify(&plan, &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("compile_commands.json: no list of commands"), "{text}");
    let (code, text) = fieldline(&["verify", "--plan", plan.to_str().unwrap(), "--build", &tree.text("out")]);
    assert_eq!(code, Some(2), "{text}");
}
