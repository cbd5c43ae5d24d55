//! Tables of offsets: code that every row's member comes to.

use super::*;

/// A table of `e`, `f` and `d` of `struct s`, and code that reads its rows.
fn with_table(code: &str) -> Option<Vec<Demand>> {
    let table = "struct row { const char *name; int offset; void (*set)(void *, int); };\n\
        static void one(void *at, int v) { *(int *)at = v; }\n\
        static void two(void *at, int v);\n\
        static const struct row rows[] = { { \"e\", offsetof(struct s, e), two }, \
        { \"f\", offsetof(struct s, f), one }, { \"d\", offsetof(struct s, d), one } };\n";
    let apply = "void apply(struct s *s) { for (int i = 0; i < 3; i++) rows[i].set((char *)s + rows[i].offset, i); }\n";
    asked(&format!("{table}{code}\n{apply}"))
}

#[test]
fn code_that_goes_on_from_a_rows_member_means_the_next_one() {
    // A pair fits in the pointer.
    let (behind_pointer, behind_e) = ([run(&["d", "e"]), run(&["e", "f"])], [run(&["e", "f"])]);
    expect(
        &[
            ("static void two(void *at, int v) { *(int *)at = v; }", &[]),
            // The pointer's row is as large.
            ("static void two(void *at, int v) { *(long *)at = v; }", &[]),
            ("static void two(void *at, int v) { int *pair = at; pair[0] = v; pair[1] = v; }", &behind_e),
            (
                "int sscanf(const char *, const char *, ...);\n\
                 static void two(void *at, int v) { int *pair = at; sscanf(\"1x2\", \"%dx%d\", &pair[0], &pair[1]); }",
                &behind_e,
            ),
            (
                "static void two(void *at, int v) { char **text = at; *(int *)(text + 1) = v; }",
                &behind_pointer,
            ),
        ],
        with_table,
    );
}

#[test]
fn code_that_stays_in_a_rows_member_asks_nothing() {
    let asked = |code: &str| {
        let members = "struct s { int e; char name[16]; int f[4]; long d; };";
        let apply = "void apply(struct s *s) { for (int i = 0; i < 3; i++) rows[i].set((char *)s + rows[i].offset, i); }";
        demands("a.c", &format!("{HEAD}{members}\n{code}\n{apply}"))
    };
    let rows = "struct row { int offset; void (*set)(void *, int); };\n\
        static void any(void *at, int v);\n\
        static const struct row rows[] = { { offsetof(struct s, e), any }, { offsetof(struct s, name), any }, \
        { offsetof(struct s, f), any } };\n";
    for (code, is_free) in [
        ("static void any(void *at, int v) { int *all = at; all[3] = v; }", true),
        ("static void any(void *at, int v) { char *text = at; text[0] = 0; text[15] = 0; }", true),
        ("static void any(void *at, int v) { char *text = at; text[16] = 0; }", false),
    ] {
        let Some(found) = asked(&format!("{rows}{code}")) else { return };
        assert_eq!(found.is_empty(), is_free, "{code}: {found:?}");
    }
}
