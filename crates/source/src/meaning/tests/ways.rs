//! Ways of addresses and sizes past what their types say.

use super::*;

#[test]
fn what_stands_behind_a_record_is_reached_from_its_members() {
    let in_kinds = "struct long_in { short q; short r; long more; }; struct text_in { short q; short r; char *more; };\n\
        struct deep_in { struct in in; long more; };\n";
    let asked = |body: &str| {
        let call =
            "static long g(struct in *p) { return BODY; }\nlong f(struct s *p) { return g(&p->in); }\n";
        let s = "struct in { short q; short r; };\n\
            struct s { int a; int b; struct in in; long c; char *d; unsigned e, f; };\n";
        let text = format!("{HEAD}{s}{in_kinds}{}", call.replace("BODY", body));
        spelled(&uses_of("a.c", &text, subject()))
    };
    let from = ["pin in c d e f"].as_slice();
    expect(
        &[
            ("((struct long_in *)p)->more", from),
            ("((struct deep_in *)p)->more", from),
            // What goes on by something else isn't what stands there.
            ("((struct text_in *)p)->more", &[]),
            ("*(long *)(p + 1)", from),
            ("*(long *)((char *)p + ((sizeof(*p) + 7) & ~7UL))", from),
            ("((char *)(p + 1))[2]", from),
            ("(p + 1)->q + p[1].r", from),
            ("p->q + (*p).r + (p + 0)->q", &[]),
        ],
        asked,
    );
}

#[test]
fn sizes_and_distances_are_numbers_that_a_program_knows() {
    let asked = |text: &str| asked(text);
    let whole = ["whole"].as_slice();
    expect(
        &[
            (
                "int f(char *p, struct s *q) { switch ((char *)(q + 0) - p) { case 80: return 1; } return 0; }",
                &[],
            ),
            (
                "int f(struct s *p, struct s *q) { switch ((char *)q - (char *)p) { case 80: return 1; } }",
                &["size"],
            ),
            (
                "long f(struct s *p, struct s *q) { long n = (char *)q - (char *)p; return n / 40; }",
                &["size"],
            ),
            (
                "long f(struct s *p, struct s *q) { long n = (char *)q - (char *)p; return n / sizeof(*p); }",
                &[],
            ),
            ("long f(struct s *p, struct s *q) { return (char *)q - (char *)p == 80; }", &["size"]),
            (
                "int g(long n) { switch (n) { case 40: return 1; } return 0; } int f(void) { return g(sizeof(struct s)); }",
                &["size"],
            ),
            (
                "int g(long n) { switch (n) { case 8: return 1; } return 0; } int f(void) { return g(sizeof(struct s)); }",
                &[],
            ),
            (
                "int f(long n) { if (n == sizeof(struct s)) return 1; return sizeof(struct s) == 40; }",
                &["size"],
            ),
            (
                "struct t { unsigned a : 2, at : 5; }; struct t v = { .at = offsetof(struct s, c) };",
                &["offset c"],
            ),
            ("struct t { unsigned a : 2, at : 9; }; struct t v = { .at = offsetof(struct s, c) };", &[]),
            (
                "struct t { unsigned a : 2, at : 5; }; void f(struct t *v) { v->at = offsetof(struct s, b); }",
                &["offset b"],
            ),
            ("void f(struct s *p) { inet_pton(2, \"1.2.3.4\", p); }", whole),
            ("#include <zlib.h>\nvoid f(struct s *p) { inet_pton(2, \"1.2.3.4\", p); }", &[]),
            ("void f(struct s *p) { pthread_setspecific(3, p); keep(call, p); }", &[]),
            ("void f(void) { static struct s v; epoll_wait(3, &v.in, 2, 0); }", &["pin in c d e f"]),
            ("void f(void) { static struct s v; epoll_wait(3, &v.in, 1, 0); }", &[]),
        ],
        asked,
    );
}

#[test]
fn addresses_come_out_of_other_holders() {
    let holders = "struct one { long kind; void *body; }; struct two { long kind; int *number; };\n\
        struct same { long kind; struct s *body; }; struct typed { int x; struct s *body; };\n";
    expect(
        &[
            (
                "void f(struct typed *a, struct two *b) { char x[16]; memcpy(x, a, 16); memcpy(b, x, 16); }",
                &["first 1"],
            ),
            (
                "void f(struct s *v) { struct one a = { 1, v }; struct two b; memcpy(&b, &a, sizeof b); }",
                &["first 1"],
            ),
            (
                "void f(struct s *v) { struct one a = { 1, v }; struct same b; memcpy(&b, &a, sizeof b); }",
                &[],
            ),
            (
                "void f(struct typed *a, struct two *b, void *file) { fwrite(a, sizeof *a, 1, file); fread(b, sizeof *b, 1, file); }",
                &["first 1", "whole"],
            ),
            (
                "void f(struct typed *a, struct same *b, void *file) { fwrite(a, sizeof *a, 1, file); fread(b, sizeof *b, 1, file); }",
                &[],
            ),
        ],
        |text| asked(&format!("{holders}{text}")),
    );
}

