//! Objects whose bytes or whose type are only known by where pointers and lengths come from.

use super::*;

#[test]
fn lengths_and_addresses_are_followed() {
    let counterpart = "struct u { int x; int y; };\nvoid put(const void *, size_t);\nunsigned words(const unsigned *, int);\n";
    let all = |text: &str| asked(&format!("{counterpart}{text}"));
    expect(
        &[
            ("void f(struct s *p) { size_t n = sizeof(*p); put(p, n); }", &[Demand::Whole]),
            (
                "static const size_t N = sizeof(struct s); void f(struct s *p) { put(p, N); }",
                &[Demand::Whole],
            ),
            ("unsigned f(struct s *p) { return words((unsigned *)p, sizeof(*p) / 4); }", &[Demand::Whole]),
            (
                "struct b { const void *at; size_t n; }; void w(struct b *); \
                 void f(struct s *p) { struct b b = { p, sizeof(*p) }; w(&b); }",
                &[Demand::Whole],
            ),
            (
                "struct b { const void *at; size_t n; }; void w(struct b *); \
                 void f(struct s *p) { struct b b; b.at = p; b.n = sizeof(*p); w(&b); }",
                &[Demand::Whole],
            ),
            (
                "static void *same(void *v) { return v; } int f(struct s *p) { struct u *u = same(p); return u->y; }",
                &[first(2)],
            ),
            (
                "struct b { void *v; }; int f(struct b *b, struct s *p) { b->v = p; struct u *u = b->v; return u->y; }",
                &[first(2)],
            ),
            (
                "void later(int (*)(void *), void *); static int run(void *v) { struct u *u = v; return u->y; }\n\
                 void f(struct s *p) { later(run, p); }",
                &[first(2)],
            ),
            ("struct s *f(size_t n) { return malloc(n * sizeof(struct s) + 4); }", &[first(1)]),
            (
                "int f(void *v) { struct u *u = _Generic(v, int *: 0, default: v); return u->y; }\n\
                 int g(struct s *p) { return f(p); }",
                &[first(2)],
            ),
            (
                "static void *as_pointer(long n) { return (void *)n; } static long as_number(void *p) { return (long)p; }\n\
                 int f(struct s *p) { struct u *u = as_pointer(as_number(p)); return u->y; }",
                &[first(2)],
            ),
            (
                "static void *again(void *v, int n) { return n ? again(v, n - 1) : v; }\n\
                 int f(struct s *p) { struct u *u = again(p, 3); return u->y; }",
                &[first(2)],
            ),
            (
                "void f(struct s *p) { struct s *q = malloc(sizeof(*q)); size_t n = sizeof(*q); memcpy(q, p, n); }",
                &[],
            ),
            (
                "struct b { void *v; }; int f(struct b *b, char *c) { b->v = c; struct s *p = b->v; return p->a; }",
                &[],
            ),
        ],
        all,
    );
}

#[test]
fn bytes_of_a_holder_are_bytes_of_what_it_holds() {
    let all = |text: &str| asked(&format!("struct h {{ int x; struct s s[2]; }};\n{text}"));
    expect(
        &[
            ("void f(struct h *p, int fd) { write(fd, p, sizeof(*p)); }", &[Demand::Whole]),
            ("int f(struct h *p, struct h *q) { return memcmp(p, q, sizeof(*p)); }", &[Demand::Whole]),
            ("void f(struct h *p, struct h *q) { memcpy(p, q, sizeof(*p)); }", &[]),
            ("void f(struct h *p) { asm(\"fxsave %0\" : \"=m\"(*p)); }", &[Demand::Whole]),
            ("void f(struct h *p) { asm(\"inc %0\" : \"+m\"(p->x)); }", &[]),
        ],
        all,
    );
}

