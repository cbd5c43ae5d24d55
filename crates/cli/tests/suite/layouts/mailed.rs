//! Patches by mail, judged by compiling the structs they touch.

use fieldline_testing::has_programs;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const HEADER: &str = "#ifndef QUEUE_H\n#define QUEUE_H\n\nstruct lock {\n\tint owner;\n};\n\n/* A queue. */\n\
    struct queue {\n\tlong id;\n\tvoid *owner;\n\tchar name[40];\n\tstruct lock lock;\n\tint length;\n};\n\n\
    struct holder {\n\tlong id;\n\tstruct queue queue;\n};\n\nstruct other {\n\tint x;\n};\n\n#endif\n";
const CONFIG: &str = "types = [\"queue\", \"holder\"]\n[target.x86]\nfile = \"vmlinux\"\nline = 64\n";

struct MailedTree {
    folder: tempfile::TempDir,
}

impl MailedTree {
    fn new(config: &str) -> Self {
        let tree = Self { folder: tempfile::tempdir().unwrap() };
        tree.write("tree/include/queue.h", HEADER);
        tree.write(
            "tree/net/queue.c",
            "#include \"queue.h\"\nlong f(struct holder *h)\n{\n\treturn h->id;\n}\n",
        );
        tree.write("fieldline.toml", config);
        tree.database(&["queue"]);
        tree
    }

    /// Commands of some units.
    fn database(&self, units: &[&str]) {
        let top = self.path("tree");
        let entry = |name: &&str| {
            let command = format!("gcc -I{0}/include -c -o {name}.o {0}/net/{name}.c", top.display());
            json!({"directory": self.path(""), "file": top.join(format!("net/{name}.c")), "command": command})
        };
        let entries: Vec<Value> = units.iter().map(entry).collect();
        self.write("out/compile_commands.json", &json!(entries).to_string());
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(inner)
    }

