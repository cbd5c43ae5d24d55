//! Addresses that go out of sight as numbers or bytes, and come back.

use super::*;

#[test]
fn addresses_come_back_in_parts() {
    let digits = "static u8 line[32]; static void put(uintptr_t v) { for (int i = 0; i < 16; i++) line[i] = (v >> 4 * i) & 15; }\n\
                  void f(struct s *p) { put((uintptr_t)p); }\n";
    let seven = "static u8 line[32]; static void put(uintptr_t v) { u8 *to = line; while (v) { *to++ = v & 127; v >>= 7; } }\n\
                 void f(struct s *p) { put((uintptr_t)p); }\n";
    let bytes = "static u8 line[8]; void f(struct s *p) { uintptr_t v = (uintptr_t)p; line[0] = v & 255; line[1] = (v >> 8) & 255; \
                 line[2] = (v >> 16) & 255; line[3] = (v >> 24) & 255; }\n";
    let loop_ = "static uintptr_t get(void) { uintptr_t v = 0; for (int i = 0; i < 16; i++) v |= (uintptr_t)line[i] << 4 * i; return v; }\n";
    let digit = "static uintptr_t get(void) { uintptr_t v = 0; for (int i = 0; i < 16; i++) v = v * 16 + line[i]; return v; }\n";
    let joined = "static uintptr_t get(void) { return line[0] | (uintptr_t)line[1] << 8 | (uintptr_t)line[2] << 16; }\n";
    let user = "int g(void) { return *(int *)get(); }\n";
    let hash = "unsigned f(struct s *p) { uintptr_t v = (uintptr_t)p; unsigned h = 0; while (v) { h = h * 31 + (v & 255); v >>= 8; } return h; }\n";
    let count = "static u8 line[32]; static uintptr_t get(void) { uintptr_t v = 0; for (int i = 0; i < 16; i++) v = v * 10 + line[i]; return v; }\n\
                 uintptr_t g(void) { return get(); }\n";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{digits}{loop_}{user}"), &[first(1)]),
        (&format!("{seven}{digit}{user}"), &[first(1), Demand::Whole]),
        (&format!("{bytes}{joined}{user}"), &[first(1)]),
        (digits, &[]),
        (&format!("{hash}{count}"), &[]),
        (&format!("static u8 line[32]; {loop_}{user}"), &[]),
    ];
    expect(cases, asked);
}

#[test]
fn numbers_of_sixteen_bytes_have_room_for_an_address() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "static unsigned __int128 head; void f(struct s *p) { head = (unsigned __int128)(uintptr_t)p << 64 | 4; }\n\
             int g(void) { return *(int *)(uintptr_t)(head >> 64); }",
            &[first(1)],
        ),
        (
            "static unsigned __int128 head; void f(struct s *p) { head = (unsigned __int128)(uintptr_t)p << 64 | 4; }\n\
             int g(void) { return ((struct s *)(uintptr_t)(head >> 64))->b; }",
            &[],
        ),
    ];
    expect(cases, asked);
}

#[test]
fn lists_of_arguments_made_by_hand_have_objects_as_memory() {
    let by_hand = "void f(struct s *p) { __builtin_va_list list; list->overflow_arg_area = p; print(list); }";
    let by_compiler =
        "void f(struct s *p, ...) { __builtin_va_list list; __builtin_va_start(list, p); print(list); }";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("void print(__builtin_va_list);\n{by_hand}"), &[Demand::Unclear]),
        (&format!("void print(__builtin_va_list);\n{by_compiler}"), &[]),
    ];
    expect(cases, asked);
}

#[test]
fn a_pragma_packs_what_it_leaves_as_it_is() {
    let cases: &[(&str, &[Demand])] = &[
        (
            "#pragma pack(push, 1)\nstruct s { long a; int b; short c; char d, e; };\n#pragma pack(pop)",
            &[Demand::Whole],
        ),
        ("#pragma pack(push, 8)\nstruct s { long a; int b; short c; char d, e; };\n#pragma pack(pop)", &[]),
        ("struct s { long a; int b __attribute__((packed)); short c; char d, e; };", &[]),
    ];
    expect(cases, |text| demands("a.c", text));
}

