//! Constructs of C that depend on an order.

use super::*;

#[test]
fn initialisers_by_position_hold_as_many_members_as_they_have_values() {
    let cases: &[(&str, &[Demand])] = &[
        ("struct s v = { 1, 2 };", &[first(2)]),
        ("typedef struct s t; typedef t tt; tt v = { 1, 2, { 3, 4 }, 5 };", &[first(4)]),
        ("struct s v = { 1, 2, 3, 4, 5 };", &[first(4)]),
        ("struct s v[] = { { 1 }, { 1, 2 }, [7] = { 1, 2, { 3 } } };", &[first(1), first(2), first(3)]),
        ("struct s v[2] = { 1, 2, 3, 4, 5, NULL, 7, 8, 9 };", &[first(1), first(7)]),
        ("struct o { struct s x; int y; } v = { { 1, 2 }, 3 };", &[first(2)]),
        ("struct o { int y; struct s x; } v = { .x = { 1, 2 } };", &[first(2)]),
        ("struct o { int y; struct s x[2]; } v = { 9, { { 1, 2 }, { 1 } } };", &[first(1), first(2)]),
        ("struct o { int y; struct s x; } v = { 9, 1, 2, 3, 4 };", &[first(3)]),
        ("#define V { 1, 2, { 3 } }\nstruct s v = V;", &[first(3)]),
        ("void f(void) { use(&(struct s){ 1, 2 }); }", &[first(2)]),
        ("struct s v = { .b = 2, { 3 }, 4 };", &[run(&["b", "in", "c"])]),
        ("struct s v = { 0, 0 };", &[first(2)]),
        ("struct o { int y; struct s x; int z; } v = { .x.b = 1, { 2 }, 3 };", &[Demand::Whole]),
        ("struct s v[] = { [2].a = 1, 2 };", &[first(1), Demand::Whole]),
        ("void f(int x) { struct s v = (struct s){ x, .c = 2 }; use(&v); }", &[first(1)]),
        ("typedef struct s row[2]; row v = { { 1, 2 } };", &[first(2)]),
        // Compilers warn of these if another kind of member comes first.
        ("struct s v = { NULL };", &[first(1)]),
        ("struct s v = { { 0 } };", &[first(1)]),
        ("struct s v[2] = { NULL };", &[first(1)]),
        ("struct s v = { 0 }, w[2] = { { 0 }, { 0 } }, x[2] = { 0 };", &[]),
    ];
    expect(cases, asked);
}

#[test]
fn ranges_keep_what_lies_in_them() {
    let all = |text: &str| asked(&format!("void f(struct s *p, struct s *q, int fd) {{ {text} }}"));
    let front = || range(Edge::Begin, before("c"));
    let middle = || range(before("b"), before("d"));
    expect(
        &[
            ("memset(p, 0, offsetof(struct s, c));", &[front()]),
            ("memcpy(p, q, offsetof(struct s, c));", &[front()]),
            ("memcpy(p, q, sizeof(char[offsetof(struct s, c)]));", &[front()]),
            ("memcpy(p, q, sizeof(*(char (*)[offsetof(struct s, c)])q));", &[front()]),
            ("write(fd, p, offsetof(struct s, c));", &[first(3)]),
            ("size_t n = offsetof(struct s, c); memset(p, 0, n);", &[front()]),
            (
                "memset(p, 0, offsetof(struct s, c) + sizeof(p->c));",
                &[range(Edge::Begin, before("d")), range(Edge::Begin, behind("c"))],
            ),
            ("memset(&p->b, 0, (char *)&p->d - (char *)&p->b);", &[middle()]),
            ("memset(&p->b, 0, offsetof(struct s, d) - offsetof(struct s, b));", &[middle()]),
            ("memset(&p->b, 0, sizeof(*p) - offsetof(struct s, b));", &[range(before("b"), Edge::End)]),
            (
                "memset((char *)p + offsetof(struct s, b), 0, sizeof(struct s) - offsetof(struct s, b));",
                &[range(before("b"), Edge::End)],
            ),
            ("memset(p, 0, (size_t)&((struct s *)0)->c);", &[front()]),
            // Eight bytes are these two members only in this order.
            ("memcpy(&p->a, &q->a, 8);", &[run(&["a", "b"])]),
            ("memset(p->d, 'x', sizeof(long)); memset(&p->a, 'x', sizeof(int));", &[]),
            ("if ((uintptr_t)&p->c & 7 || &p->c != 0) use(p);", &[]),
            ("memset(p, 0, offsetof(struct s, in.r));", &[range(Edge::Begin, before("in"))]),
            ("unsigned mix(void *, size_t); mix(&p->e, sizeof(p->e) + sizeof(p->f));", &[run(&["e", "f"])]),
            (
                "memset((char *)p + sizeof(int), 0, sizeof(*p) - sizeof(int));",
                &["b", "c", "d", "e", "f", "in"].map(offset),
            ),
            ("memset((char *)(p + 1), 0, 8);", &[]),
            (
                "char b[16], *strncpy(char *, const char *, size_t); strncpy(b, (char *)&p->e, 16);",
                &[run(&["e", "f"])],
            ),
            (
                "switch (fd) { case offsetof(struct s, b) ... offsetof(struct s, d): use(p); }",
                &[range(Edge::Begin, before("b")), range(Edge::Begin, before("d")), offset("b"), offset("d")],
            ),
            ("int n = &p->b - &p->a;", &[range(before("a"), before("b"))]),
        ],
        all,
    );
}

