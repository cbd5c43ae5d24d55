//! Memory that is moved, handed out, or an array of numbers.

use super::*;

#[test]
fn objects_that_are_moved_byte_by_byte_ask_nothing() {
    let swap = "static void swap(void *a, void *b, size_t n) { u8 *x = a, *y = b; while (n--) { u8 t = *x; *x++ = *y; *y++ = t; } }\n";
    let sum = "static unsigned sum(void *a, size_t n) { u8 *x = a; unsigned all = 0; while (n--) { u8 t = *x++; all = all * 31 + t; } return all; }\n";
    let turn = "static void turn(void *a, size_t n) { u8 *x = a; for (size_t i = 0; i < n / 2; i++) { \
                u8 t = x[i]; x[i] = x[n - 1 - i]; x[n - 1 - i] = t; } }\n";
    let back = "static void turn(void *a, size_t n) { u8 *x = a, *y = (u8 *)a + n; \
                while (x < --y) { u8 t = *x; *x++ = *y; *y = t; } }\n";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{turn}void f(struct s *p) {{ turn(p, sizeof(*p)); }}"), &[Demand::Whole]),
        (&format!("{back}void f(struct s *p) {{ turn(p, sizeof(*p)); }}"), &[first(1), Demand::Whole]),
        (&format!("{swap}void f(struct s *p) {{ swap(p, p + 1, sizeof(*p)); }}"), &[]),
        (&format!("{sum}unsigned f(struct s *p) {{ return sum(p, sizeof(*p)); }}"), &[Demand::Whole]),
    ];
    expect(cases, asked);
}

#[test]
fn headers_in_front_of_memory_are_none_of_its_bytes() {
    let give =
        "static void *give(size_t n) { struct s *p = malloc(sizeof(*p) + n); p->a = 1; return p + 1; }\n";
    let take = "static void take(void *m) { struct s *p = (struct s *)m - 1; p->a = 0; }\n";
    let read = "static void take(void *m) { struct s *p = (struct s *)m; p->a = 0; }\n";
    let user = "void f(void) { char *m = give(8); m[0] = 1; take(m); }";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{give}{take}{user}"), &[]),
        (&format!("{give}{read}{user}"), &[first(1), Demand::Whole]),
        // A header on a wire: nothing gives its tail out.
        ("struct s *f(char *payload) { return (struct s *)(payload - sizeof(struct s)); }", &[Demand::Whole]),
        // No object of the unit has the memory behind it.
        ("int f(char *m) { return ((struct s *)m - 1)->a; }", &[Demand::Whole]),
    ];
    expect(cases, asked);
}

#[test]
fn arrays_whose_elements_are_used_are_no_memory_for_objects() {
    let window = "static unsigned window[16]; static uintptr_t base(void) { return (uintptr_t)window; }\n\
                  static unsigned *numbers(void) { return window; }\n";
    let user = "unsigned at(void) { return window[2]; }\n";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{window}{user}void f(void) {{ ((struct s *)base())->a = 1; }}"), &[Demand::Whole]),
        (
            &format!("{window}{user}void f(void) {{ ((struct s *)(uintptr_t)window)->a = 1; }}"),
            &[Demand::Whole],
        ),
        (&format!("{window}void f(void) {{ ((struct s *)base())->a = 1; }}"), &[]),
    ];
    expect(cases, asked);
}

#[test]
fn bytes_that_are_objects_of_one_type_alone_are_none_of_others() {
    let base = "static char base[4096]; static size_t top;\n\
        static void *take(size_t n) { void *p; p = base + top; top += n; return p; }\n\
        void f(void) { struct s *p = (struct s *)take(sizeof(*p)); p->a = 1; }\n\
        int g(unsigned n) { return ((struct s *)(void *)(base + n * sizeof(struct s)))->a; }\n\
        size_t h(struct s *p) { return ((char *)p - base) / sizeof(*p); }\n";
    let cases: &[(&str, &[Demand])] = &[
        (base, &[]),
        (&format!("{base}char first(void) {{ return *base; }}"), &[Demand::Whole]),
        (&format!("{base}int fourth(void) {{ return *(int *)take(4); }}"), &[Demand::Whole]),
        (&format!("{base}void fill(int, void *); void file(void) {{ fill(0, base); }}"), &[Demand::Whole]),
        (&format!("{base}void *lend(void) {{ return base; }}"), &[Demand::Whole]),
        (&format!("{base}int at(void) {{ char *p; return *(int *)(p = base); }}"), &[Demand::Whole]),
        (&format!("{base}int on(void) {{ char *p = base; return *(int *)(p += 4); }}"), &[Demand::Whole]),
    ];
    expect(cases, |text| {
        asked(text).map(|all| all.into_iter().filter(|own| *own == Demand::Whole).collect())
    });
}

#[test]
fn functions_that_take_objects_by_value_keep_their_type() {
    let function = "static int sum(struct s v) { return v.a + v.b; }\n";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{function}int (*f)(long, long) = (int (*)(long, long))(void *)sum;"), &[Demand::Whole]),
        (&format!("{function}int (*f)(struct s) = sum;"), &[]),
    ];
    expect(cases, asked);
}

#[test]
fn half_assigned_objects_and_seen_comparisons_keep_their_order() {
    let part = "struct part { int x = 0; part &operator=(const part &o) { if (o.x > 9) throw 1; x = o.x; return *this; }\n\
                part() = default; part(const part &) = default; };\n";
    let order = |first: &str, then: &str| Demand::Order { first: first.to_owned(), then: then.to_owned() };
    let counted = "static int asked; struct part { int x = 0; bool operator==(const part &o) const { ++asked; return x == o.x; } };\n";
    let equal = "struct s { int a = 0; part b; bool operator==(const s &) const = default; };";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{part}struct s {{ int a; part b; int c; }};"), &[order("a", "b"), order("b", "c")]),
        (&format!("{counted}{equal}"), &[Demand::Whole]),
        (&format!("{}{equal}", counted.replace("++asked; ", "")), &[]),
    ];
    expect(cases, |text| demands("a.cc", text));
}
