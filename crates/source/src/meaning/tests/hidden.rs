//! Uses that the text shows elsewhere than where they are: symbols, formats, structs of the library.

use super::*;

#[test]
fn symbols_are_names_of_objects() {
    let asked = |text: &str| {
        spelled(&uses_of("a.c", &format!("{HEAD}{S}struct s table; int plain;\n{text}"), subject()))
    };
    let whole = ["whole"].as_slice();
    expect(
        &[
            ("extern int level;\n#pragma weak level = table\nint f(void) { return level; }", whole),
            ("#pragma redefine_extname level table\nextern int level;", whole),
            ("extern int level; _Pragma(\"weak level = table\")", whole),
            ("#pragma redefine_extname level plain\nextern int level;\n#pragma weak table", &[]),
            (
                "extern const struct s __start_rows[], __stop_rows[]; asm(\".pushsection rows,\\\"a\\\"\\n.long 1\\n.popsection\");",
                whole,
            ),
            (
                "#define ROW(n) asm(\".pushsection rows\\n.long \" #n \"\\n.popsection\")\nextern const struct s __stop_rows[]; ROW(1);",
                whole,
            ),
            (
                "extern const struct s __start_rows[]; asm(\".pushsection lines,\\\"a\\\"\\n.popsection\");",
                &[],
            ),
        ],
        asked,
    );
}

#[test]
fn the_linker_knows_variables_of_cpp_by_other_names() {
    let asked = |name: &str| {
        let own = format!("{S}namespace engine {{ struct s active; int count; }}");
        let other = format!("extern \"C\" {{ extern int {name}; int get() {{ return {name}; }} }}");
        let file = |path, text| ReadFile { path, text, is_searched: true };
        let files = [file("a.cc", own.as_bytes()), file("b.cc", other.as_bytes())];
        let uses = find_meant_uses(&files, &[subject()], true).uses;
        spelled(&uses.into_iter().map(|found| found.used).collect::<Vec<_>>())
    };
    expect(&[("_ZN6engine6activeE", &["whole"]), ("_ZN6engine5countE", &[]), ("_Zactive", &[])], asked);
}

#[test]
fn files_that_are_included_while_structs_are_packed_are_packed_there() {
    let asked = |text: &str| {
        let file = |path, text: &'static str| ReadFile { path, text: text.as_bytes(), is_searched: true };
        let unit = ReadFile { path: "b.c", text: text.as_bytes(), is_searched: true };
        let files = [file("s.h", S), file("a.c", "#include \"s.h\"\n"), unit];
        let uses = find_meant_uses(&files, &[subject()], true).uses;
        spelled(&uses.into_iter().map(|found| found.used).collect::<Vec<_>>())
    };
    expect(
        &[
            ("#pragma pack(push, 1)\n#include \"s.h\"\n#pragma pack(pop)\n", &["whole"]),
            (
                "#include \"s.h\"\n#pragma pack(push, 1)\nstruct t { char a; int b; };\n#pragma pack(pop)\n",
                &[],
            ),
            (
                "#pragma pack(push, 1)\nstruct t { char a; int b; };\n#pragma pack(pop)\n#include \"s.h\"\n",
                &[],
            ),
        ],
        asked,
    );
}

#[test]
fn structs_of_the_library_keep_addresses() {
    let read = "int take(union value v) { return *(int *)(uintptr_t)v.number; }\n";
    let all = |text: &str| asked(&format!("void f(struct s *p, int fd, char *body) {{ {text} }}\n{read}"));
    expect(
        &[
            ("union sigval v = { .sival_ptr = p }; sigqueue(1, 2, v);", &["first 1"]),
            ("union sigval v; v.sival_ptr = p; sigqueue(1, 2, v);", &["first 1"]),
            ("union sigval v = { .sival_int = p->a }; sigqueue(1, 2, v);", &[]),
            ("va_list list; list->overflow_arg_area = p; vprintf(body, list);", &["whole"]),
            (
                "struct iovec v[2]; v[0].iov_base = &p->e; v[0].iov_len = 2 * sizeof(int);",
                &["pin e", "pin e f"],
            ),
            ("struct iovec v[2]; v[0].iov_base = &p->e; v[0].iov_len = sizeof(p->e);", &[]),
            (
                "struct iovec v[2]; v[0].iov_base = &p->e; v[0].iov_len = sizeof(p->e); v[1].iov_base = &p->c; v[1].iov_len = sizeof(p->c);",
                &[],
            ),
            ("struct iovec v[2] = { { &p->e, 8 }, { body, 3 } };", &["pin e", "pin e f"]),
            ("struct iovec v[2] = { { &p->e, 4 }, { body, 3 } };", &[]),
        ],
        all,
    );
}

