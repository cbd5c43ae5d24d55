//! Places of members that code, the library or the system know by numbers of their own.

use super::*;

#[test]
fn addresses_that_were_made_numbers_are_put_in_order() {
    let before = "static int before(void *x, void *y) { uintptr_t a = (uintptr_t)x, b = (uintptr_t)y; return a < b; }\n";
    expect(
        &[
            ("int f(struct s *p) { return before(&p->a, &p->b) + before(&p->b, &p->e); }", &["pin a b e"]),
            ("int f(struct s *p) { return before(&p->c, &p->c); }", &[]),
        ],
        |text| asked(&format!("{before}{text}")),
    );
}

#[test]
fn registers_lie_where_a_device_has_them() {
    let members = [("a", 0, 4), ("b", 4, 4), ("c", 8, 4)];
    let text = |text: &str| spelled(&uses_of("a.c", text, placed(&members, 12)));
    assert_eq!(text("struct s { volatile int a; int volatile b; volatile int c; };"), ["whole"]);
    assert_eq!(text("struct s { volatile int a; int b; volatile int c; };"), [""; 0]);
    assert_eq!(text("struct s { volatile int *a; volatile int *b; volatile int *c; };"), [""; 0]);
    let read = "static uintptr_t base; void f(void) { struct s *v = (struct s *)base; v->a = 1; }\n";
    expect(
        &[
            ("int at(unsigned n) { return *(int *)(base + (n << 2)); }", &["whole"]),
            ("void at(unsigned n) { *(unsigned *)(base + n * 4) = n; }", &["whole"]),
            ("int at(void) { return *(int *)(base + offsetof(struct s, b)); }", &[]),
            ("int at(uintptr_t base, unsigned n) { return *(int *)(base + n); }", &[]),
        ],
        |text| asked(&format!("{read}{text}")),
    );
}

#[test]
fn pointers_to_functions_of_the_library_do_what_those_do() {
    let types = "static int (*same)(const void *, const void *, size_t) = memcmp;\n\
        static void *(*set)(void *, int, size_t) = memset;\n\
        struct ops { void *(*copy)(void *, const void *, size_t); };\n\
        static const struct ops ops = { .copy = memcpy };\n";
    expect(
        &[
            ("int f(struct s *p, struct s *q) { return same(p, q, sizeof *p); }", &["whole"]),
            ("void f(struct s *p) { set(p, 0, sizeof *p); }", &[]),
            ("void f(struct s *p, struct s *q) { ops.copy(p, q, sizeof *p); }", &[]),
            ("void f(struct s *p, char *b) { ops.copy(b, p, sizeof *p); }", &["whole"]),
        ],
        |text| asked(&format!("{types}{text}")),
    );
}

#[test]
fn a_handler_of_faults_knows_places_in_mapped_memory() {
    let map = "void *mmap(void *, size_t, int, int, int, long); struct info { void *si_addr; };\n\
        void f(void) { struct s *p = mmap(0, sizeof *p, 0, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); p->a = 1; }\n";
    expect(
        &[
            ("static char *base; long on(struct info *i) { return (char *)i->si_addr - base; }", &["whole"]),
            ("", &[]),
        ],
        |text| asked(&format!("{map}{text}")),
    );
}

#[test]
fn kept_distances_that_a_switch_chooses_by_are_numbers() {
    let log = "struct log { unsigned short where; }; static struct log l;\n\
        static void keep(struct s *p, int *m) { l.where = (unsigned short)((char *)m - (char *)p); }\n\
        void f(struct s *p) { keep(p, &p->b); }\n";
    expect(
        &[
            ("int g(void) { switch (l.where) { case 4: return 1; } return 0; }", &["offset b"]),
            ("int g(void) { return l.where == 4; }", &["offset b"]),
            ("int g(void) { return l.where == 65535 || l.where == -1; }", &[]),
            ("void g(void) { number(l.where); }", &[]),
            ("", &[]),
        ],
        |text| asked(&format!("{log}{text}")),
    );
}

#[test]
fn members_that_are_cast_away_may_begin_what_the_system_expects() {
    let all = |text: &str| asked(&format!("void f(struct s *p) {{ {text} }}"));
    expect(
        &[
            ("writev(1, (void *)&p->d, 1);", &["pin d e f"]),
            ("gettimeofday((void *)&p->c, 0);", &["pin c d e f"]),
            ("setsockopt(1, 2, 3, (void *)&p->c, sizeof p->c);", &[]),
            ("setsockopt(1, 2, 3, (char *)&p->e, 4);", &[]),
            ("pthread_mutex_lock((void *)&p->c);", &[]),
            ("free((void *)&p->c); __atomic_clear((void *)&p->c, 0);", &[]),
        ],
        all,
    );
}

#[test]
fn lengths_beside_offsets_are_those_of_their_members() {
    let table = "struct row { size_t at; size_t n; };\n\
        static const struct row rows[] = { { .at = offsetof(struct s, d), .n = sizeof(((struct s *)0)->d) },\n\
        { .at = offsetof(struct s, b), .n = sizeof(((struct s *)0)->b) } };\n";
    let set =
        "static void set(void *p, size_t at, size_t n, const void *v) { memcpy((char *)p + at, v, n); }\n";
    expect(
        &[
            (
                "void f(void *p, int i, const void *v) { memcpy((char *)p + rows[i].at, v, rows[i].n); }\n\
                 void g(struct s *p) { f(p, 0, \"\"); }",
                &[],
            ),
            (
                "void f(void *p, int i, const void *v) { char *to = (char *)p + rows[i].at; memcpy(to, v, rows[i].n - 1); }\n\
                 void g(struct s *p) { f(p, 0, \"\"); }",
                &[],
            ),
            (
                &format!(
                    "{set}void f(struct s *p, const void *v) {{ set(p, offsetof(struct s, d), sizeof(p->d), v); \
                    set(p, offsetof(struct s, b), sizeof(p->b), v); }}"
                ),
                &[],
            ),
            // More than one of them has.
            (
                &format!(
                    "{set}void f(struct s *p, const void *v) {{ set(p, offsetof(struct s, d), sizeof(p->d), v); \
                    set(p, offsetof(struct s, b), sizeof(p->d), v); }}"
                ),
                &["pin b", "pin b in c"],
            ),
            (
                "void f(void *p, int i, const void *v) { memcpy((char *)p + rows[i].at, v, sizeof(((struct s *)0)->d)); }\n\
                 void g(struct s *p) { f(p, 0, \"\"); }",
                &["pin b", "pin b in c"],
            ),
            (
                "struct s doc; static void touch(void *at, size_t n) { char old[24]; memcpy(old, at, n); }\n\
                 void f(void) { touch(&doc.d, sizeof doc.d); touch(&doc.b, sizeof doc.b); }",
                &[],
            ),
            (
                "struct w { u8 off, n; }; static struct w ws[] = { { offsetof(struct s, b), sizeof(((struct s *)0)->b) },\n\
                 { offsetof(struct s, d), sizeof(((struct s *)0)->d) } };\n\
                 void f(const struct s *p, int i, char *v) { memcpy(v, (const char *)p + ws[i].off, ws[i].n); }",
                &[],
            ),
        ],
        |text| asked(&format!("{table}{text}")),
    );
}
