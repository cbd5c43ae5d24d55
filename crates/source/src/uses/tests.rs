use super::*;

fn subject() -> UsedStruct {
    // `low` and `high` are in one unnamed member.
    let members = [("head", 0), ("lock", 1), ("count", 2), ("name", 3), ("low", 4), ("high", 4), ("tail", 5)];
    let members = members.map(|(name, number)| (name.to_owned(), number));
    UsedStruct {
        tag: "box".to_owned(),
        members: members.to_vec(),
        leads: vec!["node".to_owned(), "link".to_owned()],
    }
}

/// Demands with the members they name.
fn found(text: &str) -> Vec<(u32, Demand, String)> {
    let uses = uses("lib/box.c", text.as_bytes(), &subject()).uses;
    uses.into_iter().map(|of| (of.line, of.demand, of.members.join(" "))).collect()
}

fn one(text: &str) -> Option<(Demand, String)> {
    let mut found = found(text);
    assert!(found.len() < 2, "{found:?}");
    found.pop().map(|(_, demand, members)| (demand, members))
}

fn boundary(member: &str) -> Option<(Demand, String)> {
    Some((Demand::Boundary, member.to_owned()))
}

#[test]
fn ranges_that_end_at_a_member_hold_it() {
    assert_eq!(one("void f(void)\n{\n\tmemset(p, 0, offsetof(struct box, tail));\n}\n"), boundary("tail"));
    assert_eq!(
        one("x = unsafe_memcpy(&a->count, &b->count, n - offsetof(struct box, count), w);"),
        boundary("count")
    );
    assert_eq!(one("memcpy(d, s, offsetofend(struct box, lock));"), boundary("lock"));
    assert_eq!(one("memcpy(d, s, offsetof(struct box, name.inner[3]));"), boundary("name"));
    assert_eq!(one("*size = arch_box_size - offsetof(struct box, tail);"), boundary("tail"));
    assert_eq!(one("n = sizeof(struct box) - offsetof(struct box, count);"), boundary("count"));
    assert_eq!(
        found("memset(&p->lock, 0,\n offsetof(struct box, name) -\n offsetof(struct box, lock));"),
        [(2, Demand::Boundary, "name".to_owned()), (3, Demand::Boundary, "lock".to_owned())]
    );
    assert_eq!(
        found("n = offsetof(struct box, name) - offsetof(struct box, lock);").len(),
        2,
        "a length between members, wherever it goes"
    );
}

#[test]
fn the_way_to_a_member_holds_nothing() {
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
        assert_eq!(one(text), None, "{text}");
    }
}

#[test]
fn assertions_hold_offsets() {
    let offset = |member: &str| Some((Demand::Offset, member.to_owned()));
    assert_eq!(one("BUILD_BUG_ON(offsetof(struct box, head) != 0);"), offset("head"));
    assert_eq!(
        one("static_assert(offsetof(struct box, lock) == offsetof(struct other, lock));"),
        offset("lock")
    );
    let ordered = found("BUILD_BUG_ON(offsetof(struct box, lock) > offsetof(struct box, name));");
    assert!(ordered.iter().all(|(_, demand, _)| *demand == Demand::Boundary) && ordered.len() == 2);
    let aligned = one("BUILD_BUG_ON(offsetof(struct box, lock) % 8);");
    assert_eq!(aligned, Some((Demand::Remark, "lock".to_owned())));
    assert_eq!(one("BUILD_BUG_ON(sizeof(struct box) > 64);"), Some((Demand::Size, String::new())));
}

#[test]
fn assertions_about_one_member_s_inside_hold_nothing() {
    assert_eq!(one("BUILD_BUG_ON(offsetof(struct box, low) != offsetof(struct box, high));"), None);
    let text = "#define INSIDE(x) BUILD_BUG_ON(offsetof(struct box, x) != offsetof(struct box, high.x))\nINSIDE(low);\nINSIDE(lock);\n";
    let wanted = [(3, Demand::Boundary, "high".to_owned()), (3, Demand::Boundary, "lock".to_owned())];
    assert_eq!(found(text), wanted, "only `lock` is another member");
    let others = "BUILD_BUG_ON(offsetof(struct box, low) != offsetof(struct lid, a) || offsetof(struct box, high) != offsetof(struct lid, b));";
    assert!(found(others).iter().all(|(_, demand, _)| *demand == Demand::Offset));
    assert_eq!(found(others).len(), 2);
}

