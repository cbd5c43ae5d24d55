use super::*;

fn subject() -> UsedStruct {
    // `low` and `high` are in one unnamed member.
    let members = [("head", 0), ("lock", 1), ("count", 2), ("name", 3), ("low", 4), ("high", 4), ("tail", 5)];
    let members = members.map(|(name, number)| (name.to_owned(), number));
    UsedStruct {
        tag: "box".to_owned(),
        members: members.to_vec(),
        prefix_tags: vec!["node".to_owned(), "link".to_owned()],
    }
}

/// Demands with the members they name.
fn demands(text: &str) -> Vec<(u32, UseDemand, String)> {
    let uses = find_uses("lib/box.c", text.as_bytes(), &subject()).uses;
    uses.into_iter().map(|used| (used.line, used.demand, used.members.join(" "))).collect()
}

fn single_demand(text: &str) -> Option<(UseDemand, String)> {
    let mut found = demands(text);
    assert!(found.len() < 2, "{found:?}");
    found.pop().map(|(_, demand, members)| (demand, members))
}

fn boundary(member: &str) -> Option<(UseDemand, String)> {
    Some((UseDemand::Boundary, member.to_owned()))
}

#[test]
fn ranges_that_end_at_a_member_hold_it() {
    assert_eq!(
        single_demand("void f(void)\n{\n\tmemset(p, 0, offsetof(struct box, tail));\n}\n"),
        boundary("tail")
    );
    assert_eq!(
        single_demand("x = unsafe_memcpy(&a->count, &b->count, n - offsetof(struct box, count), w);"),
        boundary("count")
    );
    assert_eq!(single_demand("memcpy(d, s, offsetofend(struct box, lock));"), boundary("lock"));
    assert_eq!(single_demand("memcpy(d, s, offsetof(struct box, name.inner[3]));"), boundary("name"));
    assert_eq!(single_demand("*size = arch_box_size - offsetof(struct box, tail);"), boundary("tail"));
    assert_eq!(single_demand("n = sizeof(struct box) - offsetof(struct box, count);"), boundary("count"));
    assert_eq!(
        demands("memset(&p->lock, 0,\n offsetof(struct box, name) -\n offsetof(struct box, lock));"),
        [(2, UseDemand::Boundary, "name".to_owned()), (3, UseDemand::Boundary, "lock".to_owned())]
    );
    assert_eq!(
        demands("n = offsetof(struct box, name) - offsetof(struct box, lock);").len(),
        2,
        "a length between members, wherever it goes"
    );
}

#[test]
fn offsets_that_reach_a_member_demand_nothing() {
    for text in [
        "off = offsetof(struct box, lock);",
        "p = (void *)q - offsetof(struct box, lock);",
        "q = off - offsetof(struct box, lock);",
        "if (off >= offsetof(struct box, lock) && off + size <= offsetofend(struct box, lock)) return;",
        "emit(BPF_LDX, offsetof(struct box, lock));",
        "c = kmem_cache_create_usercopy(\"box\", size, 0, 0, offsetof(struct box, name), 8, NULL);",
        "memset(p, 0, offsetof(struct other, lock));",
        "memset(p, 0, offsetof(struct boxes, lock));",
        "/* memset(p, 0, offsetof(struct box, lock)); */",
        "memset(p, 0, sizeof(struct box)); x = offsetof(struct box, lock);",
    ] {
        assert_eq!(single_demand(text), None, "{text}");
    }
}

#[test]
fn assertions_hold_offsets() {
    let offset = |member: &str| Some((UseDemand::Offset, member.to_owned()));
    assert_eq!(single_demand("BUILD_BUG_ON(offsetof(struct box, head) != 0);"), offset("head"));
    assert_eq!(
        single_demand("static_assert(offsetof(struct box, lock) == offsetof(struct other, lock));"),
        offset("lock")
    );
    let ordered = demands("BUILD_BUG_ON(offsetof(struct box, lock) > offsetof(struct box, name));");
    assert!(ordered.iter().all(|(_, demand, _)| *demand == UseDemand::Boundary) && ordered.len() == 2);
    let aligned = single_demand("BUILD_BUG_ON(offsetof(struct box, lock) % 8);");
    assert_eq!(aligned, Some((UseDemand::Note, "lock".to_owned())));
    assert_eq!(
        single_demand("BUILD_BUG_ON(sizeof(struct box) > 64);"),
        Some((UseDemand::Size, String::new()))
    );
}