#[test]
fn offsets_that_are_relied_on_stay() {
    let cases: &[(&str, &[Demand])] = &[
        ("_Static_assert(offsetof(struct s, c) == 16, \"\");", &[offset("c")]),
        ("enum { K = offsetof(struct s, b) };", &[offset("b")]),
        ("char pad[offsetof(struct s, c)];", &[offset("c")]),
        ("_Static_assert(sizeof(struct s) == 40, \"\");", &[Demand::Size, Demand::Room]),
        (
            "void f(void) { asm(\"\" : : \"i\"(offsetof(struct s, c))); }",
            &[Demand::Assembler { member: "c".into() }],
        ),
        (
            "#define BUG(x) ((void)sizeof(char[1 - 2 * !!(x)]))\nvoid f(void) { BUG(offsetof(struct s, b) != 4); }",
            &[offset("b")],
        ),
        ("void f(char *t, struct s *p) { use(*(char (*)[offsetof(struct s, c)])t); }", &[]),
        (
            "char t[99]; void f(void) { typeof(t) *x = (typeof(&t))(char (*)[offsetof(struct s, c)])t; use(x); }",
            &[],
        ),
    ];
    expect(cases, asked);
}

#[test]
fn casts_hold_what_both_types_begin_with() {
    let counterpart = "struct u { int x; int y; char *z; };\n";
    let all = |text: &str| asked(&format!("{counterpart}{text}"));
    expect(
        &[
            ("int f(struct s *p) { return ((struct u *)p)->y; }", &[first(2)]),
            ("struct s g; int f(void) { void *v = &g; struct u *u = v; return u->x; }", &[first(2)]),
            (
                "static int h(void *v) { struct u *u = v; return u->x; } int f(struct s *p) { return h(p); }",
                &[first(2)],
            ),
            ("int f(struct s *p) { return *(int *)p; }", &[first(1)]),
            ("long f(struct s *p) { return *(long *)p; }", &[first(2)]),
            ("long f(struct s *p) { return *(long *)&p->e; }", &[run(&["e", "f"]), offset("e")]),
            ("struct s *f(int *a) { return (struct s *)a; }", &[first(1)]),
            ("union w { struct s s; struct u u; };", &[first(2)]),
            ("union w { struct s s; u8 bytes[40]; };", &[Demand::Whole]),
        ],
        all,
    );
}