#[test]
fn objects_that_begin_at_a_member_of_another_share_its_bytes() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "struct node { long key; u8 color; u8 data; }; struct s { u8 color; u8 spare; int count; long last; };\n\
             struct s *f(struct node *n) { return (struct s *)&n->color; }",
            &[first(3)],
        ),
        (
            "struct head { struct e *next, *prev; int n; }; struct e { struct e *next, *prev; long x[9]; };\n\
             struct s { int a; struct head list; int b; };\n\
             int f(struct s *p, struct e *e) { return e == (struct e *)&p->list; }",
            &[],
        ),
        (
            "struct s { int a; int b; long c; };\n\
             int f(struct s *p) { switch (sizeof(p->a)) { case 4: return p->a; case 8: { return *(long *)&p->a; } } return 0; }",
            &[],
        ),
        (
            "struct s { int a; int b; }; void f(void) { asm(\"\" : : \"i\"(offsetof(struct s, a)), \"i\"(offsetof(struct s, b))); }",
            &[
                Demand::Whole,
                Demand::Assembler { member: "a".into() },
                Demand::Assembler { member: "b".into() },
            ],
        ),
        (
            "struct s { int a; int b; }; int safe_copy(void *, const void *, size_t);\n\
             int f(struct s *p) { struct s v; return safe_copy(&v, p, sizeof(v)); }",
            &[],
        ),
    ];
    expect(cases, |text| demands("a.c", &format!("{HEAD}{text}")));
}

#[test]
fn bytes_outside_an_object_are_its_neighbours() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "struct in { int q; }; struct s { char extra[8]; struct in in; int z; };\n\
             char *f(struct in *p) { return (char *)p - 8; }",
            &[run(&["extra", "in"])],
        ),
        (
            "struct in { int q; }; struct s { struct in in; int z; };\nint f(struct in *p) { return *(int *)(p + 1); }",
            &[run(&["in", "z"])],
        ),
        (
            "struct in { int q; }; struct s { int z; struct in in; };\n\
             struct in *f(struct in *p, int i) { return i ? p + 1 : p + i; }",
            &[],
        ),
        (
            "struct s { int n; char kind; char name[]; }; char f(char *name) { return name[-1]; }",
            &[run(&["kind", "name"]), last("name")],
        ),
        ("struct s { int a, b, c; }; int f(struct s *p) { return *(&p->b - 1); }", &[run(&["a", "b"])]),
        (
            "struct s { int a, b; char *c; }; int f(struct s *p, void *q) { return q < (void *)&p->c; }",
            &[range(Edge::Begin, before("c"))],
        ),
        (
            "struct s { int n; char name[8]; }; void *f(size_t n) { return malloc(sizeof(struct s) + n); }",
            &[last("name")],
        ),
        (
            "struct s { int a; long b; char c[1]; }; struct t { int a; long b; long d; char c[1]; };\n\
             size_t f(int i) { return i ? offsetof(struct s, c) : offsetof(struct t, c); }",
            &[first(2), range(Edge::Begin, before("c")), last("c")],
        ),
    ];
    expect(cases, |text| demands("a.c", &format!("{HEAD}{text}")));
}

#[test]
fn functions_without_a_body_take_members_for_several() {
    let head = "struct e { int fd; int got; }; int several(struct e *, int); int pair(const struct e [2]);\n\
        int vector(char *const []); int one(struct e *, struct e *);\n\
        struct s { struct e a; struct e b; int n; char *c; char *d; };\n";
    let all = |text: &str| demands("a.c", &format!("{head}{text}"));
    expect(
        &[
            ("int f(struct s *p) { return several(&p->a, 2); }", &[run(&["a", "b"])]),
            ("int f(struct s *p, int n) { return several(&p->a, n); }", &[run(&["a", "b"])]),
            ("int f(struct s *p) { return several(&p->a, 1); }", &[]),
            ("int f(struct s *p) { return pair(&p->a); }", &[run(&["a", "b"])]),
            ("int f(struct s *p) { return vector(&p->c); }", &[run(&["c", "d"])]),
            ("int f(struct s *p) { return one(&p->a, &p->b); }", &[]),
        ],
        all,
    );
}