#[test]
fn assertions_about_one_member_s_inside_hold_nothing() {
    assert_eq!(single_demand("BUILD_BUG_ON(offsetof(struct box, low) != offsetof(struct box, high));"), None);
    let text = "#define INSIDE(x) BUILD_BUG_ON(offsetof(struct box, x) != offsetof(struct box, high.x))\nINSIDE(low);\nINSIDE(lock);\n";
    let wanted = [(3, UseDemand::Boundary, "high".to_owned()), (3, UseDemand::Boundary, "lock".to_owned())];
    assert_eq!(demands(text), wanted, "only `lock` is another member");
    let others = "BUILD_BUG_ON(offsetof(struct box, low) != offsetof(struct lid, a) || offsetof(struct box, high) != offsetof(struct lid, b));";
    assert!(demands(others).iter().all(|(_, demand, _)| *demand == UseDemand::Offset));
    assert_eq!(demands(others).len(), 2);
}

#[test]
fn macros_are_read_with_what_their_calls_give() {
    let text = "#define BOX_MATCH(x, y)\t\\\n\tstatic_assert(offsetof(struct box, x) == offsetof(struct lid, y))\n\
                BOX_MATCH(head, top);\nBOX_MATCH(count, number);\n#undef BOX_MATCH\n";
    let wanted = [(3, UseDemand::Offset, "head".to_owned()), (4, UseDemand::Offset, "count".to_owned())];
    assert_eq!(demands(text), wanted);
    let text = "#define CLEARED offsetof(struct box, name)\nvoid f(void)\n{\n\tmemset(p, 0, CLEARED);\n}\n";
    assert_eq!(demands(text), [(4, UseDemand::Boundary, "name".to_owned())]);
    let text =
        "enum {\n\tKEPT = offsetof(struct box, name),\n};\nvoid f(void)\n{\n\tmemcpy(p, q, KEPT);\n}\n";
    assert_eq!(demands(text), [(6, UseDemand::Boundary, "name".to_owned())]);
    let local = "void f(void)\n{\n\tint n = offsetof(struct box, name);\n}\nvoid g(int n)\n{\n\tmemset(p, 0, n);\n}\n";
    assert_eq!(demands(local), [], "another function's variable");
    let local = "void f(void)\n{\n\tint n = offsetof(struct box, name);\n\tmemset(p, 0, n);\n}\n";
    assert_eq!(demands(local), [(4, UseDemand::Boundary, "name".to_owned())]);
    assert_eq!(demands("#define AT offsetof(struct box, name)\nint f(void) { return g(AT); }\n"), []);
    assert_eq!(demands("#define REST (sizeof(struct box) - offsetof(struct box, name))\n").len(), 1);
}

#[test]
fn objects_are_known_by_their_declaration() {
    let text =
        |declared: &str| format!("void f({declared})\n{{\n\tmemset_after(b, 0, lock);\n}}\n/* struct box */");
    let demand_of = |declared: &str| single_demand(&text(declared)).map(|(demand, _)| demand);
    assert_eq!(demand_of("struct box *b"), Some(UseDemand::Boundary));
    assert_eq!(demand_of("const struct box *b, struct other *c"), Some(UseDemand::Boundary));
    assert_eq!(demand_of("struct other *b"), None);
    assert_eq!(demand_of("u64 b"), Some(UseDemand::Note), "a typedef may be this struct");
    let other =
        "void g(struct box *b)\n{\n}\n\nvoid f(struct other *b)\n{\n\tmemset_startat(b, 0, lock);\n}\n";
    assert_eq!(single_demand(other), None, "declared in another function");
    let between = "void f(struct box *b)\n{\n\tn = (char *)&b->tail - (char *)&b->count;\n}\n// offsetof(struct box, x)";
    assert_eq!(
        demands(&format!("{between}\nint x = offsetof(struct box, head);")),
        [(3, UseDemand::Boundary, "tail count".to_owned())]
    );
}

