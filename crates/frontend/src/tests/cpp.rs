//! Constructs of C++ that depend on an order.

use super::*;

#[test]
fn aggregates_go_by_position() {
    let cases: &[(&str, &[Demand])] = &[
        ("s v{1, 2};", &[first(2)]),
        ("s v = s{1, 2};", &[first(2)]),
        ("s f() { return {1, 2}; }", &[first(2)]),
        ("s *f() { return new s{1, 2}; }", &[first(2)]),
        ("s v(1, 2, 3);", &[first(3)]),
        ("void g(s); void f() { g({1, 2}); }", &[first(2)]),
        ("int f(s &v) { auto [a, b, c] = v; return a + b + c; }", &[first(3)]),
        ("int f(s &v) { auto &[a, b, c] = v; return a + b + c; }", &[first(3)]),
        ("struct o { int y; s x; } v{1, {2, 3}};", &[first(2)]),
        ("s v{.a = 1, .c = 2};", &[Demand::Order { first: "a".to_owned(), then: "c".to_owned() }]),
        ("s v{}; s w = v;", &[]),
    ];
    expect(cases, |text| demands("a.cc", &format!("struct s {{ int a; int b; int c; }};\n{text}")));
}

#[test]
fn classes_depend_on_their_order() {
    let order = Demand::Order { first: "a".into(), then: "b".into() };
    let cases: &[(&str, &[Demand])] = &[
        ("struct s { int a, b; s(int x) : a(x), b(a + 1) {} };", &[order]),
        ("struct s { int a, b; s(int x) : a(x), b(x + 1) {} };", &[]),
        ("struct s { int a, b; s(int x) : a(x), b(x) {} }; s v{1};", &[]),
        ("struct s { int a, b; }; int f(s *p) { return *reinterpret_cast<int *>(p); }", &[first(1)]),
        ("struct base { int z; }; struct s : base { int a; }; base *f(s *p) { return p; }", &[]),
        (
            "struct base { int z; }; struct s : base { int a; }; s *f(base *p) { return static_cast<s *>(p); }",
            &[],
        ),
    ];
    expect(cases, |text| demands("a.cc", text));
}

#[test]
fn templates_go_by_position_too() {
    let cases: &[(&str, &[Demand])] = &[
        ("template <class T> T make(int x) { return T{x, 2}; } s f() { return make<s>(1); }", &[first(2)]),
        (
            "template <class T> int sum(T &v) { auto &[x, y, z] = v; return x + z; } int f(s &v) { return sum(v); }",
            &[first(3)],
        ),
        (
            "template <class T> struct row { T *p; template <class... A> void add(A... a) { *p = T{a...}; } };\n\
             void f(row<s> &v) { v.add(1, 2); }",
            &[first(2)],
        ),
        (
            "template <class T> T most(T x, T y) { return x < y ? y : x; } int f(s *p) { return most(p->a, p->b); }",
            &[],
        ),
        ("template <class T> T &same(T &v) { return v; } s &f(s &v) { return same(v); }", &[]),
        (
            "template <class T> struct row { T *p; T &at(int i) { return p[i]; } }; s &f(row<s> &v) { return v.at(1); }",
            &[],
        ),
    ];
    expect(cases, |text| demands("a.cc", &format!("struct s {{ int a; int b; int c; }};\n{text}")));
    let order = Demand::Order { first: "a".into(), then: "b".into() };
    expect(&[("struct s { int a = 1; int b = a + 1; };", &[order])], |text| demands("a.cc", text));
}

#[test]
fn offsets_in_classes_are_found() {
    let text = "extern \"C\" void *memset(void *, int, unsigned long);\nclass s { public: int a, b, c; void clear() {\n\
        memset(this, 0, __builtin_offsetof(s, c)); } };";
    let template = "template <unsigned long N> struct t { int x; }; struct s { int a, b; };\nt<__builtin_offsetof(s, b)> v;";
    expect(&[(template, &[offset("b")])], |text| demands("a.cc", text));
    expect(&[(text, &[range(Edge::Begin, before("c"))])], |text| demands("a.cc", text));
}

