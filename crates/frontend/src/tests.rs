//! Each construct in a unit of its own, and what looks like it and is harmless.

mod c;
mod classes;
mod cpp;
mod elsewhere;
mod flow;
mod harmless;
mod memory;
mod parts;
mod projects;
mod tables;
mod values;
mod views;

use crate::{CodeUse, Demand, Edge, Frontend, SourceUnit, Subject, UnitUses};
use std::collections::BTreeSet;
use std::path::Path;

/// libclang, if the machine has it.
fn frontend() -> Option<Frontend> {
    let loaded = Frontend::load();
    fieldline_testing::is_available("libclang (libclang1-19, libclang-common-19-dev)", loaded.is_ok())
        .then_some(())?;
    loaded.ok()
}

fn subject(name: &str) -> Subject {
    Subject { name: name.to_owned(), ..Subject::default() }
}

/// A unit's uses of `s`.
fn read(frontend: &Frontend, folder: &Path, file: &str, text: &str) -> UnitUses {
    frontend.uses(&unit(folder, file, text), &[subject("s")], &BTreeSet::new()).unwrap()
}

/// A file, and how it is compiled.
fn unit(folder: &Path, file: &str, text: &str) -> SourceUnit {
    std::fs::write(folder.join(file), text).unwrap();
    let cpp = file.ends_with("cc");
    let arguments = if cpp { "g++ -std=c++20 -c" } else { "gcc -std=gnu11 -c" };
    SourceUnit {
        file: folder.join(file),
        directory: folder.to_owned(),
        arguments: arguments.split(' ').map(str::to_owned).collect(),
        reads: Vec::new(),
    }
}

/// Uses of `struct s` in a text that has no errors.
fn uses(file: &str, text: &str) -> Option<Vec<CodeUse>> {
    let frontend = frontend()?;
    let folder = tempfile::tempdir().unwrap();
    let found = read(&frontend, folder.path(), file, text);
    assert_eq!(found.errors, [], "{text}");
    let joined = crate::demands(&[&found.flows], &BTreeSet::new());
    Some(found.uses.into_iter().chain(joined.uses).collect())
}

/// Demands of a text, each once, in their own order.
fn demands(file: &str, text: &str) -> Option<Vec<Demand>> {
    let mut demands: Vec<Demand> = uses(file, text)?.into_iter().map(|found| found.demand).collect();
    demands.sort();
    demands.dedup();
    Some(demands)
}

/// Declarations that the texts share.
const HEAD: &str = "typedef unsigned long size_t; typedef unsigned char u8; typedef unsigned long uintptr_t;\n\
    #define offsetof(T, m) __builtin_offsetof(T, m)\n\
    #define NULL ((void *)0)\n\
    void *memset(void *, int, size_t); void *memcpy(void *, const void *, size_t);\n\
    int memcmp(const void *, const void *, size_t); void *malloc(size_t); void free(void *);\n\
    long write(int, const void *, size_t); unsigned hash(const void *, size_t);\n\
    void use(void *); void number(size_t);\n";

/// The struct of most texts.
const S: &str = "struct in { int q, r; };\n\
    struct s { int a; int b; struct in in; long c; char *d; unsigned e, f; };\n";

/// Demands of code behind the shared declarations.
fn asked(text: &str) -> Option<Vec<Demand>> {
    demands("a.c", &format!("{HEAD}{S}{text}"))
}

/// Fails with all texts that ask something else than is expected.
fn expect(cases: &[(&str, &[Demand])], asked: impl Fn(&str) -> Option<Vec<Demand>>) {
    let wrong = cases.iter().filter_map(|(text, expected)| {
        let found = asked(text)?;
        (found != *expected).then(|| format!("{text}\n  expected {expected:?}\n  found    {found:?}\n"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn first(count: usize) -> Demand {
    Demand::First { count }
}

fn range(from: Edge, to: Edge) -> Demand {
    Demand::Range { from, to }
}

fn before(member: &str) -> Edge {
    Edge::Before(member.to_owned())
}

fn behind(member: &str) -> Edge {
    Edge::Behind(member.to_owned())
}

fn offset(member: &str) -> Demand {
    Demand::Offset { member: member.to_owned() }
}

fn last(member: &str) -> Demand {
    Demand::Last { member: member.to_owned() }
}

fn run(members: &[&str]) -> Demand {
    Demand::Run { members: members.iter().map(|member| (*member).to_owned()).collect() }
}

/// Whether a unit depends on the order of `struct s`, if another unit reads the header's functions.
fn depends_with_shared_header(text: &str) -> Option<bool> {
    let frontend = frontend()?;
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("s.h");
    let code = "struct s { int a; int b; };\n\
        static inline int second(struct s *p) { return ((int *)p)[1]; }\n\
        static inline int by_second(struct s *p) { return second(p); }\n\
        static inline void clean(struct s **p) { ((int *)*p)[1] = 0; }\n\
        static __attribute__((used)) int kept(struct s *p) { return p->a; }\n";
    std::fs::write(&header, code).unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, format!("#include \"s.h\"\n{text}\n")).unwrap();
    let arguments = ["gcc", "-c"].map(str::to_owned).to_vec();
    let unit = SourceUnit { file, directory: folder.path().to_owned(), arguments, reads: Vec::new() };
    let found = frontend.uses(&unit, &[subject("s")], &BTreeSet::from([header.as_path()])).unwrap();
    assert_eq!(found.errors, [], "{text}");
    let joined = crate::demands(&[&found.flows], &BTreeSet::new()).uses;
    Some(!found.uses.is_empty() || !joined.is_empty())
}

#[test]
fn functions_of_headers_that_others_read_count_where_they_are_called() {
    for (text, depends) in [
        ("int f(struct s *p) { return p->a; }", false),
        ("int f(struct s *p) { return second(p); }", true),
        ("int f(struct s *p) { return by_second(p); }", true),
        ("int (*f)(struct s *) = by_second;", true),
        ("#define SECOND(p) by_second(p)\nint f(struct s *p) { return SECOND(p); }", true),
        ("void f(struct s *p) { __attribute__((cleanup(clean))) struct s *q = p; }", true),
        ("int f(struct s *) __attribute__((alias(\"g\"))); int g(struct s *p) { return second(p); }", true),
    ] {
        let Some(found) = depends_with_shared_header(text) else { return };
        assert_eq!(found, depends, "{text}");
    }
}