#[test]
fn casts_to_and_from_what_is_first_hold_it_there() {
    let cast = |declared: &str, target: &str| {
        let text = format!("int f({declared})\n{{\n\treturn g(({target})p);\n}}\n/* struct box */");
        single_demand(&text).map(|(demand, _)| demand)
    };
    assert_eq!(cast("struct node *p", "struct box *"), Some(UseDemand::First));
    assert_eq!(cast("struct box *p", "struct link *"), Some(UseDemand::First));
    assert_eq!(cast("struct other *p", "struct box *"), None);
    assert_eq!(cast("void *p", "struct box *"), None);
    let through = "int f(struct node *p)\n{\n\treturn g((struct box *)p->owner);\n}\n";
    assert_eq!(single_demand(through), None, "a member is cast, not the pointer");
}

#[test]
fn initialisers_without_names_hold_places() {
    let count = |text: &str| match single_demand(text) {
        Some((UseDemand::Positions(count), _)) => count,
        None => 0,
        other => panic!("{other:?}"),
    };
    assert_eq!(count("static struct box b = { 1, x, \"a\" };"), 3);
    assert_eq!(count("struct box b[] __initdata = {\n\t{ 1, 2 },\n\t{ 3, 4 },\n};"), 2);
    assert_eq!(count("struct box b[4] = { [2] = { 1, .name = 2 } };"), 1);
    assert_eq!(count("struct box b[2][3] = { { { 1, 2 }, { 3, 4 } } };"), 2);
    assert_eq!(count("return (struct box){ 1, 2 };"), 2);
    assert_eq!(count("struct box b __section(\".x\") __aligned(__alignof__(struct box)) = { 1, x };"), 2);
    let by_macro = "#define BOX(id, head)\t\\\n\tstatic struct box box_##id\t\\\n\t\t__section(\".x\")\t\\\n\t\t= { head, id }\n";
    assert_eq!(count(by_macro), 2);
    assert_eq!(count("struct box b = { HEAD_INIT(x), LOCK_INIT };"), 2);
    let through = "#define BOX_INIT(b) { HEAD_INIT(b.head), 1, 2 }\nstruct box b = BOX_INIT(b);";
    assert_eq!(count(through), 3);
    // Compilers warn of these if another kind of member comes first.
    assert_eq!(count("struct box b = { NULL };"), 1);
    assert_eq!(count("struct box b = { { 0 } };"), 1);
    assert_eq!(count(&through.replace("\nstruct box b =", "\n#define BOX(b) struct box b =")), 3);
    for text in [
        "struct box b = { .head = 1, .lock = 2 };",
        "TYPE_SAFE(struct box) {\n\tstruct lid *l;\n};",
        "TYPE_SAFE(struct box) { 1, 2 };",
        "struct box b = { 0 };",
        "struct box b = { };",
        "struct box b = { BOX_INIT(b) };",
        "struct box b = { BOX_INIT(b), .lock = 2 };",
        "#define BOX_INIT(b) { .lock = 1 }\nstruct box b = BOX_INIT(b);",
        "struct box b[2][2] = { { BOX(1), BOX(2) }, { BOX(3), BOX(4) } };",
        "struct box *b = { 1, 2 };",
        "struct box b = { head: 1, lock: 2 };",
    ] {
        assert_eq!(count(text), 0, "{text}");
    }
}

