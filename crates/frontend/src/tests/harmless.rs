//! Code that looks dangerous and isn't.

use super::*;

#[test]
fn harmless_code_asks_nothing() {
    let all = |text: &str| {
        asked(&format!(
            "#define container_of(p, T, m) ({{ void *v_ = (void *)(p); ((T *)(v_ - offsetof(T, m))); }})\n\
             struct o {{ struct s x; int y; }};\nstruct s *make(void);\nvoid call(void (*)(void *), void *);\n\
             void copy(void *, size_t, size_t);\n{text}"
        ))
    };
    let cases = [
        "struct s v = { .a = 1, .b = 2 };",
        "struct s v = { 0 }, w = {}, x[3] = { { 0 }, {} };",
        "struct s v = { .in = { .q = 1 }, .c = 2 };",
        "void f(struct s *p, struct s *q) { *p = *q; memset(p, 0, sizeof(*p)); memcpy(p, q, sizeof(struct s)); }",
        "void f(struct s *p, size_t n) { memset(p, 0, n * sizeof(*p)); }",
        "struct s *f(struct in *p) { return container_of(p, struct s, in); }",
        "struct s *f(struct in *p) { return (struct s *)((char *)p - offsetof(struct s, in)); }",
        "struct s *f(struct in *p) { return (struct s *)((uintptr_t)p - offsetof(struct s, in)); }",
        "struct s *f(void) { struct s *p = malloc(sizeof(*p)); free(p); return malloc(4 * sizeof(struct s)); }",
        "static void cb(void *v) { struct s *p = v; p->a = 1; }\nvoid f(struct s *p) { call(cb, p); cb(p); }",
        "void f(struct s *p) { memset(&p->in, 0, sizeof(p->in)); memcpy(&p->a, &p->b, sizeof(int)); }",
        "int f(struct s *p) { return ((struct o *)p)->y; }",
        "struct t { size_t at; } table[] = { { offsetof(struct s, b) }, { offsetof(struct s, c) } };",
        "int f(struct s *p) { return (int)(uintptr_t)p & 7; }",
        "void f(struct s *p) { use(p); use(&p->c); number(offsetof(struct s, c)); }",
        "int f(struct s *p, int i) { return p[i].a + (p + 1)->b + p->in.q; }",
        "long f(struct s *p) { return *(volatile long *)&p->c; }",
        "struct s *f(unsigned long delta, struct s *p) { return (struct s *)((unsigned long)p + delta); }",
        "void f(void) { struct s *p = make(); void *v = p; struct s *q = v; q->a = 1; }",
        "void check(const void *, size_t, int); void f(struct s *p) { check(&p->e, sizeof(p->e), 1 << 3 | 1 << 4); }",
        "void hash_add_key(void *, void *, int); void f(struct s *p) { hash_add_key(p->d, p, 2); }",
        "void chain_writer(void *, int *); void f(struct s *p, int *i) { chain_writer(p, i); }",
        "struct s *f(void *p) { return _Generic(p, const void *: (const struct s *)p, default: (struct s *)p); }\n\
         void *g(struct s *p) { return _Generic((void *)p, char *: 0, default: f(p)); }",
        "static inline void *as_error(long n) { return (void *)n; }\n\
         static inline long as_number(const void *p) { return (long)p; }\n\
         long f(struct s *p) { return as_number(p); }\n\
         int g(struct in *p) { return *(int *)as_error(as_number(p)); }",
        "struct s *many(size_t n) { return malloc(n * sizeof(struct s) + sizeof(struct s)); }",
        "struct s *dup(struct o *p, struct o *q, size_t most) { memcpy(p, q, most); return &p->x; }",
        "void f(struct s *p) { char *c = p->d; while (*c) c++; p->d[3] = 0; }",
        // A hash of both halves of an address, and the stack pointer as an operand.
        "unsigned f(struct s *p) { unsigned long v = (unsigned long)p; v ^= v >> 32; return (unsigned)v; }\n\
         int g(unsigned high, unsigned low) { return ((int *)((unsigned long)high << 32 | low))[2]; }",
        "register unsigned long sp asm(\"rsp\");\n\
         void f(struct s *p) { asm volatile(\"call check\" : \"+r\"(sp) : \"m\"(p)); }\n\
         int g(void) { return ((int *)sp)[2]; }",
        // What a type is written with is asked for its type alone.
        "struct slot { void *kept; } slot;\nvoid f(struct s *p) { *(volatile typeof(slot.kept) *)&slot.kept = p; }\n\
         struct s *g(void) { return *(const volatile typeof(slot.kept) *)&slot.kept; }",
        "struct slot { void *kept; } slot;\n\
         #define SWAP(at, new) ({ typeof(*(at)) *at_ = (at); typeof(*(at)) old_ = *at_; *at_ = (new); old_; })\n\
         struct s *f(struct s *p) { return SWAP(&slot.kept, (void *)p); }",
    ];
    let cases: Vec<(&str, &[Demand])> = cases.iter().map(|text| (*text, &[][..])).collect();
    expect(&cases, all);
}
