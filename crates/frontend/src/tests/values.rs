//! Offsets, sizes and addresses as values: tested, compared, kept in few bits, parts of numbers.

use super::*;

fn order(first: &str, then: &str) -> Demand {
    Demand::Order { first: first.into(), then: then.into() }
}

#[test]
fn offsets_that_are_tested_or_kept_in_few_bits_stay() {
    let all = |text: &str| {
        asked(&format!("struct t {{ const char *name; size_t at; u8 small; unsigned bits : 4; }};\n{text}"))
    };
    let cases: &[(&str, &[Demand])] = &[
        (
            "struct t v[] = { { \"c\", offsetof(struct s, c) } }; int f(int i) { return v[i].at ? 1 : 2; }",
            &[order("a", "c")],
        ),
        ("int f(void) { size_t o = offsetof(struct s, a); if (!o) return 1; return 2; }", &[first(1)]),
        ("int f(void) { size_t o = offsetof(struct s, in.r); return o != 0; }", &[]),
        ("int f(void) { size_t o = offsetof(struct s, c); return o == (size_t)-1 || o > 4096; }", &[]),
        ("struct t v = { .small = offsetof(struct s, c) };", &[]),
        ("struct t v = { .bits = offsetof(struct s, c) };", &[offset("c")]),
        ("int f(void) { size_t o = (size_t)&((struct s *)0)->c; return o == 16; }", &[offset("c")]),
        (
            "struct h { void (*f)(struct h *); }; int g(struct h *h) { return (unsigned long)h->f < 64; }\n\
             void i(struct h *h) { h->f = (void (*)(struct h *))offsetof(struct s, c); }",
            &[offset("c")],
        ),
    ];
    expect(cases, all);
}

#[test]
fn sizes_that_are_parts_of_numbers_or_compared_with_numbers_stay() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "#define REQUEST(T) (0x700 | sizeof(T) << 16)\nint f(unsigned n) { return n == REQUEST(struct s); }",
            &[Demand::Size],
        ),
        (
            "static int f(size_t n) { switch (n) { case 48: return 1; } return 0; } int g(void) { return f(sizeof(struct s)); }",
            &[Demand::Size],
        ),
        (
            "static int f(size_t n) { return n == 8 || n > 4096 || !n; } int g(void) { return f(sizeof(struct s)); }",
            &[],
        ),
        (
            "static char room[96]; static size_t used;\n\
             static void *take(size_t n) { if (used + n > sizeof(room)) return NULL; used += n; return room + used - n; }\n\
             void f(void) { struct s *p = take(sizeof(*p)); p->a = 1; }",
            &[Demand::Size],
        ),
        (
            "static struct s table[4]; unsigned f(void *p) { return ((uintptr_t)p - (uintptr_t)table) / 40; }",
            &[Demand::Size],
        ),
        ("static struct s table[4]; long f(struct s *p) { return p - table; }", &[]),
        (
            "size_t f(int is_short) { size_t n = sizeof(struct s); if (is_short) n -= sizeof(((struct s *)0)->d); return n; }",
            &[Demand::Whole],
        ),
        (
            "#define PAGE 512\nunsigned f(void) { unsigned n = PAGE / sizeof(struct s); return n; }",
            &[Demand::Size],
        ),
        (
            "struct pool { char room[256]; }; static size_t f(struct pool *p, size_t n) { return sizeof p->room / n; }\n\
             size_t g(struct pool *p) { return f(p, sizeof(struct s)); }",
            &[Demand::Size],
        ),
        ("static struct s table[4]; unsigned f(void) { return sizeof(table) / sizeof(table[0]); }", &[]),
        ("unsigned f(unsigned bytes) { return bytes / sizeof(struct s); }", &[]),
        (
            "static char room[72]; static size_t left = 72;\n\
             static void *take(size_t n) { if (left < n) return NULL; left -= n; return room + left; }\n\
             void f(void) { struct s *p = take(sizeof(*p)); p->a = 1; }",
            &[Demand::Size],
        ),
        (
            "static char room[72]; static void *take(size_t n, size_t left) { return left < n ? NULL : room; }\n\
             void f(size_t left) { struct s *p = take(sizeof(*p), left); p->a = 1; }",
            &[],
        ),
    ];
    expect(cases, asked);
}

