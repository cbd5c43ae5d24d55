//! Memory that is taken for a struct by way of other types, and addresses that are used as numbers.

use super::*;

#[test]
fn members_are_taken_for_records_by_way_of_any_pointer() {
    let pair = "struct pair { char *text; long n; };\n\
        static long sum(void *all, int n) { struct pair *p = all; return p[n - 1].n; }\n\
        static int bump(void *any) { int *n = any; return ++*n; }\n\
        static int of(void *any) { struct s *v = (struct s *)((char *)any - offsetof(struct s, e)); return v->a; }\n";
    expect(
        &[
            ("long f(struct s *v) { return sum(&v->d, 1); }", &["pin d e f"]),
            ("long f(struct s *v) { void *at = &v->c; struct pair *p = at; return p->n; }", &["pin c d e f"]),
            ("long f(struct s *v, struct pair *p) { return v->a + sum(p, 1); }", &[]),
            ("int f(struct s *v) { return bump(&v->e); }", &[]),
            ("int f(struct s *v) { return of(&v->e); }", &[]),
            // What may be what is wanted is taken to be that.
            (
                "long f(struct s *v, struct pair *p) { return sum(p, 1) + sum(v->d ? p : (void *)&v->d, 1); }",
                &[],
            ),
        ],
        |text| asked(&format!("{pair}{text}")),
    );
}

#[test]
fn numbers_and_bytes_that_were_filled_in_are_taken_for_a_struct() {
    let read = "static int first(const void *all) { const struct s *v = all; return v[1].b; }\n\
        struct box { int n; char body[64]; };\n\
        static struct s *in(struct box *b) { struct s *v = (void *)b->body; return v; }\n\
        void *give(size_t);\n";
    let whole = ["whole"].as_slice();
    expect(
        &[
            ("static const int rows[] = { 1, 2, 3, 4 }; int f(void) { return first(rows); }", whole),
            ("int f(void) { unsigned rows[20]; rows[3] = 5; return first(&rows[2]); }", whole),
            ("static unsigned short pool[64]; int f(void) { return first(pool); }", &[]),
            ("static struct s all[2]; int f(void) { return first(all) + all[0].a; }", &[]),
            (
                "int f(struct box *b, char *from, int n) { memcpy(b->body + n, from, n); return in(b)->a; }",
                whole,
            ),
            (
                "int f(struct box *b, void *at) { memcpy(b->body, at, 4); struct s *v = (void *)(b->body + 4); return v->a; }",
                whole,
            ),
            (
                "int f(struct box *b, struct box *from) { memcpy(b->body, from->body, 64); return in(b)->a; }",
                &[],
            ),
            ("int f(struct box *b) { in(b)->a = 3; return in(b)->b; }", &[]),
        ],
        |text| asked(&format!("{read}{text}")),
    );
}

#[test]
fn what_is_counted_back_from_has_the_member_there() {
    let whole = ["whole"].as_slice();
    let from = "#define from(p, m) ((struct s *)((char *)(p) - offsetof(struct s, m)))\n\
        struct ends { char *d[4]; struct in head; long count; };\n";
    expect(
        &[
            ("int f(struct ends *e, int i) { struct s *v = from(&e->d[i], d); return v->d == v->d; }", whole),
            ("long f(struct ends *e) { return from(&e->count, e)->c; }", whole),
            ("static unsigned all[8] = { 1, 2 }; long f(void) { return from(all + 2, e)->c; }", whole),
            ("int f(struct ends *e) { return from(&e->head, in)->a; }", &[]),
            ("int f(struct in *p) { return from(p, in)->a + from(p - 1, in)->b; }", &[]),
            ("int f(char **at) { return from(at, d)->a; }", &[]),
            ("int f(struct s *v) { char **at = &v->d; return from(at, d)->a; }", &[]),
        ],
        |text| asked(&format!("{from}{text}")),
    );
}

#[test]
fn addresses_that_are_compared_as_numbers_are_put_in_order() {
    let sort = "void sort(void *, size_t, size_t, int (*)(const void *, const void *));\n\
        static int by_place(const void *a, const void *b) { return *(char *const *)a < *(char *const *)b ? -1 : 1; }\n\
        static int by_value(const void *a, const void *b) { return (*(struct in *const *)a)->q - (*(struct in *const *)b)->q; }\n\
        static void all_of(struct in **all, size_t n) { sort(all, n, sizeof *all, BY); }\n";
    let asked = |text: &str| {
        let s = "struct in { int q, r; }; struct s { struct in a; struct in b; struct in in; long c; };\n";
        let subject = placed(&[("a", 0, 8), ("b", 8, 8), ("in", 16, 8), ("c", 24, 8)], 32);
        let (by, text) = text.split_once(' ').unwrap_or_default();
        spelled(&uses_of("a.c", &format!("{HEAD}{s}{}{text}", sort.replace("BY", by)), subject))
    };
    let both = "void f(struct s *v) { struct in *all[] = { &v->in, &v->a }; all_of(all, 2); }";
    let single = "void f(struct s *v, struct s *w) { struct in *all[] = { &v->a, &w->a }; all_of(all, 2); }";
    expect(
        &[
            (&format!("by_place {both}"), &["pin a in"]),
            (&format!("by_value {both}"), &[]),
            (&format!("by_place {single}"), &[]),
        ],
        asked,
    );
}