#[test]
fn macros_are_read_with_what_their_calls_give() {
    let text = "#define BOX_MATCH(x, y)\t\\\n\tstatic_assert(offsetof(struct box, x) == offsetof(struct lid, y))\n\
                BOX_MATCH(head, top);\nBOX_MATCH(count, number);\n#undef BOX_MATCH\n";
    let wanted = [(3, Demand::Offset, "head".to_owned()), (4, Demand::Offset, "count".to_owned())];
    assert_eq!(found(text), wanted);
    let text = "#define CLEARED offsetof(struct box, name)\nvoid f(void)\n{\n\tmemset(p, 0, CLEARED);\n}\n";
    assert_eq!(found(text), [(4, Demand::Boundary, "name".to_owned())]);
    let text =
        "enum {\n\tKEPT = offsetof(struct box, name),\n};\nvoid f(void)\n{\n\tmemcpy(p, q, KEPT);\n}\n";
    assert_eq!(found(text), [(6, Demand::Boundary, "name".to_owned())]);
    let local = "void f(void)\n{\n\tint n = offsetof(struct box, name);\n}\nvoid g(int n)\n{\n\tmemset(p, 0, n);\n}\n";
    assert_eq!(found(local), [], "another function's variable");
    let local = "void f(void)\n{\n\tint n = offsetof(struct box, name);\n\tmemset(p, 0, n);\n}\n";
    assert_eq!(found(local), [(4, Demand::Boundary, "name".to_owned())]);
    assert_eq!(found("#define AT offsetof(struct box, name)\nint f(void) { return g(AT); }\n"), []);
    assert_eq!(found("#define REST (sizeof(struct box) - offsetof(struct box, name))\n").len(), 1);
}

#[test]
fn objects_are_known_by_their_declaration() {
    let text =
        |declared: &str| format!("void f({declared})\n{{\n\tmemset_after(b, 0, lock);\n}}\n/* struct box */");
    let at = |declared: &str| one(&text(declared)).map(|(demand, _)| demand);
    assert_eq!(at("struct box *b"), Some(Demand::Boundary));
    assert_eq!(at("const struct box *b, struct other *c"), Some(Demand::Boundary));
    assert_eq!(at("struct other *b"), None);
    assert_eq!(at("u64 b"), Some(Demand::Remark), "a typedef may be this struct");
    let other =
        "void g(struct box *b)\n{\n}\n\nvoid f(struct other *b)\n{\n\tmemset_startat(b, 0, lock);\n}\n";
    assert_eq!(one(other), None, "declared in another function");
    let between = "void f(struct box *b)\n{\n\tn = (char *)&b->tail - (char *)&b->count;\n}\n// offsetof(struct box, x)";
    assert_eq!(
        found(&format!("{between}\nint x = offsetof(struct box, head);")),
        [(3, Demand::Boundary, "tail count".to_owned())]
    );
}

#[test]
fn casts_to_and_from_what_is_first_hold_it_there() {
    let cast = |declared: &str, target: &str| {
        let text = format!("int f({declared})\n{{\n\treturn g(({target})p);\n}}\n/* struct box */");
        one(&text).map(|(demand, _)| demand)
    };
    assert_eq!(cast("struct node *p", "struct box *"), Some(Demand::First));
    assert_eq!(cast("struct box *p", "struct link *"), Some(Demand::First));
    assert_eq!(cast("struct other *p", "struct box *"), None);
    assert_eq!(cast("void *p", "struct box *"), None);
    let through = "int f(struct node *p)\n{\n\treturn g((struct box *)p->owner);\n}\n";
    assert_eq!(one(through), None, "a member is cast, not the pointer");
}