#[test]
fn bytes_that_leave_hold_all() {
    let all =
        |text: &str| asked(&format!("void f(struct s *p, struct s *q, int fd, char *buf) {{ {text} }}"));
    expect(
        &[
            ("write(fd, p, sizeof(*p));", &[Demand::Whole]),
            (
                "struct iovec { void *iov_base; size_t iov_len; } v = { p, sizeof(*p) }; use(&v);",
                &[Demand::Whole],
            ),
            (
                "struct iovec { void *iov_base; size_t iov_len; } v; v.iov_base = p; use(&v);",
                &[Demand::Whole],
            ),
            ("unsigned mix(void *, int, size_t); mix(p, 3, sizeof *p);", &[Demand::Whole]),
            ("number(*(int *)((char *)p + 8));", &[offset("in")]),
            ("void hash_find(void *, size_t); hash_find(p, sizeof(*p));", &[Demand::Whole]),
            ("int ioctl(int, unsigned long, ...); ioctl(fd, 5, p);", &[Demand::Whole]),
            ("hash(p, sizeof(struct s));", &[Demand::Whole]),
            ("memcmp(p, q, sizeof *p);", &[Demand::Whole]),
            ("char b[64]; memcpy(b, p, sizeof(*p)); use(b);", &[Demand::Whole]),
            ("char b[64]; memcpy(b, p, sizeof(*p)); number(b[0]);", &[Demand::Whole]),
            ("char b[64] = {1}; memcpy(b, p, sizeof(*p)); memcpy(q, b, sizeof(*q));", &[Demand::Whole]),
            ("char b[64]; memcpy(b, p, sizeof(*p)); memcpy(q, b, sizeof(*q));", &[]),
            ("char b[64]; memcpy(b, p, sizeof(*p)); memcpy(q, b, 8);", &[first(2), Demand::Whole]),
            ("memcpy(p, buf, sizeof(*p));", &[Demand::Whole]),
            ("p = (struct s *)buf; use(p);", &[Demand::Whole]),
            ("for (int i = 0; i < 8; i++) number(((u8 *)p)[i]);", &[Demand::Whole]),
            ("const char *c = (char *)p; while (*c) c++;", &[first(1), Demand::Whole]),
        ],
        all,
    );
}

#[test]
fn tails_stay_last() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "struct s { int n; char name[1]; };\nvoid *f(size_t n) { return malloc(offsetof(struct s, name) + n); }",
            &[last("name")],
        ),
        ("struct s { int n; char name[]; };", &[last("name")]),
        ("typedef struct { long b[1]; } m; typedef m mask[1]; struct s { int n; mask name; };", &[]),
        (
            "struct s { int n; char name[8]; };\nvoid *f(size_t n) { return malloc(offsetof(struct s, name) + n); }",
            &[last("name")],
        ),
        (
            "struct s { int n; char k; char buf[]; };\nchar f(struct s *p) { return p->buf[-1]; }",
            &[run(&["k", "buf"]), last("buf")],
        ),
    ];
    expect(cases, |text| demands("a.c", &format!("{HEAD}{text}")));
}

#[test]
fn walks_hold_members_in_a_row() {
    let all = |text: &str| asked(&format!("int f(struct s *p, int i) {{ {text} }}"));
    expect(
        &[
            ("return (&p->a)[1];", &[run(&["a", "b"])]),
            ("return (&p->a)[i];", &[run(&["a", "b"])]),
            ("int *x = &p->a; return x[i];", &[run(&["a", "b"])]),
            ("int *x = &p->a; x++; return *x;", &[run(&["a", "b"])]),
            ("return *(&p->a + 1);", &[run(&["a", "b"])]),
        ],
        all,
    );
}

#[test]
fn definitions_say_that_they_are_shared() {
    let cases: &[(&str, &[Demand])] = &[
        ("struct s { int a; char b; } __attribute__((packed));", &[Demand::Whole]),
        ("#pragma pack(1)\nstruct s { char a; int b; };\n#pragma pack()", &[Demand::Whole]),
        ("typedef unsigned __le32; typedef __le32 mine; struct s { int a; mine b; };", &[Demand::Whole]),
    ];
    expect(cases, |text| demands("a.c", text));
}

#[test]
fn uses_name_the_macro_they_were_written_in() {
    let text = format!(
        "{HEAD}{S}#define RESET offsetof(struct s, c)\n#define TABLE \\\n  {{ 1, 2 }}\n\
        void f(struct s *p) {{ memset(p, 0, RESET - offsetof(struct s, b)); }}\nstruct s v = TABLE;\n"
    );
    let Some(found) = uses("a.c", &text) else { return };
    let named: Vec<_> =
        found.iter().map(|found| found.macro_definition.as_ref().map(|found| found.name.as_str())).collect();
    assert!(named.contains(&Some("RESET")) && named.contains(&Some("TABLE")), "{found:?}");
}