#[test]
fn functions_are_read_as_templates_make_them() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "n::byte *f(s *p) { return reinterpret_cast<n::byte *>(p); } int g(s *p) { return *f(p); }",
            &[first(1)],
        ),
        ("template <class T> long f(T *p) { return *(long *)p; } long g(s *p) { return f(p); }", &[first(2)]),
        ("template <class T> int f(T *p) { return p->a; } int g(s *p) { return f(p); }", &[]),
        ("int f(int &x) { return (&x)[1]; } int g(s &v) { return f(v.a); }", &[run(&["a", "b"])]),
        ("int f(int &x) { return x; } int g(s &v) { return f(v.a); }", &[]),
    ];
    let head = "namespace n { typedef unsigned char byte; } struct s { int a; int b; int c; };\n";
    expect(cases, |text| demands("a.cc", &format!("{head}{text}")));
    let bits = "struct s { int a; short b, c; }; long f(s v) { return __builtin_bit_cast(long, v); }";
    expect(&[(bits, &[Demand::Whole])], |text| demands("a.cc", text));
}

#[test]
fn members_that_do_something_keep_their_order() {
    let order = || Demand::Order { first: "a".into(), then: "b".into() };
    let cases: &[(&str, &[Demand])] = &[
        ("int n; struct t { int v; t() : v(n++) {} }; struct s { t a; t b; };", &[order()]),
        ("struct t { int v; t(); ~t(); }; struct s { t a; int x; t b; };", &[order()]),
        ("struct t { int v; t(); ~t(); }; struct s { t a[2]; int x; t b[2]; };", &[order()]),
        ("struct t { int v; t() : v(1) { v = v + 1; } ~t() { v = 0; } }; struct s { t a; t b; };", &[]),
        (
            "int n; struct t { t &operator=(const t &) { n++; return *this; } }; struct s { t a, b; };",
            &[order()],
        ),
        ("int n; struct t { t &operator=(const t &) = default; int v = 1; }; struct s { t a, b; };", &[]),
        ("struct t { int *p; ~t() { *p = 1; } }; struct u { ~u() {} }; struct s { u a; t b; };", &[order()]),
    ];
    expect(cases, |text| demands("a.cc", text));
}

#[test]
fn methods_and_the_object_itself_are_read_by_initialisers() {
    let order = || Demand::Order { first: "a".into(), then: "b".into() };
    let cases: &[(&str, &[Demand])] = &[
        ("struct s { int a = 1; int b = f(); int c; int f() { return a; } };", &[order()]),
        ("struct s { int a, b; s() : a(1), b(f()) {} int f(); };", &[order()]),
        (
            "struct s; struct t { s *p; t(s *q) : p(q) {} }; struct s { int a; t b; s() : a(1), b(this) {} };",
            &[],
        ),
        (
            "struct s; struct t { int v; t(s &); }; struct s { int a; t b; s() : a(1), b(*this) {} };",
            &[order()],
        ),
    ];
    expect(cases, |text| demands("a.cc", text));
}

#[test]
fn functions_without_a_name_hand_addresses_on() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "int f(s *p) { auto get = [p]() -> void * { return p; }; return *static_cast<int *>(get()); }",
            &[first(1)],
        ),
        (
            "int f(s *p) { auto get = [](void *v) { return *static_cast<int *>(v); }; return get(p); }",
            &[first(1)],
        ),
        (
            "struct o { virtual int f(void *v) = 0; }; struct i : o { int f(void *v) override { return *(int *)v; } };\n\
             int g(o &v, s *p) { return v.f(p); }",
            &[first(1)],
        ),
    ];
    expect(cases, |text| demands("a.cc", &format!("struct s {{ int a; int b; int c; }};\n{text}")));
}
