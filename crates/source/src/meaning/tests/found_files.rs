//! Values that functions, files and assembler code hand one another as something else.

use super::*;

/// Demands on the struct of files whose names and texts are told.
fn asked_of(files: &[(&str, &str)]) -> Vec<String> {
    let head = format!("{HEAD}{S}");
    let shared = ReadFile { path: "a.h", text: head.as_bytes(), is_searched: true };
    let others = files.iter().map(|(path, text)| ReadFile { path, text: text.as_bytes(), is_searched: true });
    let files: Vec<ReadFile<'_>> = std::iter::once(shared).chain(others).collect();
    let uses = find_meant_uses(&files, &[subject()], true).uses;
    spelled(&uses.into_iter().map(|found| found.used).collect::<Vec<_>>())
}

#[test]
fn assembler_files_say_the_names_of_variables() {
    let whole = ["whole"].as_slice();
    let asked = |text: &str| {
        let (own, code) = text.split_once('|').unwrap_or_default();
        asked_of(&[("a.c", own), ("b.S", code)])
    };
    expect(
        &[
            ("struct s now;|f:\n\tincl now+4(%rip)\n\tret\n", whole),
            ("__thread struct s now;|#define NOW now@tpoff\nf:\n\tincl %fs:NOW\n\tret\n", whole),
            ("struct s *now;|f:\n\tmovq now(%rip), %rax\n\tincl 8(%rax)\n\tret\n", whole),
            ("struct s all[4];|f:\n\tldr x0, =all\n\tret\n", whole),
            ("struct s now; int other;|f:\n\tincl other(%rip)\n\tret\n", &[]),
            ("static struct s now; int f(void) { return now.a; }|now:\n\tret\n", &[]),
        ],
        asked,
    );
}

#[test]
fn functions_clean_up_by_the_address_of_a_variable() {
    let free = "static void clear(void *any) { void **at = any; free(*at); *at = NULL; }\n\
        static void close_s(struct s *v) { v->a = 0; } static void drop(struct s **v) { free(*v); }\n\
        typedef struct s kept; typedef struct s *handle;\n\
        #define auto_clear __attribute__((__cleanup__(clear)))\n";
    let all = |text: &str| asked(&format!("{free}int f(void) {{ {text} return 0; }}"));
    let first = ["first 2"].as_slice();
    expect(
        &[
            ("auto_clear struct s v = { .a = 1 };", first),
            ("struct s v __attribute__((cleanup(clear))) = { .a = 1 };", first),
            ("auto_clear kept v = { .a = 1 };", first),
            ("auto_clear struct s *v = malloc(sizeof *v);", &[]),
            ("auto_clear handle v = malloc(sizeof *v);", &[]),
            ("__attribute__((cleanup(close_s))) struct s v = { .a = 1 };", &[]),
            ("struct s *v __attribute__((cleanup(drop))) = malloc(sizeof *v);", &[]),
            ("struct s v = { .a = 1 }; auto_clear char *text = v.d;", &[]),
        ],
        all,
    );
}

#[test]
fn objects_are_handed_by_value_through_pointers_to_functions() {
    let asked = |text: &str| {
        let (own, other) = text.split_once('|').unwrap_or_default();
        asked_of(&[("a.c", &format!("typedef int (*call)(struct s, int);\n{own}")), ("b.c", other)])
    };
    let find = "call find(int); int f(struct s *v) { return find(3)(*v, 1); }";
    let numbers = "static int g(size_t a, size_t b, size_t c, size_t d, size_t e, int f) { return a + f; }\n";
    let same = "static int g(struct s v, int n) { return v.b + n; }\n";
    let give = "static const struct { int n; void *to; } all[] = { { 1, g } };\n\
        void *find(int n) { return all[n & 1].to; }";
    let whole = ["whole"].as_slice();
    expect(
        &[
            (&format!("{find}|{numbers}{give}"), whole),
            (&format!("{find}|{same}{give}"), &[]),
            ("int f(struct s *v, void *at) { call c = dlsym(at, \"c\"); return c(*v, 2); }|", whole),
            (
                "static int g(struct s v, int n) { return v.a; } call c = g; int f(struct s *v) { return c(*v, 2); }|",
                &[],
            ),
            (
                "int g(struct s, int); int f(struct s *v) { return g(*v, 3); }|int g(long a, long b, int n) { return n; }",
                whole,
            ),
            (
                "int g(struct s, int); int f(struct s *v) { return g(*v, 3); }|int g(struct s v, int n) { return n; }",
                &[],
            ),
        ],
        asked,
    );
}

