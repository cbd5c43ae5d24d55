//! Idioms of real programs, cut short.

use super::*;

#[test]
fn known_breakers_are_found() {
    let cases: &[(&str, &[Demand])] = &[
        // redis: a table of functions without names, of a typedef.
        (
            "typedef struct s { unsigned (*h)(const void *); void *(*k)(void *); int (*c)(void *); } t;\n\
          unsigned hf(const void *); int cf(void *);\nt table = { hf, NULL, cf };",
            &[first(3)],
        ),
        // nginx: a node allocated up to its name.
        (
            "typedef struct s t; struct s { t *left; t *right; u8 len; u8 name[1]; };\n\
          void *f(size_t len) { return malloc(offsetof(t, name) + len); }",
            &[last("name")],
        ),
        // sqlite: a file of one system behind the common one.
        (
            "typedef struct file file; struct file { const void *methods; };\n\
          typedef struct s s; struct s { const void *methods; int h; };\nint f(file *id) { s *p = (s *)id; return p->h; }",
            &[first(1)],
        ),
        // memcached: an item whose beginning a crawler has too.
        (
            "typedef struct s { struct s *next; struct s *prev; int time; char data[]; } item;\n\
          typedef struct { struct s *next; struct s *prev; int other; long n; } crawler;\n\
          crawler c[4]; void link(item *);\nvoid f(int i) { link((item *)&c[i]); }",
            &[first(3), last("data")],
        ),
        // Linux: bio_reset.
        (
            "struct s { int a; int b; int max; int c; };\n#define BIO_RESET_BYTES offsetof(struct s, max)\n\
          void f(struct s *p) { memset(p, 0, BIO_RESET_BYTES); }",
            &[range(Edge::Begin, before("max"))],
        ),
        // Linux: memset_after, struct_group.
        (
            "struct s { int a; int b; int c; };\n#define memset_after(obj, v, m) ({ u8 *p_ = (u8 *)(obj); \\\n\
          memset(p_ + offsetof(__typeof__(*(obj)), m) + sizeof((obj)->m), v, \\\n\
          sizeof(*(obj)) - (offsetof(__typeof__(*(obj)), m) + sizeof((obj)->m))); })\n\
          void f(struct s *p) { memset_after(p, 0, a); }",
            &[range(behind("a"), Edge::End)],
        ),
    ];
    expect(cases, |text| demands("a.c", &format!("{HEAD}{text}")));
}

#[test]
fn places_that_say_members_are_counted_where_they_are_written() {
    let Some(frontend) = frontend() else { return };
    let folder = tempfile::tempdir().unwrap();
    let text = "struct s { int a; int b; }; struct other { int a; };\n\
        #define A(p) ((p)->a)\n\
        #define OF(p, m) ((p)->m)\n\
        static struct s one = { .a = 1, .b = 2 };\n\
        int f(struct s *p, struct other *o) { return A(p) + A(p) + o->a + OF(p, a) + one.a; }\n\
        unsigned long g(void) { return __builtin_offsetof(struct s, a) + __builtin_offsetof(struct other, a); }\n";
    let unit = unit(folder.path(), "a.c", text);
    let members = BTreeSet::from(["a"]);
    let found = frontend.named_members(&unit, &subject("s"), &members).unwrap();
    let line = |offset: u32| text[..usize::try_from(offset).unwrap()].lines().count();
    let lines: Vec<usize> = found.places.iter().map(|(_, offset)| line(*offset)).collect();
    // The macro once, the designator, the macro's argument, the member of the variable, the offset.
    assert_eq!((lines, found.errors), (vec![2, 4, 5, 5, 6], Vec::new()));
}