#[test]
fn initialisers_without_names_hold_places() {
    let count = |text: &str| match one(text) {
        Some((Demand::Positions(count), _)) => count,
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
    assert_eq!(count(&through.replace("\nstruct box b =", "\n#define BOX(b) struct box b =")), 3);
    for text in [
        "struct box b = { .head = 1, .lock = 2 };",
        "TYPE_SAFE(struct box) {\n\tstruct lid *l;\n};",
        "TYPE_SAFE(struct box) { 1, 2 };",
        "struct box b = { 0 };",
        "struct box b = { NULL };",
        "struct box b = { };",
        "struct box b = { { 0 } };",
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
    let awaited = |text: &str| {
        let found = uses("a.c", text.as_bytes(), &subject());
        assert_eq!(found.uses, [], "{text}");
        found.awaited.into_iter().map(|of| (of.line, of.name, of.is_array)).collect::<Vec<_>>()
    };
    let one = |line, name: &str, is_array| vec![(line, name.to_owned(), is_array)];
    assert_eq!(awaited("int x;\nstruct box b = BOX_INIT(b);"), one(2, "BOX_INIT", false));
    assert_eq!(awaited("static struct box b __initdata = __BOX_INIT;"), one(1, "__BOX_INIT", false));
    assert_eq!(awaited("struct box b[] = { BOX(1), BOX(2), { } };"), one(1, "BOX", false));
    assert_eq!(awaited("struct box b[] = {\n\t[ONE] = BOX(1),\n};"), one(1, "BOX", false));
    assert_eq!(awaited("struct box b[2][2] = { { BOX(1), BOX(2) }, { BOX(3) } };"), one(1, "BOX", false));
    assert_eq!(awaited("struct box b[] = BOXES;"), one(1, "BOXES", true));
    assert_eq!(awaited("void f(void)\n{\n\t*p = (struct box)BOX_INIT(p);\n}"), one(3, "BOX_INIT", false));
    assert_eq!(awaited("#define BOX(x) struct box x = BOX_INIT(x)\n"), one(1, "BOX_INIT", false));
    let chained = "#define BOX_INIT(x) __BOX_INIT(x, 0)\nstruct box b = BOX_INIT(b);";
    assert_eq!(awaited(chained), one(2, "__BOX_INIT", false));
    for text in [
        "struct box b = BOX_INIT(b) + 1;",
        "struct box *b = BOX_INIT(b);",
        "struct box b = box_init(b);",
        "x = sizeof(struct box) BOX_SIZE;",
        "#define BOX_INIT { .lock = 1 }\nstruct box b = BOX_INIT;",
    ] {
        assert_eq!(awaited(text), [], "{text}");
    }
    let wanted = |is_array| Awaited { line: 7, name: "BOX_INIT".to_owned(), is_array };
    let defined = |text: &str, is_array| definitions(text.as_bytes(), &wanted(is_array), &subject());
    let count = |of: &MacroDefinition| match &of.gives {
        Gives::Values(uses) => uses.iter().map(|of| of.demand).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let found = defined(
        "\n#if A\n#define BOX_INIT(x) { 1, x }\n#else\n#define BOX_INIT(x) { 1, 2, x }\n#endif",
        false,
    );
    assert_eq!(found.iter().map(|of| of.line).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(found.iter().map(count).collect::<Vec<_>>(), [[Demand::Positions(2)], [Demand::Positions(3)]]);
    assert_eq!(count(&defined("#define BOX_INIT { { 1, 2 }, { 3 } }", true)[0]), [Demand::Positions(2)]);
    assert_eq!(count(&defined("#define BOX_INIT { .lock = 1 }", false)[0]), []);
    let other = defined("#  define BOX_INIT \\\n\t__BOX_INIT(1)", false);
    assert_eq!(other[0].gives, Gives::Macro("__BOX_INIT".to_owned()));
    assert_eq!(defined("#define BOX_INIT box_init()", false)[0].gives, Gives::Nothing);
    assert_eq!(defined("#define BOX_INITS { 1 }\nBOX_INIT;", false), []);
}

#[test]
fn values_behind_named_members_hold_both() {
    let names: Vec<String> = subject().members.iter().map(|(name, _)| name.clone()).collect();
    let found = |text: &str| uses("a.c", text.as_bytes(), &subject()).uses.into_iter().next();
    let text = format!("struct box b = {{ .{} = 1, {{ 2 }}, .{} = 3 }};", names[0], names[2]);
    let of = found(&text).unwrap();
    assert_eq!((of.demand, of.members), (Demand::Boundary, vec![names[0].clone(), names[1].clone()]));
    let text = format!("struct box b = {{ .{} = 1, BOX_REST(x) }};", names[0]);
    assert!(found(&text).is_none());
}

#[test]
fn assembler_sees_members_by_generated_offsets() {
    let text = "int main(void)\n{\n\tOFFSET(BOX_LOCK, box, lock);\n\tDEFINE(BOX_NAME, offsetof(struct box, name.x));\n\
                \tOFFSET(OTHER, boxes, lock);\n}\n";
    let uses = uses("arch/x86/kernel/asm-offsets_64.c", text.as_bytes(), &subject()).uses;
    let found: Vec<(u32, Demand, &str)> =
        uses.iter().map(|of| (of.line, of.demand, of.members[0].as_str())).collect();
    assert_eq!(found, [(3, Demand::Assembler, "lock"), (4, Demand::Assembler, "name")]);
}

#[test]
fn cut_text_is_no_danger() {
    let text =
        b"#define M(a) BUILD_BUG_ON(offsetof(struct box, a) != ((\nmemset_after(b, 0, lock);(struct box *)p;\
                 struct box b[] = {{1,2}, offsetof(struct box, lock) - offsetof(struct box, head)";
    for end in 0..text.len() {
        let _ = uses("a.c", &text[..end], &subject());
        let _ = uses("asm-offsets.c", &text[..end], &subject());
    }
}