#[test]
fn assembler_hands_addresses_on_by_symbols_and_results() {
    let head = "struct s { int a; long b; } object;\n";
    let all = |text: &str| demands("a.c", &format!("{head}{text}"));
    expect(
        &[
            ("asm(\".globl table\\ntable: .quad object\\n\");", &[Demand::Whole]),
            ("asm(\"table: .quad object\\n\"); extern int *table;", &[Demand::Whole]),
            ("asm(\"unseen: .quad object\\n\");", &[]),
            ("int f(void) { int *p; asm(\"\" : \"=r\"(p) : \"0\"(&object)); return *p; }", &[first(1)]),
            (
                "struct s *f(void) { unsigned long n; asm(\"\" : \"=r\"(n) : \"0\"(&object)); \
                 return (struct s *)(n + 16); }",
                &[],
            ),
        ],
        all,
    );
}

#[test]
fn addresses_in_steps_of_a_given_number_fix_the_size() {
    let typed = "struct s { long a; int b; char c; } all[4];\n\
        static void *at(void *m, size_t i, unsigned step) { return (char *)m + (HOW); }\n\
        int f(void) { struct s *p = at(all, 1, GIVEN); return p->b; }\n";
    let kept = "struct s { long a; int b; char c; }; struct t { char *memory; unsigned step; };\n\
        static void *at(const struct t *t, size_t i) { unsigned step = t->step; return t->memory + (HOW); }\n\
        int f(void) { struct t t = { malloc(4 * sizeof(struct s)), GIVEN }; struct s *p = at(&t, 1); return p->b; }\n";
    let cases: &[(&str, &[Demand])] = &[
        ("i << step, 4", &[Demand::Size]),
        ("i << step, 5", &[]),
        ("i * step, sizeof(struct s)", &[]),
        ("i << 4, 1", &[Demand::Size]),
    ];
    for head in [typed, kept] {
        expect(cases, |text| {
            let (how, given) = text.split_once(", ").unwrap_or((text, ""));
            demands("a.c", &format!("{HEAD}{}", head.replace("HOW", how).replace("GIVEN", given)))
        });
    }
}

#[test]
fn members_that_are_taken_for_longer_numbers_keep_the_next_beside_them() {
    let head = "struct s { int a; int b; int c; short d; }; int scan(const char *, ...);\n\
        static int one(int *p) { return *p; }\n\
        static int many(char *p, int n, size_t size, int (*get)(void *)) { int sum = 0; while (n--) { sum += get(p); p += size; } return sum; }\n\
        static int get(void *p) { return *(int *)p; }\n";
    let all = |text: &str| demands("a.c", &format!("{HEAD}{head}{text}"));
    expect(
        &[
            ("void f(struct s *p) { scan(\"%ld\", (long *)&p->b); }", &[run(&["b", "c"]), offset("b")]),
            ("int f(struct s *p) { return (*(int (*)[2])&p->b)[1]; }", &[run(&["b", "c"])]),
            ("int f(struct s *p) { return one((int *)(unsigned *)&p->b); }", &[]),
            (
                "int f(struct s *p) { return many((char *)&p->b, 2, sizeof(int), get); }",
                &[run(&["a", "b", "c", "d"])],
            ),
            (
                "void f(struct s *p) { asm(\"movdqu %0, %%xmm0\" : : \"m\"(p->a)); }",
                &[run(&["a", "b", "c", "d"])],
            ),
            ("void f(struct s *p) { asm(\"incl %0\" : \"+m\"(p->a)); }", &[]),
        ],
        all,
    );
}

#[test]
fn instructions_that_macros_have_a_part_of_lead_from_addresses_in_brackets() {
    let head = "#define AT 8\n#define TEXT_(n) #n\n#define TEXT(n) TEXT_(n)\n\
        #define PUSH(p) asm volatile(\"addq $1, 8(%0)\" : : \"r\"(p) : \"memory\")\n\
        #define KEEP(to, from) asm(\"mov %1, \" TEXT(AT) \"(%0)\" : : \"r\"(to), \"r\"(from) : \"memory\")\n\
        static void push(void *p) { asm(\"addq $1, \" TEXT(AT) \"(%0)\" : : \"r\"(p) : \"memory\"); }\n";
    let all = |text: &str| asked(&format!("{head}{text}"));
    expect(
        &[
            ("void f(struct s *p) { push(p); }", &[Demand::Whole]),
            ("void f(struct s *p) { PUSH((void *)p); }", &[Demand::Whole]),
            ("void f(void *to, struct s *p) { KEEP(to, (void *)p); }", &[]),
        ],
        all,
    );
}

