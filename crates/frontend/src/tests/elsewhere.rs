//! Code that other units have, and what it asks.

use super::*;

/// Demands of several units together, each once.
fn together(texts: &[&str]) -> Option<Vec<Demand>> {
    let frontend = frontend()?;
    let folder = tempfile::tempdir().unwrap();
    let units = texts.iter().enumerate().map(|(number, text)| {
        let found = read(&frontend, folder.path(), &format!("{number}.c"), text);
        assert_eq!(found.errors, [], "{text}");
        found
    });
    let units: Vec<UnitUses> = units.collect();
    let flows: Vec<_> = units.iter().map(|unit| &unit.flows).collect();
    let joined = crate::demands(&flows, &BTreeSet::new()).uses;
    let all: BTreeSet<Demand> =
        units.iter().flat_map(|unit| &unit.uses).chain(&joined).map(|found| found.demand.clone()).collect();
    Some(all.into_iter().collect())
}

/// Demands of units, given as texts with a line between them.
fn units(text: &str) -> Option<Vec<Demand>> {
    together(&text.split("\n--\n").collect::<Vec<_>>())
}

const LOCKS: &str = "struct lock { int held; }; struct s { long n; struct lock a, b; };\n";

fn order(first: &str, then: &str) -> Demand {
    Demand::Order { first: first.to_owned(), then: then.to_owned() }
}

#[test]
fn addresses_that_are_compared_out_of_memory_are_known_by_their_type() {
    let asked = |text: &str| units(&format!("{LOCKS}{}", text.replace("\n--\n", &format!("\n--\n{LOCKS}"))));
    let taken = "void both(struct lock *, struct lock *); void f(struct s *s) { both(&s->b, &s->a); }";
    let case = |rest: &str| format!("{taken}\n--\n{rest}");
    let by_array = case(
        "void both(struct lock *x, struct lock *y) { struct lock *all[2] = { x, y }; if (all[1] < all[0]) all[0]->held = 1; }",
    );
    let by_member = case(
        "struct { struct lock *x, *y; } own; void both(struct lock *x, struct lock *y) { own.x = x; own.y = y; }\n\
         int is_lower(void) { return own.x < own.y; }",
    );
    let by_distance = case(
        "struct lock *own[2]; void both(struct lock *x, struct lock *y) { own[0] = x; own[1] = y; }\n\
         long apart(void) { return own[1] - own[0]; }",
    );
    let by_loop = case(
        "struct lock all[4]; void both(struct lock *x, struct lock *y) { x->held = y->held; }\n\
         void clear(void) { for (struct lock *own = &all[0]; own < &all[4]; own++) own->held = 0; }",
    );
    let in_holder = case(
        "struct pool { struct lock all[4]; }; void both(struct lock *x, struct lock *y) { x->held = y->held; }\n\
         void clear(struct pool *p) { struct lock *own = p->all; for (; own < p->all + 4; own++) own->held = 0; }",
    );
    expect(
        &[
            (by_array.as_str(), &[order("a", "b")]),
            (&by_member, &[order("a", "b")]),
            (&by_distance, &[offset("a"), offset("b")]),
            (&by_loop, &[]),
            (&in_holder, &[]),
        ],
        asked,
    );
}

#[test]
fn variables_that_no_unit_defines_are_made_by_other_code() {
    let s = "struct s { int a, b; };\n";
    let used = format!("{s}extern struct s own[]; int f(void) {{ return own[1].a; }}");
    let case = |rest: &str| format!("{used}\n--\n{rest}");
    let declared = format!("{s}extern struct s own[];");
    let section = format!("{s}struct s first __attribute__((section(\".own\"))) = {{ .a = 1 }};");
    expect(
        &[
            (used.as_str(), &[Demand::Whole]),
            (&case("struct s; extern struct s *other;"), &[Demand::Whole]),
            (&case(&format!("{s}struct s own[4];")), &[]),
            // The linker's script says where it begins.
            (&case(&section), &[]),
            // Nobody asks for it.
            (&declared, &[]),
        ],
        units,
    );
}

#[test]
fn functions_that_pass_objects_by_value_are_defined_as_they_are_declared() {
    let s = "struct s { int a, b; };\n";
    let handed = format!("{s}int take(struct s); int f(struct s s) {{ return take(s); }}");
    let led = format!(
        "{s}typedef int (*taker)(struct s); taker find(void); int f(struct s s) {{ return find()(s); }}"
    );
    let case = |first: &str, rest: &str| format!("{first}\n--\n{rest}");
    expect(
        &[
            (handed.as_str(), &[Demand::Whole]),
            (&case(&handed, &format!("{s}int take(struct s s) {{ return s.a; }}")), &[]),
            (&case(&handed, "int take(unsigned long both) { return (int)both; }"), &[Demand::Whole]),
            (
                &case(&led, "int both(unsigned long n) { return (int)n; } void *find(void) { return both; }"),
                &[Demand::Whole],
            ),
            (
                &case(
                    &led,
                    &format!(
                        "{s}static int own(struct s s) {{ return s.a; }} int (*find(void))(struct s) {{ return own; }}"
                    ),
                ),
                &[],
            ),
        ],
        units,
    );
}

#[test]
fn functions_call_others_with_what_their_bodies_say() {
    let head = "struct s { long a, b; };\nvoid run(int (*)(void *), void *, unsigned long);\n\
        static int first(void *v) { return *(int *)v; }\nint n;\n\
        void f(struct s *s) { run(first, &n, (unsigned long)s); }";
    let body = "void run(int (*call)(void *), void *data, unsigned long key) { if (key) call(data); }";
    let other = "void run(int (*call)(void *), void *data, unsigned long key) { call((void *)key); }";
    let number = [Demand::First { count: 1 }];
    expect(
        &[
            (&format!("{head}\n--\n{body}"), &[] as &[Demand]),
            (&format!("{head}\n--\n{other}"), &number),
            (head, &number),
        ],
        units,
    );
}