#[test]
fn offsets_that_decide_keep_the_first_member_first() {
    let table = "struct row { const char *key; size_t at; };\n\
        static const struct row rows[] = { { \"b\", offsetof(struct s, b) }, { \"e\", offsetof(struct s, e) }, { 0 } };\n";
    let body = |body: &str| {
        let text = format!("{table}int f(const struct row *r, int n) {{ {body} return n; }}");
        asked(&text)
    };
    expect(
        &[
            ("while (r->at) r++;", &["first 1"]),
            ("for (; n && r->at; n--) r++;", &["first 1"]),
            ("n = r->at ? 1 : 2;", &["first 1"]),
            ("n = !r->at || r->at == 0;", &["first 1"]),
            ("for (; r->key; r++) number(r->at);", &[]),
            ("for (; r->key; r++) n += *(int *)((char *)use + r->at);", &[]),
        ],
        body,
    );
}

#[test]
fn bits_of_an_unknown_number_have_the_room_that_there_is() {
    let asked = |text: &str| {
        let s = "struct s { int a; u8 b; u8 c; int e; };\n";
        let subject = placed(&[("a", 0, 4), ("b", 4, 1), ("c", 5, 1), ("e", 8, 4)], 12);
        spelled(&uses_of("a.c", &format!("{HEAD}{s}{text}"), subject))
    };
    let mark = "static uintptr_t mark(void *at, unsigned bits) { return (uintptr_t)at | bits; }\n";
    expect(
        &[
            (&format!("{mark}uintptr_t f(struct s *v, int n) {{ return mark(&v->b, n); }}"), &["offset b"]),
            (&format!("{mark}uintptr_t f(struct s *v, int n) {{ return mark(&v->c, n); }}"), &[]),
            (&format!("{mark}uintptr_t f(struct s *v, int n) {{ return mark(v, n); }}"), &[]),
            ("uintptr_t f(struct s *v) { return (uintptr_t)&v->b | 8; }", &[]),
        ],
        asked,
    );
}

#[test]
fn elements_of_a_member_go_on_in_those_behind_it() {
    let asked = |text: &str| {
        let s = "struct s { char a[8]; char b[3]; u8 c; long e; };\n";
        let subject = placed(&[("a", 0, 8), ("b", 8, 3), ("c", 11, 1), ("e", 16, 8)], 24);
        spelled(&uses_of("a.c", &format!("{HEAD}{s}{text}"), subject))
    };
    let equal = "static int equal(const void *x, const char *y) { const char *c = x; int i = 0; LOOP return 1; }\n\
        int f(struct s *v, char *t) { return equal(v->a, t); }";
    let with = |text: &str| asked(&equal.replace("LOOP", text));
    expect(
        &[
            ("for (; i < 11; i++) if (c[i] != y[i]) return 0;", &["pin a b"]),
            ("while (i <= 11) { if (c[i] != y[i]) return 0; i++; }", &["pin a b c"]),
            ("for (i = 0; i < 3; i++) ; for (i = 0; i != 10; ++i) if (c[i] != y[i]) return 0;", &["pin a b"]),
            ("for (; i < 8; i++) if (c[i] != y[i]) return 0;", &[]),
            ("for (; i < 11; i++) if (i < 8 && c[i] != y[i]) return 0;", &[]),
            ("for (; y[i]; i++) if (c[i] != y[i]) return 0;", &[]),
        ],
        with,
    );
}

#[test]
fn members_of_what_is_derived_stand_behind_a_class_and_in_its_padding() {
    let asked = |body: &str, others: &str| {
        let own = "struct s { int a; int b; struct in in; long c; char *d; unsigned e, f;";
        let text = format!("{HEAD}struct in {{ int q, r; }};\n{own} {body} }};\n{others}");
        spelled(&uses_of("a.cc", &text, subject()))
    };
    let derived = "struct t : s { int own; };";
    let whole = ["whole"];
    for body in [
        "int sum() { int *p = reinterpret_cast<int *>(this + 1); return *p; }",
        "int *own() { return reinterpret_cast<int *>(reinterpret_cast<char *>(this) + sizeof(s)); }",
        "void wipe() { memset(this, 0, sizeof(*this)); }",
        "void take(const s *from) { memcpy(this, from, sizeof(s)); }",
    ] {
        assert_eq!(asked(body, derived), whole, "{body}");
        assert_eq!(asked(body, "struct t { s own; };"), [""; 0], "{body}");
    }
    let send = "void send(unsigned n) { wire.append(reinterpret_cast<const char *>(this), n); }";
    assert_eq!(asked(send, derived), whole);
    assert_eq!(asked("int sum() { return a + b; }", derived), [""; 0]);
}

#[test]
fn numbers_of_bytes_lead_back_and_members_on() {
    let asked = |text: &str| {
        let text =
            format!("{HEAD}{S}struct longer {{ int q, r; long more; }}; struct half {{ int q; }};\n{text}");
        spelled(&uses_of("a.c", &text, subject()))
    };
    expect(
        &[
            (
                "struct s *back(char *p) { return (struct s *)(p - (2 * sizeof(unsigned) + sizeof(long))); }\n\
                struct s *f(struct s *s) { return back((char *)&s->c); }",
                &["whole"],
            ),
            (
                "void fill(void *at) { struct longer *l = at; l->more = 1; } void f(struct s *s) { fill(&s->in); }",
                &["pin in c d e f"],
            ),
            (
                "void fill(void *at) { struct in *i = at; i->q = 1; } void f(struct s *s) { fill(&s->in); }",
                &[],
            ),
        ],
        asked,
    );
}