#[test]
fn each_call_has_its_own_memory_behind_its_arguments() {
    let words = "struct u { int x; int y; };\ntypedef struct { unsigned long value; } word;\n\
        static void set(word *to, unsigned long value) { to->value = value; }\n\
        static unsigned long get(const word *from) { return from->value; }\n\
        static void bring(void *what, void **out) { *out = what; }\n\
        void other(word *to, unsigned long value); unsigned long from_other(word *from);\n\
        struct lock { int depth; word owner; }; struct box { word *to; };\n";
    let all = |text: &str| asked(&format!("{words}{text}"));
    expect(
        &[
            (
                "word one, two; void f(struct s *p) { set(&one, (unsigned long)p); }\n\
                 int g(void) { struct u *u = (struct u *)get(&two); return u->y; }",
                &[],
            ),
            (
                "word one; void f(struct s *p) { set(&one, (unsigned long)p); }\n\
                 int g(void) { struct u *u = (struct u *)get(&one); return u->y; }",
                &[first(2)],
            ),
            (
                "void f(struct lock *l, struct s *p) { set(&l->owner, (unsigned long)p); }\n\
                 int g(struct lock *l) { word copy = l->owner; return ((struct u *)copy.value)->y; }",
                &[first(2)],
            ),
            (
                "static word made(struct s *p) { return (word){ (unsigned long)p }; }\n\
                 static int second(word w) { return ((struct u *)w.value)->y; }\n\
                 int f(struct s *p) { word w; w = made(p); return second(w); }",
                &[first(2)],
            ),
            (
                "int g(struct s *p) { word w = { (unsigned long)p }; return ((struct u *)get(&w))->y; }",
                &[first(2)],
            ),
            (
                "void f(struct box *b, struct lock *l) { b->to = &l->owner; }\n\
                 void g(struct box *b, struct s *p) { set(b->to, (unsigned long)p); }\n\
                 int h(struct lock *l) { return ((struct u *)l->owner.value)->y; }",
                &[first(2)],
            ),
            (
                "void f(struct s *p) { void *a, *b; bring(p, &a); bring(\"text\", &b); use(((struct u *)b)->y + a); }",
                &[],
            ),
            ("int f(struct s *p) { void *a; bring(p, &a); return ((struct u *)a)->y; }", &[first(2)]),
        ],
        all,
    );
}

#[test]
fn low_bits_of_a_member_hold_it_where_its_type_does_not() {
    let narrow = "struct s { char a[8]; char b[2]; long c; };\n";
    let all = |text: &str| demands("a.c", &format!("{HEAD}{narrow}{text}"));
    expect(
        &[
            ("int f(struct s *p) { return ((uintptr_t)p->a | 1) == 3; }", &[offset("a")]),
            ("int f(struct s *p) { return (uintptr_t)p->b % 8 == 0; }", &[offset("b")]),
            (
                "int f(struct s *p) { uintptr_t n = (uintptr_t)p->a; n &= ~7UL; return n == 3; }",
                &[offset("a")],
            ),
            ("int f(struct s *p) { return ((uintptr_t)&p->c | 1) == 3; }", &[]),
            ("int f(struct s *p) { return ((uintptr_t)p->b & ~15UL) == 3; }", &[]),
            ("int f(struct s *p) { return ((uintptr_t)p->a & ~4095UL) == 3; }", &[]),
        ],
        all,
    );
}