#[test]
fn pointers_that_are_written_to_memory_of_bytes_are_read_from_it() {
    let arena = "struct arena { char *begin, *next; };\n\
                 static void put(struct arena *a, void *p) { void *to = a->next; *(void **)to = p; a->next += sizeof(void *); }\n\
                 void f(struct arena *a, struct s *p) { put(a, p); }\n";
    let cases: &[(&str, &[Demand])] = &[
        (
            &format!(
                "{arena}int g(struct arena *a) {{ a->begin = a->next; int **list = (int **)a->begin; return **list; }}"
            ),
            &[first(1)],
        ),
        (
            &format!(
                "{arena}int g(struct arena *a) {{ a->begin = a->next; struct s **list = (struct s **)a->begin; return (*list)->b; }}"
            ),
            &[],
        ),
    ];
    expect(cases, asked);
}

/// A part of C++'s library, as a header of the system.
const LIBRARY: &str = "# 1 \"/usr/include/c++/12/library\" 1 3\n\
    namespace std { template <class T, unsigned long N> struct array { T all[N]; T *begin() { return all; } T *end() { return all + N; } };\n\
    template <unsigned long N> struct bitset { unsigned long bits; bitset(unsigned long b) : bits(b) {} unsigned long to_ulong() const; };\n\
    int accumulate(const int *, const int *, int); }\n# 8 \"a.cc\" 2\n";

#[test]
fn arrays_of_the_library_have_ends_of_their_own() {
    let row = "struct s { std::array<int, 2> a; std::array<int, 2> b; long c; };\n";
    let both = [range(before("a"), behind("b"))];
    let cases: &[(&str, &[Demand])] = &[
        (
            "int f(s &v) { int n = 0; for (int *at = v.a.begin(); at < v.b.end(); ++at) n += *at; return n; }",
            &both,
        ),
        ("int f(s &v) { return std::accumulate(v.a.begin(), v.b.end(), 0); }", &both),
        (
            "int f(s &v) { int n = 0; for (int *at = v.a.begin(); at != v.a.end(); ++at) n += *at; return n; }",
            &[],
        ),
        ("int f(s &v) { return std::accumulate(v.a.begin(), v.a.end(), *v.b.begin()); }", &[]),
    ];
    expect(cases, |text| demands("a.cc", &format!("{LIBRARY}{row}{text}")));
}

#[test]
fn the_library_keeps_numbers_that_are_addresses() {
    let s = "struct s { int a; int b; long c; };\ntypedef unsigned long word;\n";
    let keep = "static std::bitset<64> link(0); void f(s *p) { link = std::bitset<64>((word)p); }\n";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{keep}int g() {{ return *(int *)link.to_ulong(); }}"), &[first(1)]),
        (&format!("{keep}int g() {{ return ((s *)link.to_ulong())->b; }}"), &[]),
    ];
    expect(cases, |text| demands("a.cc", &format!("{LIBRARY}{s}{text}")));
}

#[test]
fn class_templates_ask_for_the_size_of_what_they_are_made_for() {
    let s = "struct s { char a; double b; char c; long d; };\n";
    let slab = "template <class T> struct slab { static constexpr unsigned long capacity = 4096 / sizeof(T); T *all; \
                unsigned long room() { return capacity; } };\n";
    let cases: &[(&str, &[Demand])] = &[
        (&format!("{slab}unsigned long f(slab<s> &v) {{ return v.room(); }}"), &[Demand::Size]),
        (&format!("{slab}unsigned long f(slab<long> &v, s *p) {{ return v.room() + p->d; }}"), &[]),
    ];
    expect(cases, |text| demands("a.cc", &format!("{s}{text}")));
}