#[test]
fn pointers_come_back_out_of_bytes() {
    let all = |text: &str| asked(&format!("void f(struct s *p, char *bytes) {{ {text} }}"));
    expect(
        &[
            (
                "push((const char *)&p, sizeof p); int *n; memcpy(&n, bytes, sizeof n); number(*n);",
                &["first 1"],
            ),
            ("push((const char *)&p, sizeof p); struct s *n; memcpy(&n, bytes, sizeof n); use(n);", &[]),
            ("obstack_ptr_grow(bytes, p); int **all = obstack_finish(bytes); number(**all);", &["first 1"]),
            ("obstack_ptr_grow(bytes, p); char **all = obstack_finish(bytes); use(all);", &[]),
        ],
        |text| {
            let found = all(text);
            found.into_iter().filter(|demand| demand != "whole").collect()
        },
    );
}

#[test]
fn texts_are_read_from_an_object_on() {
    expect(
        &[
            (
                "char *strndup(const char *, size_t); char *f(const void *any) { return strndup(any, 6); } char *g(struct s *p) { return f(p); }",
                &["first 2"],
            ),
            (
                "char *f(const void *any) { return strndup(any, 4); } char *g(struct s *p) { return f(p); }",
                &["first 1"],
            ),
            (
                "char *f(const char *any) { return strndup(any, 4); } char *g(struct s *p) { return f(p->d); }",
                &[],
            ),
        ],
        asked,
    );
}

#[test]
fn narrow_members_in_an_array_are_taken_for_longer_numbers() {
    let asked = |text: &str| {
        let s = "struct s { u8 a; u8 b; long c; };\n";
        let subject = placed(&[("a", 0, 1), ("b", 1, 1), ("c", 8, 8)], 16);
        let text = format!("{HEAD}{s}void f(struct s *p, const char *text) {{ {text} }}");
        spelled(&uses_of("a.c", &text, subject))
    };
    expect(
        &[
            (
                "u8 *all[] = { &p->a, &p->b }; sscanf(text, \"%d\", (int *)(void *)all[1]);",
                &["pin a b c", "pin b c"],
            ),
            ("u8 *all[] = { &p->a, &p->b }; sscanf(text, \"%hhu\", all[1]);", &[]),
        ],
        asked,
    );
}

#[test]
fn numbers_are_divided_by_offsets_and_sizes() {
    let whole = ["size"].as_slice();
    expect(
        &[
            (
                "int f(void) { return offsetof(struct s, c) / 64 == offsetof(struct s, b) / 64; }",
                &["offset b", "offset c"],
            ),
            ("int f(struct s *p) { return p->c / 64 == offsetof(struct s, b) % sizeof(struct in); }", &[]),
            ("#define PAGE 4096\nsize_t f(void) { return PAGE / sizeof(struct s); }", whole),
            ("char room[512]; size_t f(void) { return sizeof(room) / sizeof(struct s); }", whole),
            ("struct s rows[4]; size_t f(void) { return sizeof(rows) / sizeof(rows[0]); }", &[]),
            ("size_t f(size_t bytes) { return bytes / sizeof(struct s); }", &[]),
        ],
        asked,
    );
}

#[test]
fn tags_are_handed_to_macros_of_the_system() {
    expect(
        &[
            ("int f(struct s *p) { return TAILQ_LAST(p, s)->a; }", &["whole"]),
            ("int f(struct s *p) { int s = 3; return LOG(p, s); }", &[]),
            ("void f(struct s *p) { TAILQ_HEAD(list, s) all; use(&all); }", &[]),
            ("TAILQ_HEAD(list, s) all; int f(struct s *p) { return ENTRY(p, struct s, in); }", &[]),
            ("int f(struct s *p) { return STAILQ_LAST(p, s, in)->a; }", &[]),
        ],
        asked,
    );
}