#[test]
fn members_whose_addresses_are_taken_apart_stay() {
    let rest = [range(before("b"), Edge::End), offset("b"), Demand::Size];
    let cases: &[(&str, &[Demand])] = &[
        ("int f(struct s *p) { return ((uintptr_t)&p->b >> 2) & 3; }", &[offset("b")]),
        ("int f(struct s *p) { return ((uintptr_t)&p->b & 63) / 4; }", &[offset("b")]),
        (
            "int f(struct s *p) { switch ((uintptr_t)&p->b & 63) { case 4: return 1; } return 0; }",
            &[offset("b")],
        ),
        ("int f(struct s *p) { return ((uintptr_t)&p->b & 63) == 4; }", &[offset("b")]),
        ("int f(struct s *p) { return ((uintptr_t)&p->b & 3) == 0; }", &[]),
        ("int f(struct s *p) { return ((uintptr_t)&p->b >> 4) & 255; }", &[]),
        ("int f(struct s *p) { return ((uintptr_t)p >> 2) & 3; }", &[]),
        ("static struct s s; int f(void) { return __builtin_object_size(&s.b, 0) < 20; }", &rest),
        ("static struct s s; int f(size_t n) { return __builtin_object_size(&s.b, 0) < n; }", &[]),
        ("static struct s s; int f(void) { return __builtin_object_size(&s.b, 0) == -1; }", &[]),
    ];
    expect(cases, asked);
}

#[test]
fn entries_of_null_links_keep_their_place() {
    let entry = "#define entry(p) ((struct s *)((char *)(p) - offsetof(struct s, in)))\n\
        #define first(p) ((struct s *)((char *)(p) - offsetof(struct s, a)))\n";
    let all = |text: &str| asked(&format!("{entry}struct n {{ struct in *next; int *number; }};\n{text}"));
    let cases: &[(&str, &[Demand])] = &[
        ("int f(struct n *n) { struct s *p = entry(n->next); return p ? p->b : 0; }", &[order("a", "in")]),
        (
            "int f(struct n *n) { struct s *p = first(n->number); if (p != NULL) return p->b; return 0; }",
            &[first(1)],
        ),
        ("int f(struct n *n) { struct s *p = n->next ? entry(n->next) : NULL; return p ? p->b : 0; }", &[]),
        ("int f(struct in *in) { struct s *p = entry(in); return p ? p->b : 0; }", &[]),
        ("int f(struct n *n) { return entry(n->next)->b; }", &[]),
    ];
    expect(cases, all);
}

#[test]
fn members_whose_addresses_are_compared_keep_their_order() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "static int low(int *p, int *q) { return p < q; } int f(struct s *p) { return low(&p->b, &p->a); }",
            &[range(Edge::Begin, before("a")), range(Edge::Begin, before("b")), order("a", "b")],
        ),
        (
            "static int low(int *p, int *q) { return p < q; } int f(struct s *p, struct s *q) { return low(&p->a, &q->a); }",
            &[range(Edge::Begin, before("a"))],
        ),
        (
            "static int sum(const int *p, int n) { const int *e = p + n; int s = 0; while (p < e) s += *p++; return s; }\n\
             int f(struct s *p) { return sum(&p->a, 1) + sum(&p->b, 1); }",
            &[run(&["a", "b", "in", "c", "d", "e", "f"]), range(Edge::Begin, before("a"))],
        ),
        (
            "static const void *known[4]; static void add(const void *k) { known[1] = k; }\n\
             static int has(const void *k) { return known[0] == k; }\n\
             int f(struct s *p) { add(p); return has(&p->a) + has(&p->c); }",
            &[first(1), order("a", "c")],
        ),
        (
            "static const void *known[4]; static void add(const void *k) { known[1] = k; }\n\
             static int has(const void *k) { return known[0] == k; }\n\
             int f(struct s *p) { add(&p->c); return has(&p->a); }",
            &[],
        ),
    ];
    expect(cases, asked);
}

#[test]
fn holders_that_are_taken_for_others_hand_addresses_on() {
    let holders = "struct one { int n; void *what; }; struct two { int n; int *what; };\n";
    let all = |text: &str| asked(&format!("{holders}{text}"));
    let cases: &[(&str, &[Demand])] = &[
        (
            "static int run(const void *v) { const struct two *t = v; return *t->what; }\n\
             int f(struct s *p) { struct one o = { 1, p }; return run(&o); }",
            &[first(1)],
        ),
        (
            "union u { struct one one; struct two two; };\n\
             int f(struct s *p) { union u u; u.one.what = p; return *u.two.what; }",
            &[first(1)],
        ),
        (
            "union u { struct one one; struct two two; };\n\
             int f(struct s *p, int *n) { union u u; if (n) u.two.what = n; else u.one.what = p; return *u.two.what; }",
            &[],
        ),
    ];
    expect(cases, all);
}
