//! Orders of members that C++ keeps without any code that says so.

use super::*;

/// Demands on a class of C++ with three members.
fn asked_of(text: &str) -> Vec<String> {
    let subject = placed(&[("a", 0, 8), ("b", 8, 8), ("c", 16, 8)], 24);
    let head = "static int count; static int take() { return count++; } static int one() { return 1; }\n";
    spelled(&uses_of("a.cc", &format!("{head}{text}"), subject))
}

#[test]
fn defaults_are_computed_in_their_order() {
    let both = ["pin a b"].as_slice();
    expect(
        &[
            ("struct s { long a = take(); long b = take(); long c = 7; };", both),
            ("struct s { long a = count; long b = take(); long c; };", both),
            ("struct s { long a = __COUNTER__; long b = (__COUNTER__); long c; };", both),
            ("struct s { long a = __LINE__; long b = (__LINE__); long c; };", both),
            ("struct ticket { long no = take(); }; struct s { ticket a; ticket b; long c; };", both),
            ("struct s { long a = one(); long b = one(); long c = count; };", &[]),
            ("struct ticket { long no = one(); }; struct s { ticket a; ticket b; long c; };", &[]),
        ],
        asked_of,
    );
}

#[test]
fn comparisons_and_deletions_show_an_order() {
    let counts =
        "struct part { long x; bool operator==(const part &o) const { ++count; return x == o.x; } };\n";
    let plain = "struct part { long x; bool operator==(const part &o) const { return x == o.x; } };\n";
    let s = "struct s { part a; part b; long c; bool operator==(const s &) const = default; };";
    let trace = "void operator delete(void *p) noexcept { count++; free(p); }\n";
    let quiet = "void operator delete(void *p) noexcept { free(p); }\n";
    let owner = "struct s { std::unique_ptr<int> a; std::unique_ptr<long> b; long c; };";
    let node = "struct node { int id; static void operator delete(void *p) { count++; free(p); } };\n\
        struct s { std::unique_ptr<node> a; std::unique_ptr<node> b; long c; };";
    let both = ["pin a b"].as_slice();
    let texts = [
        (format!("{counts}{s}"), ["whole"].as_slice()),
        (format!("{plain}{s}"), &[]),
        (format!("{trace}{owner}"), both),
        (format!("{quiet}{owner}"), &[]),
        (node.to_owned(), both),
    ];
    let cases: Vec<(&str, &[&str])> = texts.iter().map(|(text, found)| (text.as_str(), *found)).collect();
    expect(&cases, asked_of);
}

#[test]
fn parameters_that_a_constructor_moves_are_read_before() {
    let s = |values: &str| {
        asked_of(&format!(
            "struct s {{ long a; std::unique_ptr<long> b; long c; s(std::unique_ptr<long> p, long n) : {values} {{}} }};"
        ))
    };
    expect(
        &[
            ("a(p ? *p : 0), b(std::move(p)), c(n)", &["pin a b"]),
            ("a(n), b(std::move(p)), c(n)", &[]),
            ("a(n++), b(nullptr), c(n)", &["pin a c"]),
        ],
        s,
    );
}

#[test]
fn addresses_are_compared_without_their_type() {
    let s = "struct lock { long held; }; struct s { lock a; lock b; long c; };\n";
    let numbers = "struct s { long a; long b; long c; };\n";
    let both = ["pin a b"].as_slice();
    let call = "void f(s &v) { both(v.b, v.a); }";
    let texts = [
        (
            format!(
                "{s}void both(lock &x, lock &y) {{ if (std::less<lock *>{{}}(&y, &x)) count++; }} {call}"
            ),
            both,
        ),
        (format!("{s}void both(lock &x, lock &y) {{ if (x.held < y.held) count++; }} {call}"), &[]),
        (format!("{numbers}bool f(s &v) {{ std::hash<const long *> h; return h(&v.a) < h(&v.b); }}"), both),
        (format!("{numbers}bool f(s &v) {{ std::hash<long> h; return h(v.a) < h(v.b); }}"), &[]),
        (
            format!(
                "{numbers}void f(s &v) {{ auto less = [](auto *x, auto *y) {{ return x < y; }}; std::vector<long *> all{{&v.a, &v.b}}; order(all, less); }}"
            ),
            both,
        ),
    ];
    let cases: Vec<(&str, &[&str])> = texts.iter().map(|(text, found)| (text.as_str(), *found)).collect();
    expect(&cases, asked_of);
}

#[test]
fn templates_and_handles_name_a_class() {
    let promise = "struct s { long a; long b; long c; std::coroutine_handle<s> get_return_object(); };\n";
    let handle = |wanted: &str| {
        format!(
            "struct head {{ long a; long b; }};\n{promise}long f(std::coroutine_handle<> h) {{ return std::coroutine_handle<{wanted}>::from_address(h.address()).promise().a; }}"
        )
    };
    let plain = "struct s { long a; long b; long c; };\n";
    let reads = "struct reader { template <class H> std::optional<H> read() { H h; return h; } };\n";
    let texts = [
        (handle("head"), ["first 2"].as_slice()),
        (handle("s"), &[]),
        (format!("{plain}{reads}long f(reader r) {{ return r.read<s>()->a; }}"), &["whole"]),
        (format!("{plain}{reads}long f(std::optional<s> o) {{ return o->a; }}"), &[]),
        (
            format!(
                "{plain}void f(const void *p, size_t n, size_t step) {{ bytes.assign(static_cast<const char *>(p), static_cast<const char *>(p) + n * step); }} void g(all &v) {{ f(v.data(), v.size(), sizeof(s)); }}"
            ),
            &["whole"],
        ),
    ];
    let cases: Vec<(&str, &[&str])> = texts.iter().map(|(text, found)| (text.as_str(), *found)).collect();
    expect(&cases, asked_of);
}