#[test]
fn a_pointer_to_a_pointer_leaves_its_file() {
    let own = "static struct s table = { .a = 1 }; static struct s *at = &table;\n";
    let asked = |text: &str| {
        let (give, take) = text.split_once('|').unwrap_or_default();
        asked_of(&[("a.c", &format!("{own}{give}")), ("b.c", &format!("void *get(int);\n{take}"))])
    };
    let get = "void *get(int n) { return n ? 0 : &at; }";
    expect(
        &[
            (
                &format!("{get}|long f(int n) {{ long *row = *(long **)get(0); return row[n]; }}"),
                &["first 2", "whole"],
            ),
            (&format!("{get}|int f(void) {{ struct s **all = get(0); return (*all)->b; }}"), &[]),
            (&format!("{get}|int f(void) {{ struct s *v = *(struct s **)get(0); return v->b; }}"), &[]),
            (&format!("{get}|int f(void *p) {{ return get(0) == p; }}"), &[]),
        ],
        asked,
    );
}

#[test]
fn addresses_in_a_list_are_those_of_a_range() {
    let asked = |text: &str| {
        let s = "struct s { int a; int b; int c; int e; };\n";
        let head = "struct area { void *first; void *end; }; struct log { void add(area one); area all[4]; int n; };\n\
            void log::add(area one) { all[n++] = one; }\n";
        let subject = placed(&[("a", 0, 4), ("b", 4, 4), ("c", 8, 4), ("e", 12, 4)], 16);
        spelled(&uses_of("a.cc", &format!("{HEAD}{s}{head}{text}"), subject))
    };
    let length = "size_t length(const area &one) { return (uintptr_t)one.end - (uintptr_t)one.first; }\n";
    let add = "void f(log &all, s &v) { all.add({ &v.b, &v.e }); }";
    let other = "void f(log &all, s &v, s &w) { all.add({ &v.b, &w.b }); }";
    expect(
        &[
            (&format!("{length}{add}"), &["pin b e"]),
            (&format!("bool same(const area &one) {{ return one.first == one.end; }} {add}"), &[]),
            (&format!("{length}{other}"), &[]),
        ],
        asked,
    );
}

#[test]
fn addresses_are_sorted_in_plain_arrays() {
    let asked = |text: &str| {
        let s = "struct part { int held; }; struct s { part a; part b; part c; };\n";
        let subject = placed(&[("a", 0, 4), ("b", 4, 4), ("c", 8, 4)], 12);
        spelled(&uses_of("a.cc", &format!("{s}{text}"), subject))
    };
    let guard = "template <class... P> class guard { part *all[sizeof...(P)]; public:\n\
        explicit guard(P &...p) : all{&p...} { std::sort(std::begin(all), std::end(all)); } };\n";
    let plain = "template <class... P> class guard { part *all[sizeof...(P)]; public:\n\
        explicit guard(P &...p) : all{&p...} { } };\n";
    expect(
        &[
            (&format!("{guard}void f(s &v) {{ guard g(v.c, v.a); }}"), &["pin a c"]),
            (&format!("{plain}void f(s &v) {{ guard g(v.c, v.a); }}"), &[]),
            (&format!("{guard}void f(s &v, part &p) {{ guard g(v.c, p); }}"), &[]),
        ],
        asked,
    );
}