/// An object of one subject is taken for one of another, and none of the first one's members may move in any case.
#[test]
fn what_a_held_struct_is_taken_for_is_held_too() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let text = "void *malloc(unsigned long);\n\
                struct state { int tt; long n; };\nstruct both { struct state l; long g; };\n\
                long f(void) {\n\tvoid *l = malloc(sizeof(struct both));\n\
                \tstruct state *s = (struct state *)((unsigned char *)l + 0);\n\
                \treturn ((struct both *)s)->g;\n}\n";
    let unit = unit(folder.path(), "a.c", text);
    let found = frontend.uses(&unit, &[subject("both"), subject("state")], &BTreeSet::new()).unwrap();
    for held in [BTreeSet::new(), [1].into()] {
        let joined = crate::demands(&[&found.flows], &held);
        let mut of_both = found.uses.iter().chain(&joined.uses).filter(|used| used.subject == 0);
        assert!(of_both.any(|used| used.demand == Demand::First { count: 1 }), "{held:?} {joined:?}");
        assert!(held.is_empty() || joined.uses.iter().all(|used| used.subject == 0));
    }
}

/// The unit that maps a file names none of the structs in it.
#[test]
fn a_file_that_another_unit_maps_is_found() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let map = "void *mmap(void *, unsigned long, int, int, int, long);\n\
               void *map(int fd) { void *p = mmap(0, 9, 1, 2, FD, 0); return p; }\n";
    let user = "struct s { int a, b; }; void *map(int fd);\n\
                int f(int fd) { struct s *s = map(fd); return s->a; }\n";
    for (fd, is_held) in [("fd", true), ("-1", false)] {
        let read = |file: &str, text: &str| {
            frontend.uses(&unit(folder.path(), file, text), &[subject("s")], &BTreeSet::new()).unwrap().flows
        };
        let (user, map) = (read("user.c", user), read("map.c", &map.replace("FD", fd)));
        assert_eq!(crate::mapped(&[&user]).sources, ["map".to_owned()].into());
        let found = crate::mapped(&[&user, &map]);
        assert_eq!(found.uses.iter().any(|used| used.demand == Demand::Whole), is_held, "{fd}: {found:?}");
        assert!(!found.sources.contains("map"));
    }
}

/// Memory that is given back, or whose address is printed, is no mapped memory any more.
#[test]
fn memory_that_others_get_later_is_not_mapped() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let head = "void *mmap(void *, unsigned long, int, int, int, long);\n\
                int printf(const char *, ...); unsigned long strtoul(const char *, char **, int);\n\
                struct s { int a, b; }; static void *list; static void *kept;\n\
                static void *get(void) { return list; }\n\
                static void pool_free(void *p) { list = p; }\n\
                static void keep(void *p) { kept = p; }\n";
    for (code, is_held) in [
        ("pool_free(p); s = get();", false),
        ("printf(\"%lx\", (unsigned long)p); s = (struct s *)strtoul(t, 0, 16);", false),
        ("keep(p); s = kept;", true),
    ] {
        let text = format!(
            "{head}int f(int fd, char *t) {{ struct s *s; void *p = mmap(0, 9, 1, 2, fd, 0); {code} return s->a; }}\n"
        );
        let unit = unit(folder.path(), "a.c", &text);
        let flows = frontend.uses(&unit, &[subject("s")], &BTreeSet::new()).unwrap().flows;
        let found = crate::mapped(&[&flows]);
        assert_eq!(found.uses.iter().any(|used| used.demand == Demand::Whole), is_held, "{code}: {found:?}");
    }
}

/// Members of a union are one place, whichever of them libclang's own memory has first; so are declarations of a variable.
#[test]
fn all_members_of_a_union_are_followed() {
    let counterpart = "struct u { int x; int y; };\n";
    let members = ["void *a;", "void *b;", "void *c;", "void *d;"];
    for read in ["a", "b", "c", "d"] {
        let text = format!(
            "{counterpart}union v {{ {} struct s *p; }}; union v kept; void put(struct s *p) {{ kept.p = p; }}\n\
             int get(void) {{ struct u *u = kept.{read}; return u->y; }}\n\
             void look(void) {{ use(kept.a); use(kept.b); use(kept.c); use(kept.d); }}",
            members.join(" ")
        );
        let Some(found) = asked(&text) else { return };
        assert!(found.contains(&first(2)), "{read}: {found:?}");
    }
    let again = "void *kept; void put(struct s *p) { kept = p; } extern void *kept;\n\
                 int get(void) { struct u *u = kept; return u->y; }";
    assert!(asked(&format!("{counterpart}{again}")).is_some_and(|found| found.contains(&first(2))));
}
