use super::*;
use crate::uses::UseDemand;

mod found;
mod found_files;
mod hidden;
mod relied;
mod unsaid;
mod ways;

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

fn subject() -> TargetStruct {
    let members =
        [("a", 0, 4), ("b", 4, 4), ("in", 8, 8), ("c", 16, 8), ("d", 24, 8), ("e", 32, 4), ("f", 36, 4)];
    placed(&members, 40)
}

fn placed(members: &[(&str, u64, u64)], size: u64) -> TargetStruct {
    let member = |(name, offset, size): &(&str, u64, u64)| TargetMember {
        names: vec![(*name).to_owned()],
        offset: *offset,
        size: *size,
    };
    TargetStruct {
        name: "s".to_owned(),
        file: "a.c".to_owned(),
        members: members.iter().map(member).collect(),
        size,
    }
}

fn uses_of(path: &str, text: &str, subject: TargetStruct) -> Vec<StructUse> {
    let files = [ReadFile { path, text: text.as_bytes(), is_searched: true }];
    find_meant_uses(&files, &[subject], true).uses.into_iter().map(|found| found.used).collect()
}

use crate::uses::StructUse;

/// Demands as short words: `first 2`, `whole`, `pin b d`.
fn spelled(uses: &[StructUse]) -> Vec<String> {
    let spell = |used: &StructUse| {
        let name = match used.demand {
            UseDemand::Positions(count) => format!("first {count}"),
            UseDemand::First => "first 1".to_owned(),
            UseDemand::Boundary => "pin".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        [&[name], used.members.as_slice()].concat().join(" ")
    };
    let mut all: Vec<String> = uses.iter().map(spell).collect();
    all.sort();
    all.dedup();
    all
}

fn asked(text: &str) -> Vec<String> {
    spelled(&uses_of("a.c", &format!("{HEAD}{S}{text}"), subject()))
}

/// Fails with all texts that ask something else than is expected.
fn expect(cases: &[(&str, &[&str])], asked: impl Fn(&str) -> Vec<String>) {
    let wrong = cases.iter().filter_map(|(text, expected)| {
        let found = asked(text);
        (found != *expected).then(|| format!("{text}\n  expected {expected:?}\n  found    {found:?}\n"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn initialisers_by_position_hold_as_many_members_as_they_have_values() {
    expect(
        &[
            ("struct s v = { 1, 2 };", &["first 2"]),
            ("typedef struct s t; typedef t tt; tt v = { 1, 2, { 3, 4 }, 5 };", &["first 4"]),
            (
                "struct s v[] = { { 1 }, { 1, 2 }, [7] = { 1, 2, { 3 } } };",
                &["first 1", "first 2", "first 3"],
            ),
            ("struct s v[2] = { 1, 2, 3, 4, 5, NULL, 7, 8, 9 };", &["whole"]),
            ("struct o { struct s x; int y; } v = { { 1, 2 }, 3 };", &["first 2"]),
            ("struct o { int y; struct s x; } v = { .x = { 1, 2 } };", &["first 2"]),
            ("struct o { int y; struct s x[2]; } v = { 9, { { 1, 2 }, { 1 } } };", &["first 1", "first 2"]),
            ("struct o { int y; struct s x; } v = { 9, 1, 2, 3, 4 };", &["whole"]),
            ("#define V { 1, 2, { 3 } }\nstruct s v = V;", &["first 3"]),
            ("void f(void) { use(&(struct s){ 1, 2 }); }", &["first 2"]),
            ("struct s v = { .b = 2, { 3 }, 4 };", &["pin b in c"]),
            ("struct s v = { 0, 0 };", &["first 2"]),
            ("void f(int x) { struct s v = (struct s){ x, .c = 2 }; use(&v); }", &["first 1"]),
            ("typedef struct s row[2]; row v = { { 1, 2 } };", &["first 2"]),
            ("extern struct s *p; struct s *q, w = { 1, 2, { 3, 4 } };", &["first 3"]),
            ("#define DECLARE(n) struct s n = { 1, 2 }\nDECLARE(v);", &["first 2"]),
            // Compilers warn of these if another kind of member comes first.
            ("struct s v = { NULL };", &["first 1"]),
            ("struct s v = { { 0 } };", &["first 1"]),
            ("struct s v = { 0 }, w[2] = { { 0 }, { 0 } }, x[2] = { 0 };", &[]),
        ],
        asked,
    );
}

#[test]
fn ranges_keep_what_lies_in_them() {
    let all = |text: &str| asked(&format!("void f(struct s *p, struct s *q, int fd) {{ {text} }}"));
    expect(
        &[
            ("memset(p, 0, offsetof(struct s, c));", &["pin c"]),
            ("memcpy(p, q, offsetof(struct s, c));", &["pin c"]),
            ("write(fd, p, offsetof(struct s, c));", &["pin a b in c"]),
            ("size_t n = offsetof(struct s, c); memset(p, 0, n);", &["pin c"]),
            ("memset(p, 0, offsetof(struct s, c) + sizeof(p->c));", &["pin d"]),
            ("memset(&p->b, 0, (char *)&p->d - (char *)&p->b);", &["pin b", "pin b d"]),
            ("memset(&p->b, 0, offsetof(struct s, d) - offsetof(struct s, b));", &["pin b", "pin b d"]),
            ("memset(&p->b, 0, sizeof(*p) - offsetof(struct s, b));", &["pin b"]),
            (
                "memset((char *)p + offsetof(struct s, b), 0, sizeof(struct s) - offsetof(struct s, b));",
                &["pin b"],
            ),
            ("memset(p, 0, (size_t)&((struct s *)0)->c);", &["pin c"]),
            ("memcpy(&p->a, &q->a, 8);", &["pin a", "pin in"]),
            ("memset(p->d, 'x', sizeof(long)); memset(&p->a, 'x', sizeof(int));", &[]),
            ("if ((uintptr_t)&p->c & 7 || &p->c != 0) use(p);", &[]),
            ("memset(p, 0, offsetof(struct s, in.r));", &["pin in"]),
            ("unsigned mix(void *, size_t); mix(&p->e, sizeof(p->e) + sizeof(p->f));", &["pin e", "pin e f"]),
            ("memset((char *)(p + 1), 0, 8);", &[]),
            ("int n = &p->b - &p->a;", &["pin a b"]),
        ],
        all,
    );
}

#[test]
fn offsets_that_are_relied_on_stay() {
    expect(
        &[
            ("typedef struct s t; _Static_assert(offsetof(t, c) == 16, \"\");", &["offset c"]),
            ("enum { K = offsetof(struct s, b) };", &["offset b"]),
            ("char pad[offsetof(struct s, c)];", &["offset c"]),
            (
                "enum { K = offsetof(struct s, c) }; void f(struct s *p) { memset(p, 0, K); }",
                &["offset c", "pin c"],
            ),
        ],
        asked,
    );
}

#[test]
fn casts_hold_what_both_types_begin_with() {
    let all = |text: &str| asked(&format!("struct u {{ int x; int y; char *z; }};\n{text}"));
    expect(
        &[
            ("int f(struct s *p) { return ((struct u *)p)->y; }", &["first 2"]),
            ("struct s g; int f(void) { void *v = &g; struct u *u = v; return u->x; }", &["first 2"]),
            (
                "static int h(void *v) { struct u *u = v; return u->x; } int f(struct s *p) { return h(p); }",
                &["first 2"],
            ),
            ("int f(struct s *p) { return *(int *)p; }", &["first 1"]),
            ("long f(struct s *p) { return *(long *)p; }", &["first 2"]),
            ("long f(struct s *p) { return *(long *)&p->e; }", &["pin e f"]),
            ("union w { struct s s; struct u u; };", &["first 2"]),
            ("union w { struct s s; u8 bytes[40]; };", &["whole"]),
            ("typedef struct s *sp; int f(sp p) { return ((struct u *)p)->y; }", &["first 2"]),
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
            ("write(fd, p, sizeof(*p));", &["whole"]),
            ("struct iovec { void *iov_base; size_t iov_len; } v = { p, sizeof(*p) }; use(&v);", &["whole"]),
            ("struct iovec { void *iov_base; size_t iov_len; } v; v.iov_base = p; use(&v);", &["whole"]),
            ("unsigned mix(void *, int, size_t); mix(p, 3, sizeof *p);", &["whole"]),
            ("number(*(int *)((char *)p + 8));", &["whole"]),
            ("int ioctl(int, unsigned long, ...); ioctl(fd, 5, p);", &["whole"]),
            ("hash(p, sizeof(struct s));", &["whole"]),
            ("memcmp(p, q, sizeof *p);", &["whole"]),
            ("char b[64]; memcpy(b, p, sizeof(*p));", &["whole"]),
            ("memcpy(p, buf, sizeof(*p));", &["whole"]),
            ("p = (struct s *)buf; use(p);", &["whole"]),
            ("for (int i = 0; i < 8; i++) number(((u8 *)p)[i]);", &["whole"]),
            ("const char *c = (char *)p; while (*c) c++;", &["whole"]),
        ],
        all,
    );
}

#[test]
fn walks_hold_members_in_a_row() {
    let all = |text: &str| asked(&format!("int f(struct s *p, int i) {{ {text} }}"));
    expect(
        &[
            ("return (&p->a)[1];", &["pin a b"]),
            ("return (&p->a)[i];", &["pin a b"]),
            ("int *x = &p->a; return x[i];", &["pin a b"]),
            ("int *x = &p->a; x++; return *x;", &["pin a b"]),
            ("return *(&p->a + 1);", &["pin a b"]),
        ],
        all,
    );
}

#[test]
fn tails_stay_last() {
    let tail = |size| placed(&[("n", 0, 4), ("name", 4, size)], 4 + size);
    let asked = |text: &str, size| spelled(&uses_of("a.c", &format!("{HEAD}{text}"), tail(size)));
    let by_offset = "void *f(size_t n) { return malloc(offsetof(struct s, name) + n); }";
    assert_eq!(asked(&format!("struct s {{ int n; char name[8]; }};\n{by_offset}"), 8), ["last name"]);
    assert_eq!(asked("struct s { int n; char name[1]; };", 1), ["last name"]);
    assert_eq!(
        asked("struct s { int n; char name[]; };\nchar f(struct s *p) { return p->name[-1]; }", 0),
        ["last name", "pin n name"]
    );
}

#[test]
fn definitions_say_that_they_are_shared() {
    let text = |text: &str| spelled(&uses_of("a.c", text, placed(&[("a", 0, 4), ("b", 4, 1)], 8)));
    for shared in [
        "struct s { int a; char b; } __attribute__((packed));",
        "#pragma pack(1)\nstruct s { char a; int b; };\n#pragma pack()",
        "typedef unsigned __le32; typedef __le32 mine; struct s { int a; mine b; };",
    ] {
        assert_eq!(text(shared), ["whole"], "{shared}");
    }
    assert_eq!(
        text("#pragma pack(push, 1)\nstruct t { int a; };\n#pragma pack(pop)\nstruct s { int a; char b; };"),
        [""; 0]
    );
}

#[test]
fn harmless_code_asks_nothing() {
    let head = "#define container_of(p, T, m) ({ void *v_ = (void *)(p); ((T *)(v_ - offsetof(T, m))); })\n\
        struct o { struct s x; int y; };\nstruct s *make(void);\nvoid call(void (*)(void *), void *);\n\
        void copy(void *, size_t, size_t);\n";
    let cases = [
        "struct s v = { .a = 1, .b = 2 };",
        "struct s v = { 0 }, w = {}, x[3] = { { 0 }, {} };",
        "struct s v = { .in = { .q = 1 }, .c = 2 };",
        "void f(struct s *p, struct s *q) { *p = *q; memset(p, 0, sizeof(*p)); memcpy(p, q, sizeof(struct s)); }",
        "void f(struct s *p, size_t n) { memset(p, 0, n * sizeof(*p)); }",
        "struct s *f(struct in *p) { return container_of(p, struct s, in); }",
        "struct s *f(struct in *p) { return (struct s *)((char *)p - offsetof(struct s, in)); }",
        "struct s *f(struct in *p) { return (struct s *)((uintptr_t)p - offsetof(struct s, in)); }",
        "struct s *f(void) { struct s *p = malloc(sizeof(*p)); free(p); return malloc(4 * sizeof(struct s)); }",
        "static void cb(void *v) { struct s *p = v; p->a = 1; }\nvoid f(struct s *p) { call(cb, p); cb(p); }",
        "void f(struct s *p) { memset(&p->in, 0, sizeof(p->in)); memcpy(&p->a, &p->b, sizeof(int)); }",
        "struct t { size_t at; } table[] = { { offsetof(struct s, b) }, { offsetof(struct s, c) } };",
        "int f(struct s *p) { return (int)(uintptr_t)p & 7; }",
        "void f(struct s *p) { use(p); use(&p->c); number(offsetof(struct s, c)); }",
        "int f(struct s *p, int i) { return p[i].a + (p + 1)->b + p->in.q; }",
        "long f(struct s *p) { return *(volatile long *)&p->c; }",
        "struct s *f(unsigned long delta, struct s *p) { return (struct s *)((unsigned long)p + delta); }",
        "void f(void) { struct s *p = make(); void *v = p; struct s *q = v; q->a = 1; }",
        "void check(const void *, size_t, int); void f(struct s *p) { check(&p->e, sizeof(p->e), 1 << 3 | 1 << 4); }",
        "char *strncpy(char *, const char *, size_t); void f(struct s *p, char *b) { strncpy(b, (char *)&p->e, 16); }",
        "void hash_add_key(void *, void *, int); void f(struct s *p) { hash_add_key(p->d, p, 2); }",
        "void chain_writer(void *, int *); void f(struct s *p, int *i) { chain_writer(p, i); }",
        "void f(struct s *p) { char *c = p->d; while (*c) c++; p->d[3] = 0; }",
    ];
    let cases: Vec<(&str, &[&str])> = cases.iter().map(|text| (*text, &[][..])).collect();
    expect(&cases, |text| asked(&format!("{head}{text}")));
}

#[test]
fn cut_text_does_not_panic() {
    let text = format!(
        "{HEAD}{S}#define M(a, b...) a ## b ({{ a; }})\nstruct s v[] = {{ {{ 1 }}, [3] = {{ .a = M(1, 2), 3 }} }};\n\
        int f(struct s *p) {{ auto [x, y] = *p; for (int i = 0; i < 3; i++) ((char *)p)[i] = (&p->a)[i] ? 1 : 2; return {{ 1 }}; }}"
    );
    for end in 0..text.len() {
        let _ = uses_of("a.c", text.get(..end).unwrap_or_default(), subject());
    }
}

#[test]
fn addresses_are_followed_through_pointers_to_functions_arrays_and_members() {
    let slot = "struct slot { void (*call)(void *); void *context; }; struct slot slots[2];\n\
        void add(void (*call)(void *), void *context) { slots[0].call = call; slots[0].context = context; }\n\
        void run(void) { slots[0].call(slots[0].context); }\n";
    let number = "void number_of(void *context) { use(*(int *)context); }\n";
    let same = "void same(void *context) { struct s *v = context; v->b = 1; }\n";
    expect(
        &[
            (&format!("{slot}{number}void f(struct s *v) {{ add(number_of, v); }}"), &["first 1"]),
            (&format!("{slot}{same}void f(struct s *v) {{ add(same, v); }}"), &[]),
            ("void *all[4]; void f(struct s *v) { all[1] = v; int *p = all[1]; use(p); }", &["first 1"]),
            ("void *all[4]; void f(struct s *v) { all[1] = v; struct s *w = all[1]; w->b = 1; }", &[]),
            (
                "void find(void **out, struct s *v) { *out = v; }\n\
                 void f(struct s *v) { void *p; find(&p, v); int *q = p; use(q); }",
                &["first 1"],
            ),
            ("void f(struct s *v) { int *p; memcpy(&p, &v, sizeof p); use(p); }", &["first 1"]),
        ],
        asked,
    );
}

#[test]
fn values_that_change_something_are_computed_in_the_members_order() {
    let next = "static int count; static int next(void) { return ++count; }\n\
        static int twice(int x) { return x * 2; }\n";
    expect(
        &[
            (&format!("{next}void f(void) {{ struct s v = {{ .a = next(), .c = next() }}; }}"), &["pin a c"]),
            (&format!("{next}void f(void) {{ struct s v = {{ .a = next(), .c = 4 }}; }}"), &[]),
            (&format!("{next}void f(void) {{ struct s v = {{ .a = twice(1), .c = twice(2) }}; }}"), &[]),
        ],
        asked,
    );
}

#[test]
fn offsets_that_are_numbers_hold_their_members() {
    expect(
        &[
            (
                "int f(int x) { switch (x) { case offsetof(struct s, b): return 1; } return 0; }",
                &["offset b"],
            ),
            ("char t[64] = { [offsetof(struct s, c)] = 1 };", &["offset c"]),
            ("unsigned f(void) { return 1u << offsetof(struct s, b); }", &["offset b"]),
            ("int *f(struct s *v) { return (int *)((char *)v + offsetof(struct s, b)); }", &[]),
        ],
        asked,
    );
}

#[test]
fn a_word_behind_several_bodies_is_no_variable() {
    let uses = |text: &str| {
        let files = [("a.h", S.to_owned() + text), ("b.h", "struct t { long x; } __packing;\n".to_owned())];
        let files: Vec<ReadFile<'_>> = files
            .iter()
            .map(|(path, text)| ReadFile { path, text: text.as_bytes(), is_searched: true })
            .collect();
        let found = find_meant_uses(&files, &[subject()], false).uses;
        spelled(&found.into_iter().map(|found| found.used).collect::<Vec<StructUse>>())
    };
    assert_eq!(uses("struct u { int x; } __packing;"), [""; 0]);
    assert_eq!(uses("extern struct s __packing;"), ["whole"]);
}

#[test]
fn words_of_the_language_name_nothing() {
    // Nobody defines the macro.
    let text = "VISIBLE struct s *find(struct s *p);\nVISIBLE void *any(void);\nVISIBLE struct s *all[4];\n\
        static int get(struct s *p) { return p->a; }\n";
    let text = [S, text].concat();
    let files = [ReadFile { path: "a.c", text: text.as_bytes(), is_searched: true }];
    let subjects = [subject()];
    let program = super::program::Program::new(&files, &subjects, false);
    let world = &program.world;
    let named = [&b"struct"[..], b"void"]
        .map(|word| (world.globals.contains_key(word), world.functions.contains_key(word)));
    assert_eq!(named, [(false, false); 2]);
    assert!(world.functions.contains_key(b"find"));
}

#[test]
fn a_member_may_point_to_any_number_of_functions() {
    let names: Vec<String> = (0..200).map(|number| format!("f{number:03}")).collect();
    let define = |name: &String| format!("static int {name}(void *p) {{ return p != 0; }}\n");
    let set = |name: &String| format!("all[n++].call = {name};\n");
    let functions: String = names.iter().map(define).collect();
    let sets: String = names.iter().map(set).collect();
    let program = |more: &str| {
        format!(
            "struct op {{ int (*call)(void *); }} all[300]; {functions}\n\
            static int last(void *p) {{ return ((int *)p)[1]; }}\n\
            void fill(int n) {{ {sets} {more} }}\n\
            int run(int n) {{ struct s v; return all[n].call(&v); }}"
        )
    };
    expect(
        &[(&program("all[n].call = last;"), &["first 1", "whole"]), (&program("all[n].call = f000;"), &[])],
        asked,
    );
}

#[test]
fn distances_that_are_known_lead_to_members() {
    let all = |text: &str| {
        asked(&format!(
            "struct pair {{ int x, y; }}; struct o {{ int z; }};\n\
            static int taken(void *p) {{ struct o *o = p; return o->z; }}\n\
            int f(struct s *p, size_t n) {{ {text} }}"
        ))
    };
    expect(
        &[
            ("void *at = (char *)p + sizeof(struct pair) + 8; return taken(at);", &["whole"]),
            ("void *at = (char *)p + sizeof(struct pair); return taken(at);", &["whole"]),
            ("return taken((char *)p + 16);", &["whole"]),
            ("struct s *next = (struct s *)((char *)p + sizeof(struct s)); use(next); return 0;", &[]),
        ],
        all,
    );
}