    fn write(&self, inner: &str, text: &str) {
        let path = self.path(inner);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A mail of `git format-patch`, whose diff is between two texts of the header.
    fn mail(&self, subject: &str, old: &str, new: &str) -> String {
        self.write("old/a/include/queue.h", old);
        self.write("old/b/include/queue.h", new);
        let mut diff = Command::new("git");
        diff.args(["diff", "--no-index", "a/include/queue.h", "b/include/queue.h"])
            .current_dir(self.path("old"));
        let diff = String::from_utf8(diff.output().unwrap().stdout).unwrap();
        let diff = diff.replace("a/a/", "a/").replace("b/b/", "b/");
        // Different subjects of one length are different mails.
        let id: u32 = subject.bytes().map(u32::from).sum();
        format!(
            "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\nFrom: Ann Author \
             <ann@example.org>\nTo: list@example.org\nCc: bob@example.org\nSubject: {subject}\nMessage-ID: \
             <{id}@example.org>\n\nFrom now on.\n\nSigned-off-by: Ann Author <ann@example.org>\n---\n{diff}-- \n2.43.0\n\n"
        )
    }

    /// Exit code, standard output, standard error.
    fn check(&self, mbox: &str, more: &[&str]) -> (i32, String, String) {
        let mut check = Command::new(env!("CARGO_BIN_EXE_fieldline"));
        check.args(["check", "--mail", "-", "--config"]).arg(self.path("fieldline.toml"));
        check.arg("--tree").arg(self.path("tree")).arg("--build").arg(self.path("out")).args(more);
        check.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = check.spawn().unwrap();
        child.stdin.take().unwrap().write_all(mbox.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    fn json(&self, mbox: &str) -> (i32, Value) {
        let (code, out, err) = self.check(mbox, &["--format", "json"]);
        (code, serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}")))
    }
}

fn is_able() -> bool {
    has_programs(&["gcc", "git"])
}

fn rules(patch: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = patch["findings"].as_array().unwrap().iter();
    found.map(|found| (text(&found["type"]), text(&found["rule"]))).collect()
}

fn grown() -> String {
    HEADER.replace("\tint length;\n", "\tint length;\n\tint credit;\n")
}

#[test]
fn a_patch_that_costs_a_line_is_answered_and_the_tree_stays() {
    if !is_able() {
        return;
    }
    let tree = MailedTree::new(CONFIG);
    let mail = tree.mail("[PATCH] net: Add credit", HEADER, &grown());
    let (code, out, err) = tree.check(&mail, &[]);
    assert_eq!(code, 1, "{out}{err}");
    for line in [
        "To: Ann Author <ann@example.org>",
        "Cc: list@example.org, bob@example.org",
        "Subject: Re: [PATCH] net: Add credit",
        "In-Reply-To: <1933@example.org>",
        "Hi Ann Author,",
        "> include/queue.h",
        "> +\tint credit;",
        "struct queue (include/queue.h:9): 64 -> 72 bytes, 1 -> 2 cachelines, kmalloc 64 -> 96, padding 0 -> 4 bytes",
        "  added     credit (int) at 64, 4 bytes",
        ">> error: x86: queue: 1 -> 2 cachelines [cachelines-grew] (include/queue.h:15)",
    ] {
        assert!(out.lines().any(|own| own == line), "{line}\n{out}");
    }
    // What holds it is named by the configuration; what isn't named is left out.
    assert!(out.contains("struct holder (include/queue.h:18): 72 -> 80 bytes"), "{out}");
    assert!(!out.contains("other"), "{out}");
    assert_eq!(fs::read_to_string(tree.path("tree/include/queue.h")).unwrap(), HEADER);
    assert_eq!(fs::read_dir(tree.path("out")).unwrap().count(), 1);
}

#[test]
fn each_patch_of_a_series_is_judged_by_itself() {
    if !is_able() {
        return;
    }
    let tree = MailedTree::new(&CONFIG.replace(", \"holder\"", ""));
    let (first, second) = (HEADER.replace("int x;", "long x;"), grown().replace("int x;", "long x;"));
    let cover =
        "From 0 Mon Sep 17 00:00:00 2001\nFrom: Ann <ann@example.org>\nSubject: [PATCH 0/3] net\n\nAll.\n\n";
    let mbox = [
        tree.mail("[PATCH 3/3] net: Back again", &second, &first),
        cover.to_owned(),
        tree.mail("[PATCH 2/3] net: Add credit", &first, &second),
        tree.mail("[PATCH 1/3] net: Widen", HEADER, &first),
    ];
    let (code, document) = tree.json(&mbox.concat());
    assert_eq!(code, 1);
    let patches = document["patches"].as_array().unwrap();
    let refused: Vec<bool> = patches.iter().map(|patch| patch["refused"].as_bool().unwrap()).collect();
    assert_eq!(refused, [false, true, false]);
    // Shown, not judged: the configuration doesn't name it.
    let other = &patches[0]["targets"][0]["structs"][0];
    assert_eq!((&other["name"], &other["judged"]), (&json!("other"), &json!(false)));
    assert_eq!((&other["size_before"], &other["size_after"]), (&json!(4), &json!(8)));
    assert_eq!(rules(&patches[0]), []);
    assert!(rules(&patches[1]).contains(&("queue".to_owned(), "cachelines-grew".to_owned())));
    assert_eq!(rules(&patches[2]), []);
    let (_, out, _) = tree.check(&mbox.concat(), &[]);
    assert_eq!(out.matches("\nSubject: Re: ").count(), 3, "{out}");
    assert!(out.contains("[no finding]"), "{out}");
}

#[test]
fn what_no_longer_compiles_is_said() {
    if !is_able() {
        return;
    }
    let tree = MailedTree::new(CONFIG);
    let mail = tree.mail("[PATCH] net: Break", HEADER, &HEADER.replace("int length;", "unknown_t length;"));
    let (code, out, err) = tree.check(&mail, &["--format", "text", "--format", "json=/dev/null"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("net/queue.c no longer compiles") && out.contains("unknown_t"), "{out}");
    assert!(!out.contains("fieldline-tree-"), "{out}");
}

#[test]
fn changes_without_effect_have_no_finding() {
    if !is_able() {
        return;
    }
    let tree = MailedTree::new(CONFIG);
    let comment = HEADER.replace("\tint length;", "\tint length;\t/* in packets */");
    let (code, out, _) = tree.check(&tree.mail("[PATCH] net: Comment", HEADER, &comment), &[]);
    assert_eq!(code, 0);
    assert!(out.contains("[no finding]") && out.contains("queue: the layout stays, 64 bytes"), "{out}");
    let guard = HEADER.replace("/* A queue. */", "/* One queue. */");
    let (code, out, _) = tree.check(&tree.mail("[PATCH] net: Words", HEADER, &guard), &[]);
    assert_eq!(code, 0);
    assert!(out.contains("changes no declaration of a struct"), "{out}");
}

#[test]
fn what_was_so_before_is_not_the_patchs_fault() {
    if !is_able() {
        return;
    }
    let tree =
        MailedTree::new(&format!("{CONFIG}[pin.queue]\nfirst = \"owner\"\n[budget.holder]\nsize = 8\n"));
    let mail = tree.mail("[PATCH] net: Shorter name", HEADER, &HEADER.replace("name[40]", "name[32]"));
    let (code, document) = tree.json(&mail);
    let found = rules(&document["patches"][0]);
    assert!(!found.contains(&("queue".to_owned(), "first-moved".to_owned())), "{found:?}");
    // It is smaller than before and still too large: the message differs.
    assert_eq!((code, found), (1, vec![("holder".to_owned(), "over-budget".to_owned())]));
}

#[test]
fn what_holds_a_struct_elsewhere_is_judged_too() {
    if !is_able() {
        return;
    }
    let tree = MailedTree::new(&CONFIG.replace("\"holder\"", "\"holder\", \"port\", \"apart\""));
    let port = "#include \"queue.h\"\n\nstruct port {\n\tlong id;\n\tstruct queue queue;\n};\n\n\
                struct apart {\n\tstruct queue *queue;\n};\n";
    tree.write("tree/include/port.h", port);
    tree.write("tree/net/port.c", "#include \"port.h\"\nlong g(struct port *p)\n{\n\treturn p->id;\n}\n");
    tree.database(&["queue", "port"]);
    let (code, document) = tree.json(&tree.mail("[PATCH] net: Add credit", HEADER, &grown()));
    assert_eq!(code, 1);
    let found = rules(&document["patches"][0]);
    assert!(found.contains(&("port".to_owned(), "size-grew".to_owned())), "{found:?}");
    let structs = document["patches"][0]["targets"][0]["structs"].as_array().unwrap();
    let names: Vec<&str> = structs.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"port"), "{names:?}");
}

#[test]
fn mails_that_can_not_be_judged_are_errors() {
    if !is_able() {
        return;
    }
    let tree = MailedTree::new(CONFIG);
    let other = tree.mail("[PATCH] net: Elsewhere", &HEADER.replace("int length", "int size"), &grown());
    for (mbox, why) in [
        (other.as_str(), "does not apply to the tree"),
        ("Subject: hello\n\ntext\n", "no patch"),
        ("", "no mail"),
        ("From: a\nSubject: x\n\n--- a/../x.h\n+++ b/../x.h\n@@ -0,0 +1 @@\n+int x;\n", "outside the tree"),
    ] {
        let (code, out, err) = tree.check(mbox, &[]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(why) && err.contains("standard input"), "{err}");
    }
    let lacking = MailedTree::new(&CONFIG.replace("\"queue\"", "\"queue\", \"absent\""));
    let new = HEADER.replace("#endif\n", "#ifdef NEVER\nstruct absent {\n\tint x;\n};\n#endif\n\n#endif\n");
    let (code, _, err) = lacking.check(&lacking.mail("[PATCH] net: New", HEADER, &new), &[]);
    assert!(code == 2 && err.contains("no unit shows struct absent"), "{err}");
}