#[test]
fn a_unit_with_errors_says_so_and_structs_of_one_name_are_distinct() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let found = read(
        &frontend,
        folder.path(),
        "a.c",
        "struct s { int a, b; };\nunknown x;\nstruct s v = { 1, 2 };\n",
    );
    assert_eq!(found.errors[0].line, 2);
    std::fs::write(folder.path().join("other.h"), "struct s { int a, b; };\n").unwrap();
    let unit = SourceUnit {
        file: folder.path().join("b.c"),
        directory: folder.path().to_owned(),
        arguments: vec!["cc".to_owned()],
        reads: Vec::new(),
    };
    std::fs::write(&unit.file, "#include \"other.h\"\nstruct s v = { 1, 2 };\n").unwrap();
    for (file, line, count) in [("other.h", 1, 1), ("else.h", 1, 0), ("other.h", 90, 0)] {
        let wanted = Subject { file: Some(file.into()), line: Some(line), ..subject("s") };
        assert_eq!(
            frontend.uses(&unit, &[wanted], &BTreeSet::new()).unwrap().uses.len(),
            count,
            "{file}:{line}"
        );
    }
}

#[test]
fn threads_share_a_front_end() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for name in ["a.c", "b.c"] {
            let (frontend, folder) = (&frontend, folder.path());
            scope.spawn(move || {
                let found = read(frontend, folder, name, "struct s { int a, b; } v = { 1, 2 };");
                assert_eq!(found.uses.len(), 1);
            });
        }
    });
}

/// libclang 22 names a type by its first declaration, which may stand far from the definition.
#[test]
fn a_struct_that_is_declared_before_it_is_defined_is_found() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let text = "struct s;\n\n\n\n\n\nstruct s { int a, b; };\nstruct s v = { 1, 2 };\n";
    let unit = unit(folder.path(), "a.c", text);
    let wanted = Subject { file: Some("a.c".into()), line: Some(7), ..subject("s") };
    assert_eq!(frontend.uses(&unit, &[wanted], &BTreeSet::new()).unwrap().uses.len(), 1);
}

/// Debug info follows `#line`; a copy in a generated file without it has the same members.
#[test]
fn structs_in_generated_files_are_those_of_their_headers() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let copied = "int x;\n\n\n\n\nstruct s { int a, b; };\nstruct s v = { 1, 2 };\n";
    let numbered = copied.replace("struct s {", "#line 1 \"h.h\"\nstruct s {");
    for (text, members) in
        [(copied, vec![vec!["a".to_owned()], vec!["b".to_owned()]]), (&numbered, Vec::new())]
    {
        let unit = unit(folder.path(), "made.c", text);
        let wanted = Subject { file: Some("h.h".into()), line: Some(1), members, ..subject("s") };
        assert_eq!(frontend.uses(&unit, &[wanted], &BTreeSet::new()).unwrap().uses.len(), 1, "{text}");
    }
}

/// Ways out of what the compiler shows, each beside one that leads nowhere.
#[test]
fn libraries_and_linkers_see_objects_as_something_else() {
    let key = "#include <pthread.h>\nstatic pthread_key_t key; static int n;\n";
    let destroyed = "void f(struct s *p) { pthread_key_create(&key, drop); pthread_setspecific(key, p); }";
    let link = "struct e { struct e *next; }; struct h { struct e **last; };\n";
    let offset = |member: &str| Demand::Offset { member: member.to_owned() };
    expect(
        &[
            (&format!("{key}static void drop(void *v) {{ n = *(int *)v; }}\n{destroyed}"), &[first(1)]),
            (&format!("{key}static void drop(void *v) {{ n = ((struct s *)v)->b; }}\n{destroyed}"), &[]),
            (
                "struct s whole; static int part __attribute__((weakref(\"whole\"))); int f(void) { return part; }",
                &[Demand::Whole],
            ),
            (
                "__attribute__((used, section(\".stamp\"))) static struct s stamp = { .a = 1 };",
                &[Demand::Unclear],
            ),
            (
                "__attribute__((used, section(\".stamp\"))) static struct s stamp; int f(void) { return stamp.a; }",
                &[],
            ),
            (
                "#include <sys/prctl.h>\nvoid f(struct s *p) { prctl(PR_GET_NAME, (unsigned long)p); }",
                &[Demand::Unclear],
            ),
            (
                "#include <sys/prctl.h>\nvoid f(struct s *p) { prctl(PR_SET_DUMPABLE, (unsigned long)p->a); }",
                &[],
            ),
            (
                &format!("{link}int f(struct h *h) {{ return ((struct s *)h->last)->c; }}"),
                &[first(2), offset("c")],
            ),
        ],
        asked,
    );
}