#[test]
fn a_literal_format_reads_each_argument_for_itself() {
    let members = [("a", 0, 4), ("name", 4, 8), ("b", 12, 4), ("c", 16, 8)];
    let head = "struct s { int a; char name[8]; int b; long c; };\nint printf(const char *, ...);\n\
        int snprintf(char *, size_t, const char *, ...); int count(void);\n";
    let asked = |body: &str| {
        let text = format!("{HEAD}{head}void f(struct s *s, int n, const char *format) {{ {body} }}");
        spelled(&uses_of("a.c", &text, placed(&members, 24)))
    };
    let held = ["pin name b"].as_slice();
    expect(
        &[
            ("printf(\"%d %s\\n\", n, s->name);", &[]),
            ("printf(\"%\" PRIu64 \" \" \"%s\", s->c, s->name);", &[]),
            ("printf(\"%.8s %d\", s->name, s->b);", &[]),
            ("char out[9]; snprintf(out, n, \"%-12s%3d%%\", s->name, s->a);", &[]),
            ("printf(\"%.9s %d\", s->name, s->b);", held),
            ("printf(\"%.9s\", s->name);", held),
            ("printf(\"%.*s\", n, s->name);", held),
            ("printf(\"%*s\", n, s->name);", held),
            ("printf(\"%2$s %1$d\", n, s->name);", held),
            ("printf(\"%s %n\", s->name, &n, n);", held),
            ("printf(format, n, s->name);", held),
            ("printf(n ? \"%d %s\" : \"%.*s\", n, s->name);", held),
            ("printf(\"%d\" FORMAT, n, s->name);", held),
            ("printf(\"%d \\x25s\", n, s->name);", held),
            ("printf(\"%d %p\", n, s->name);", held),
            ("snprintf(s->name, n, \"%d\", s->a);", held),
        ],
        asked,
    );
    let own = format!(
        "{HEAD}{head}int printf(const char *f, ...) {{ return f[0]; }}\n\
        void f(struct s *s, int n) {{ printf(\"%d %s\", n, s->name); }}"
    );
    assert_eq!(spelled(&uses_of("a.c", &own, placed(&members, 24))), held);
}

#[test]
fn memory_of_no_file_is_nobody_elses() {
    let map = |flags: &str| {
        asked(&format!(
            "void *mmap(void *, size_t, int, int, int, long); int munmap(void *, size_t);\n\
            #define BOTH (MAP_PRIVATE | MAP_ANONYMOUS)\n\
            void f(int flags) {{ struct s *s = mmap(NULL, sizeof *s, 3, {flags}, -1, 0); s->a = 1; munmap(s, sizeof *s); }}"
        ))
    };
    for flags in ["MAP_SHARED | MAP_ANONYMOUS", "(MAP_PRIVATE|MAP_ANON)", "BOTH", "MAP_ANONYMOUS"] {
        assert_eq!(map(flags), [""; 0], "{flags}");
    }
    let page = |from: &str| {
        asked(&format!(
            "void *mmap(void *, size_t, int, int, int, long);\n\
            void put(void *at) {{ {from} }}\n\
            int get(void *at) {{ struct s *s = at; return s->c; }}\n\
            int f(void) {{ void *p = mmap(NULL, 4096, 3, MAP_SHARED | MAP_ANON, -1, 0); put(p); return get(p); }}"
        ))
    };
    assert_eq!(page("struct s *s = at; s->a = 1;"), [""; 0]);
    for from in [
        "int *w = at; w[1] = 1;",
        "*((char *)at + 4) = 1;",
        "long read(int, void *, size_t); read(0, at, 9);",
    ] {
        assert_eq!(page(from), ["whole"], "{from}");
    }
    for flags in ["MAP_SHARED", "flags", "flags | MAP_ANONYMOUS", "MAP_SHARED & MAP_ANONYMOUS", "0x22"] {
        assert_eq!(map(flags), ["whole"], "{flags}");
    }
}