#[test]
fn macros_of_other_files_are_awaited_and_read_there() {
    let unresolved = |text: &str| {
        let found = find_uses("a.c", text.as_bytes(), &subject());
        assert_eq!(found.uses, [], "{text}");
        found
            .unresolved
            .into_iter()
            .map(|unresolved| (unresolved.line, unresolved.name, unresolved.is_array))
            .collect::<Vec<_>>()
    };
    let expected = |line, name: &str, is_array| vec![(line, name.to_owned(), is_array)];
    assert_eq!(unresolved("int x;\nstruct box b = BOX_INIT(b);"), expected(2, "BOX_INIT", false));
    assert_eq!(unresolved("static struct box b __initdata = __BOX_INIT;"), expected(1, "__BOX_INIT", false));
    assert_eq!(unresolved("struct box b[] = { BOX(1), BOX(2), { } };"), expected(1, "BOX", false));
    assert_eq!(unresolved("struct box b[] = {\n\t[ONE] = BOX(1),\n};"), expected(1, "BOX", false));
    assert_eq!(
        unresolved("struct box b[2][2] = { { BOX(1), BOX(2) }, { BOX(3) } };"),
        expected(1, "BOX", false)
    );
    assert_eq!(unresolved("struct box b[] = BOXES;"), expected(1, "BOXES", true));
    assert_eq!(
        unresolved("void f(void)\n{\n\t*p = (struct box)BOX_INIT(p);\n}"),
        expected(3, "BOX_INIT", false)
    );
    assert_eq!(unresolved("#define BOX(x) struct box x = BOX_INIT(x)\n"), expected(1, "BOX_INIT", false));
    let chained = "#define BOX_INIT(x) __BOX_INIT(x, 0)\nstruct box b = BOX_INIT(b);";
    assert_eq!(unresolved(chained), expected(2, "__BOX_INIT", false));
    for text in [
        "struct box b = BOX_INIT(b) + 1;",
        "struct box *b = BOX_INIT(b);",
        "struct box b = box_init(b);",
        "x = sizeof(struct box) BOX_SIZE;",
        "#define BOX_INIT { .lock = 1 }\nstruct box b = BOX_INIT;",
    ] {
        assert_eq!(unresolved(text), [], "{text}");
    }
    let wanted = |is_array| UnresolvedMacro { line: 7, name: "BOX_INIT".to_owned(), is_array };
    let defined = |text: &str, is_array| find_definitions(text.as_bytes(), &wanted(is_array), &subject());
    let count = |definition: &MacroDefinition| match &definition.value {
        MacroValue::Values(uses) => uses.iter().map(|used| used.demand).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let found = defined(
        "\n#if A\n#define BOX_INIT(x) { 1, x }\n#else\n#define BOX_INIT(x) { 1, 2, x }\n#endif",
        false,
    );
    assert_eq!(found.iter().map(|definition| definition.line).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(
        found.iter().map(count).collect::<Vec<_>>(),
        [[UseDemand::Positions(2)], [UseDemand::Positions(3)]]
    );
    assert_eq!(count(&defined("#define BOX_INIT { { 1, 2 }, { 3 } }", true)[0]), [UseDemand::Positions(2)]);
    assert_eq!(count(&defined("#define BOX_INIT { .lock = 1 }", false)[0]), []);
    let other = defined("#  define BOX_INIT \\\n\t__BOX_INIT(1)", false);
    assert_eq!(other[0].value, MacroValue::Macro("__BOX_INIT".to_owned()));
    assert_eq!(defined("#define BOX_INIT box_init()", false)[0].value, MacroValue::Nothing);
    assert_eq!(defined("#define BOX_INITS { 1 }\nBOX_INIT;", false), []);
}

#[test]
fn values_behind_named_members_hold_both() {
    let names: Vec<String> = subject().members.iter().map(|(name, _)| name.clone()).collect();
    let found = |text: &str| find_uses("a.c", text.as_bytes(), &subject()).uses.into_iter().next();
    let text = format!("struct box b = {{ .{} = 1, {{ 2 }}, .{} = 3 }};", names[0], names[2]);
    let used = found(&text).unwrap();
    assert_eq!((used.demand, used.members), (UseDemand::Boundary, vec![names[0].clone(), names[1].clone()]));
    let text = format!("struct box b = {{ .{} = 1, BOX_REST(x) }};", names[0]);
    assert!(found(&text).is_none());
}

#[test]
fn assembler_sees_members_by_generated_offsets() {
    let text = "int main(void)\n{\n\tOFFSET(BOX_LOCK, box, lock);\n\tDEFINE(BOX_NAME, offsetof(struct box, name.x));\n\
                \tOFFSET(OTHER, boxes, lock);\n}\n";
    let uses = find_uses("arch/x86/kernel/asm-offsets_64.c", text.as_bytes(), &subject()).uses;
    let found: Vec<(u32, UseDemand, &str)> =
        uses.iter().map(|used| (used.line, used.demand, used.members[0].as_str())).collect();
    assert_eq!(found, [(3, UseDemand::Assembler, "lock"), (4, UseDemand::Assembler, "name")]);
}

#[test]
fn cut_text_does_not_panic() {
    let text =
        b"#define M(a) BUILD_BUG_ON(offsetof(struct box, a) != ((\nmemset_after(b, 0, lock);(struct box *)p;\
                 struct box b[] = {{1,2}, offsetof(struct box, lock) - offsetof(struct box, head)";
    for end in 0..text.len() {
        let _ = find_uses("a.c", &text[..end], &subject());
        let _ = find_uses("asm-offsets.c", &text[..end], &subject());
    }
}
