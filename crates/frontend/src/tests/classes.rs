//! Members of classes that are made, dropped, counted or asked for.

use super::*;

fn order(first: &str, then: &str) -> Demand {
    Demand::Order { first: first.into(), then: then.into() }
}

#[test]
fn values_that_change_a_parameter_keep_their_place_among_those_that_read_it() {
    let head = "struct t { int v; }; static int least(int &x, int &y) { if (y < x) std::swap(x, y); return x; }\n\
        static int get(t *p) { return p->v; }\n";
    let cases: &[(&str, &[Demand])] = &[
        (
            "struct s { int b; std::string a; s(std::string x) : b(x.size()), a(std::move(x)) {} };",
            &[order("b", "a")],
        ),
        ("struct s { std::string a, b; s(std::string x) : a(x), b(std::move(x)) {} };", &[order("a", "b")]),
        ("struct s { std::string a, b; s(std::string x) : a(x), b(x) {} };", &[]),
        (
            "struct s { std::string a, b; int c; s(std::string x, std::string y, int z)\n\
             : a(std::move(x)), b(std::move(y)), c(std::move(z)) {} };",
            &[],
        ),
        (
            "struct s { int a; std::unique_ptr<t> b; s(std::unique_ptr<t> x) : a(x->v), b(std::move(x)) {} };",
            &[order("a", "b")],
        ),
        (
            "struct s { int b; std::string a; s(s &&x) : b(x.a.size()), a(std::move(x.a)) {} };",
            &[order("b", "a")],
        ),
        ("struct s { int b; std::string a; s(s &&x) : b(x.b), a(std::move(x.a)) {} };", &[]),
        ("struct s { int a; char *b; s(s &&x) : a(x.a), b(std::exchange(x.b, nullptr)) {} };", &[]),
        (
            "struct s { char *a; bool b; s(s &&x) : a(std::exchange(x.a, nullptr)), b(x.a != nullptr) {} };",
            &[order("a", "b")],
        ),
        ("struct s { int a, b; s(int x, int y) : a(least(x, y)), b(y) {} };", &[order("a", "b")]),
        ("struct s { int a, b; s(int x) : a(x++), b(x) {} };", &[order("a", "b")]),
        ("struct s { int a, b; s(int x) : a(x += 2), b(x) {} };", &[order("a", "b")]),
        ("struct s { int a, b; s(const int *x) : a(*x++), b(*x) {} };", &[order("a", "b")]),
        ("struct s { int a, b; s(t *x) : a(get(x)), b(x->v) {} };", &[]),
        ("struct s { t *a; int b; s(t *x) : a(x), b(x->v = 2) {} };", &[]),
        ("struct s { int a, b; s(t *x) : a(x->v), b(x->v = 2) {} };", &[order("a", "b")]),
        ("struct s { int a, b; s(std::vector<int> &x) : a(x[0]), b(x.back()) {} };", &[]),
        (
            "struct s { int b; std::string a; template <class T> s(T &&x) : b(x.size()), a(std::forward<T>(x)) {} };\n\
             s f(std::string x) { return s(std::move(x)); }",
            &[order("b", "a")],
        ),
    ];
    let with_headers = |text: &str| {
        let all =
            [("string", "std::string"), ("memory", "unique"), ("vector", "std::vector"), ("utility", "")];
        let needed = all.iter().filter(|(_, word)| text.contains(word));
        needed.map(|(header, _)| format!("#include <{header}>\n")).collect::<String>() + head + text
    };
    expect(cases, |text| demands("a.cc", &with_headers(text)));
}

#[test]
fn memory_that_is_given_back_to_the_program_keeps_its_order() {
    let head = "#include <cstdlib>\n#include <memory>\n#include <string>\nstatic int n;\n";
    let own = "struct s { std::unique_ptr<t> a; int c; std::unique_ptr<t> b; };";
    let cases: &[(&str, &[Demand])] = &[
        (
            "struct t { int v; static void operator delete(void *p) { n++; std::free(p); } };",
            &[order("a", "b")],
        ),
        (
            "struct u { static void operator delete(void *p) { n++; std::free(p); } }; struct t : u { int v; };",
            &[order("a", "b")],
        ),
        ("struct t { int v; static void operator delete(void *p) { std::free(p); } };", &[]),
        (
            "struct t { int v; }; void operator delete(void *p) noexcept { n++; std::free(p); }",
            &[order("a", "b")],
        ),
        ("struct t { int v; }; void operator delete(void *p) noexcept { std::free(p); }", &[]),
    ];
    expect(cases, |text| demands("a.cc", &format!("{head}{text}\n{own}")));
    let texts = "void operator delete(void *p) noexcept { n++; std::free(p); }\n\
        struct s { std::string a; int c; std::string b; };";
    expect(&[(texts, &[order("a", "b")])], |text| demands("a.cc", &format!("{head}{text}")));
}