#[test]
fn addresses_in_arrays_are_put_in_order() {
    let sort =
        "void sort(int **all) { if (all[0] > all[1]) { int *x = all[0]; all[0] = all[1]; all[1] = x; } }\n";
    expect(
        &[
            ("void f(struct s *p) { int *all[] = { &p->a, &p->b }; sort(all); }", &["pin a b"]),
            ("void f(struct s *p) { int *all[2]; all[0] = &p->a; all[1] = &p->b; sort(all); }", &["pin a b"]),
            ("void f(struct s *p, struct s *q) { int *all[] = { &p->a, &q->a }; sort(all); }", &[]),
        ],
        |text| asked(&format!("{sort}{text}")),
    );
}

#[test]
fn records_are_counted_from_a_member_on() {
    let sum = "int sum(struct in *p, int n) { int x = 0; while (n--) { x += p->q; p++; } return x; }\n\
        int both(struct in *p) { struct in *own = p; return sum(own, 2); }\n\
        int single(struct in *p) { return p->q; }\n";
    let from = ["pin in c d e f"].as_slice();
    expect(
        &[
            ("int f(struct s *p) { return sum(&p->in, 2); }", from),
            ("int f(struct s *p) { struct in *own; own = &p->in; return both(own); }", from),
            ("int f(struct s *p) { struct in *own = &p->in; return own[1].q; }", from),
            ("int f(struct s *p) { return single(&p->in) + (&p->in)[0].q; }", &[]),
        ],
        |text| asked(&format!("{sum}{text}")),
    );
}

#[test]
fn constructors_are_handed_their_arguments() {
    let asked = |text: &str| {
        let reader = "struct reader { const int *at; explicit reader(const void *p) : at((const int *)p) {} };\n\
            struct second : reader { second(const void *p) : reader(p) {} int get() const { return at[1]; } };\n\
            struct third : reader { using reader::reader; };\n";
        spelled(&uses_of("a.cc", &format!("{HEAD}{S}{reader}{text}"), subject()))
    };
    let read = ["first 1", "whole"].as_slice();
    expect(
        &[
            ("int f(struct s *p) { return second(p).get(); }", read),
            ("int f(struct s *p) { second x{p}; return x.get(); }", read),
            ("int f(struct s *p) { return (new third(p))->at[0]; }", &["first 1", "whole"]),
            ("void f(struct s *p) { number(1, second{p}.get()); }", read),
            ("int f(struct s *p) { return std::make_unique<second>(p)->get(); }", read),
            ("int f(struct s *p) { use(p); return second(&p->a).get(); }", &["pin a b"]),
        ],
        asked,
    );
}

#[test]
fn entries_that_are_never_null_keep_the_first_member() {
    let entry =
        "#define entry(p) ((struct s *)((char *)(p) - offsetof(struct s, in)))\nstruct in *slots[4];\n";
    let all = |text: &str| asked(&format!("{entry}{text}"));
    expect(
        &[
            ("int f(int i) { struct s *e = entry(slots[i]); if (e) return e->a; return 0; }", &["first 1"]),
            (
                "int f(int i) { struct in *in = slots[i]; struct s *e = entry(in); return e ? e->a : 0; }",
                &["first 1"],
            ),
            (
                "int f(int i) { struct in *in = slots[i]; if (!in) return 0; struct s *e = entry(in); return e ? e->a : 0; }",
                &[],
            ),
            ("int f(struct in *in) { struct s *e = entry(in); return e ? e->a : 0; }", &[]),
            ("int f(struct s *p) { struct s *e = entry(&p->in); return e ? e->a : 0; }", &[]),
        ],
        all,
    );
}

#[test]
fn low_bits_of_a_member_hold_it_where_its_type_does_not() {
    let asked = |text: &str| {
        let s = "struct s { char a[8]; char b[2]; long c; };\n";
        let subject = placed(&[("a", 0, 8), ("b", 8, 2), ("c", 16, 8)], 24);
        spelled(&uses_of("a.c", &format!("{HEAD}{s}{text}"), subject))
    };
    expect(
        &[
            ("uintptr_t f(struct s *p) { return (uintptr_t)p->a | 1; }", &["offset a"]),
            ("int f(struct s *p) { return (uintptr_t)p->b % 8 == 0; }", &["offset b"]),
            (
                "uintptr_t f(struct s *p) { uintptr_t n = (uintptr_t)p->a; n &= ~7UL; return n; }",
                &["offset a"],
            ),
            ("uintptr_t f(struct s *p) { return (uintptr_t)&p->c | 1; }", &[]),
            ("uintptr_t f(struct s *p) { return (uintptr_t)p->b & ~15UL; }", &[]),
            ("int f(struct s *p) { return ((uintptr_t)&p->c >> 3) & 3; }", &["offset c"]),
            ("int f(struct s *p) { return (unsigned)((uintptr_t)&p->c & 31) / 8; }", &["offset c"]),
            ("int f(struct s *p) { return ((uintptr_t)&p->c >> 3) & 63; }", &[]),
            ("int f(struct s *p) { return ((uintptr_t)p >> 3) & 3; }", &[]),
            ("static uintptr_t q[4]; void f(struct s *p) { q[0] = (uintptr_t)&p->c; }", &["offset c"]),
            ("static long *q[4]; void f(struct s *p) { q[0] = &p->c; }", &[]),
            ("static uintptr_t q[4]; void f(struct s *p) { q[0] = (uintptr_t)p; }", &[]),
        ],
        asked,
    );
}
