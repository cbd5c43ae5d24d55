//! Memory that is seen as something else far from where it is known, and addresses that are counted with.

use super::*;

fn offset(member: &str) -> Demand {
    Demand::Offset { member: member.to_owned() }
}

#[test]
fn records_laid_over_members_may_be_several() {
    let all = |text: &str| {
        demands(
            "a.c",
            &format!(
                "struct pair {{ int from; int to; }};\nstruct s {{ char *text; int a, b, c, d; }};\n{text}"
            ),
        )
    };
    expect(
        &[
            (
                "static int last(void *v) { struct pair *p = v; return p[1].to; } int f(struct s *s) { return last(&s->a); }",
                &[run(&["a", "b", "c", "d"])],
            ),
            ("struct pair *f(struct s *s) { return (struct pair *)&s->c; }", &[run(&["c", "d"])]),
        ],
        all,
    );
}

#[test]
fn the_system_reads_all_of_its_records() {
    let asked = |members: &str| {
        let text = format!(
            "#include <sys/socket.h>\nstruct s {{ {members} }};\n\
             int f(int fd, struct s *s) {{ const void *v = s; return connect(fd, v, sizeof *s); }}"
        );
        let found = demands("a.c", &text)?;
        Some(found.into_iter().filter(|own| *own != Demand::Size).collect())
    };
    expect(
        &[
            ("unsigned short family; unsigned short port; unsigned a; char tag[8];", &[first(4)]),
            // Behind the record they are nobody's.
            ("unsigned short family; unsigned short port; unsigned a; char tag[8]; long n;", &[first(4)]),
            ("struct sockaddr own; long n;", &[first(1)]),
        ],
        asked,
    );
}

#[test]
fn listed_numbers_are_read_as_they_are() {
    let all = |text: &str| {
        asked(&format!("{text}\nint run(const void *v) {{ const struct s *s = v; return s->b; }}"))
    };
    expect(
        &[
            (
                "int run(const void *); static const unsigned code[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }; int f(void) { return run(code); }",
                &[Demand::Whole],
            ),
            (
                "int run(const void *); static unsigned room[32] = { 0 }; int f(void) { return run(room); }",
                &[],
            ),
        ],
        all,
    );
}

#[test]
fn distances_and_their_parts_are_counted() {
    expect(
        &[
            (
                "static const char *base; static long at(void *v) { return (char *)v - base; }\n\
                 long f(struct s *p) { base = (char *)p; return at(&p->b) + at(&p->e); }",
                &[offset("b"), offset("c"), offset("d"), offset("e"), offset("in")],
            ),
            (
                "static char heap[4096]; static unsigned at(void *v) { return ((char *)v - heap) >> 3; }\n\
                 unsigned f(struct s *p) { return at(&p->in); }",
                &[offset("in")],
            ),
            (
                "static char heap[4096]; static unsigned at(void *v) { return ((char *)v - heap) >> 3; }\n\
                 unsigned f(struct s *p) { return at(&p->c) + at(p); }",
                &[],
            ),
            (
                "static void *front(void *v, size_t by) { return (char *)v - by; }\n\
                 void *f(struct s *p) { return front(&p->b, 4) == front(&p->e, 32) ? p : 0; }",
                &[],
            ),
        ],
        |text| {
            let found = asked(text)?;
            Some(found.into_iter().filter(|own| matches!(own, Demand::Offset { .. })).collect())
        },
    );
}

#[test]
fn pointers_to_pointers_lesser_lengths_and_vectors_are_followed() {
    expect(
        &[
            (
                "static struct s all, *one = &all; void *ask(int n) { return n ? &one : 0; }\n\
                 int f(long n) { void *v = ask(1); return (*(int **)v)[n]; }",
                &[Demand::Whole],
            ),
            (
                "static struct s all, *one = &all; void *ask(int n) { return n ? &one : 0; }\n\
                 int f(void) { struct s **v = ask(1); return (*v)->b; }",
                &[],
            ),
            (
                "static void take(void *to, size_t room, const void *v, size_t n) { size_t m = n < room ? n : room; memcpy(to, v, m); }\n\
                 void f(struct s *p, const void *v, size_t n) { take(p, sizeof *p, v, n); }",
                &[Demand::Whole],
            ),
            (
                "static void take(void *to, size_t room, const void *v) { size_t m = room; memcpy(to, v, m); }\n\
                 void f(struct s *p, const struct s *v) { take(p, sizeof *p, v); }",
                &[],
            ),
            (
                "typedef int four __attribute__((vector_size(16))); void f(struct s *p) { four v; memcpy(&v, p, sizeof v); use(&v); }",
                &[first(3)],
            ),
        ],
        asked,
    );
}

#[test]
fn the_compilers_order_may_be_a_friend() {
    let all = |text: &str| demands("a.cc", text);
    expect(
        &[
            (
                "struct s { int a; int b; friend bool operator<(const s &x, const s &y); };\n\
                 bool operator<(const s &x, const s &y) { return x.b < y.b; }",
                &[],
            ),
            (
                "#include <compare>\nstruct s { int a; int b; friend auto operator<=>(const s &, const s &) = default; };",
                &[Demand::Whole],
            ),
        ],
        all,
    );
}

#[test]
fn numbers_and_unnamed_arguments_that_become_objects_hold_all() {
    let passed = "#include <stdarg.h>\nstruct other { long l[6]; };\n\
        static long take(int n, ...) { va_list v; va_start(v, n); struct TYPE t = va_arg(v, struct TYPE); va_end(v);\n\
        return *(char *)&t; }\nlong f(struct s s) { return take(1, s); }";
    let base =
        "static uintptr_t base; static unsigned read(unsigned n) { return *(unsigned *)(base + n); }\n";
    let cases: &[(&str, &[Demand])] = &[
        (
            &format!("{base}int f(unsigned n) {{ struct s *p = (struct s *)base; return p->a + read(n); }}"),
            &[Demand::Whole],
        ),
        (&format!("{base}int f(uintptr_t n) {{ struct s *p = (struct s *)n; return p->a + read(4); }}"), &[]),
        (&passed.replace("TYPE", "other"), &[Demand::Whole]),
    ];
    expect(cases, asked);
    assert!(!asked(&passed.replace("TYPE", "s")).unwrap().contains(&Demand::Whole));
}