#[test]
fn addresses_in_lists_and_by_three_ways_are_ordered() {
    let head = "#include <algorithm>\n#include <compare>\nstruct s { int a; long c; int b; };\n";
    let cases: &[(&str, &[Demand])] = &[
        ("int f(s *p) { return *std::min({&p->b, &p->a}); }", &[order("a", "b")]),
        ("int f(s *p) { return *std::minmax({&p->b, &p->a}).first; }", &[order("a", "b")]),
        (
            "static s v; int f() { auto both = std::minmax({&v.b, &v.a}); return *both.first; }",
            &[order("a", "b")],
        ),
        ("int f() { static s v{}; return *std::minmax({&v.b, &v.a}).first; }", &[order("a", "b")]),
        ("int f(s *p) { auto [x, y] = std::minmax({&p->b, &p->a}); return *x; }", &[order("a", "b")]),
        ("int f(s *p) { return std::min({p->b, p->a}); }", &[]),
        (
            "static bool low(int *p, int *q) { return (p <=> q) < 0; } bool f(s *p) { return low(&p->b, &p->a); }",
            &[range(Edge::Begin, before("a")), range(Edge::Begin, before("b")), order("a", "b")],
        ),
        (
            "static bool low(int p, int q) { return (p <=> q) < 0; } bool f(s *p) { return low(p->b, p->a); }",
            &[],
        ),
    ];
    expect(cases, |text| demands("a.cc", &format!("{head}{text}")));
}

#[test]
fn members_that_are_counted_keep_their_order() {
    let head =
        "#define COUNT __COUNTER__\n#define NEXT(x) (COUNT + (x))\n#define HERE __LINE__\n#define NONE 3\n";
    let cases: &[(&str, &[Demand])] = &[
        ("struct s { int a = __COUNTER__; int c; int b = __COUNTER__; };", &[order("a", "b")]),
        ("struct s { int a = NEXT(1); int c = NONE; int b = NEXT(2); };", &[order("a", "b")]),
        ("struct s { int a[NEXT(1)]; int c; int b = NEXT(2); };", &[order("a", "b")]),
        ("struct s { int a = HERE; int b; };", &[Demand::Whole]),
        ("struct s { int a = NONE; int b = COUNT; };", &[]),
        ("int x = HERE + COUNT; struct s { int a = NONE; int b = NONE; };", &[]),
    ];
    expect(cases, |text| demands("a.cc", &format!("{head}{text}")));
}

#[test]
fn types_whose_layout_is_asked_for_stay() {
    let head = "#include <type_traits>\nstruct s { long a; int b, c; }; struct o { s v; int w; };\n";
    let cases: &[(&str, &[Demand])] = &[
        (
            "template <class T> int f() { return std::has_unique_object_representations_v<T>; } int g() { return f<s>(); }",
            &[Demand::Whole],
        ),
        (
            "template <class T> struct h { static constexpr bool own = std::has_unique_object_representations_v<T>; };\n\
             bool g() { return h<s>::own; }",
            &[Demand::Whole],
        ),
        ("bool f() { return std::has_unique_object_representations_v<o>; }", &[Demand::Whole]),
        ("bool f() { return std::has_unique_object_representations<s>::value; }", &[Demand::Whole]),
        ("bool f() { return __has_unique_object_representations(s); }", &[Demand::Whole]),
        ("bool f() { return std::has_unique_object_representations_v<int>; }", &[]),
        ("bool f() { return std::is_trivially_copyable_v<s>; }", &[]),
    ];
    expect(cases, |text| demands("a.cc", &format!("{head}{text}")));
}

#[test]
fn objects_that_name_what_templates_become_stay() {
    let head = "struct s { int a; char b; int c; }; constexpr s v{};\n";
    let cases: &[(&str, &[Demand])] = &[
        (
            "template <s V> const char *f() { return __PRETTY_FUNCTION__; } const char *g() { return f<v>(); }",
            &[Demand::Whole],
        ),
        (
            "template <auto V> const char *f() { return __PRETTY_FUNCTION__; } const char *g() { return f<v>(); }",
            &[Demand::Whole],
        ),
        ("template <s V> struct t {}; t<v> w;", &[Demand::Whole]),
        (
            "template <int V> const char *f() { return __PRETTY_FUNCTION__; } const char *g() { return f<v.c>(); }",
            &[],
        ),
    ];
    expect(cases, |text| demands("a.cc", &format!("{head}{text}")));
}

#[test]
fn members_in_the_last_bytes_of_a_part_stay_clear_of_what_writes_it() {
    let head = "extern \"C\" void *memset(void *, int, unsigned long);\n";
    let clear = "memset(static_cast<void *>(this), 0, sizeof(s));";
    let cases: &[(String, &[Demand])] = &[
        (
            format!("struct s {{ long a; int b, c; s() {{ {clear} }} }}; struct d : s {{ int e; }};"),
            &[Demand::Size],
        ),
        (
            format!("struct s {{ long a; int b; s() {{ {clear} }} }}; struct d : s {{ int e; }};"),
            &[Demand::Whole],
        ),
        (
            format!("struct s {{ long a; int b, c; s() {{ {clear} }} }}; struct d {{ [[no_unique_address]] s v; int e; }};"),
            &[Demand::Size],
        ),
        (format!("struct s {{ long a; int b, c; s() {{ {clear} }} }}; struct d {{ s v; int e; }};"), &[]),
        ("struct s { long a; int b, c; s() { a = b = c = 0; } }; struct d : s { int e; };".to_owned(), &[]),
        (
            "struct s { long a; int b, c; }; struct d : s { int e; d() { memset((s *)this, 0, sizeof(s)); } };"
                .to_owned(),
            &[],
        ),
    ];
    let cases: Vec<(&str, &[Demand])> = cases.iter().map(|(text, asked)| (text.as_str(), *asked)).collect();
    expect(&cases, |text| demands("a.cc", &format!("{head}{text}")));
}
