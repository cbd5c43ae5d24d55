//! Properties that hold for any text and any struct.

use crate::generate::{GeneratedStruct, active, declarations, expected, permutation, program, shuffled};
use fieldline_source::scan::{TokenKind, tokenize};
use fieldline_source::{DefinitionQuery, Edits, ExpectedMember, Join, SourceText, StructBody, diff};
use proptest::prelude::*;

/// Text that looks like C in places.
fn c_like() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("struct x {"),
        Just("struct {"),
        Just("typedef struct {"),
        Just("}"),
        Just("};"),
        Just("} name_t;"),
        Just("int a;"),
        Just("int (*f)(int);"),
        Just("u8 a:1, b:2;"),
        Just("("),
        Just(")"),
        Just("["),
        Just("]"),
        Just(","),
        Just(";"),
        Just(":"),
        Just("*"),
        Just("/*"),
        Just("*/"),
        Just("//"),
        Just("\""),
        Just("'"),
        Just("\\\n"),
        Just("\n"),
        Just("\r\n"),
        Just("\n#if A\n"),
        Just("\n#else\n"),
        Just("\n#elif B\n"),
        Just("\n#endif\n"),
        Just("\n#define M(x) \\\n x\n"),
        Just("MACRO(x)"),
        Just("__aligned(8)"),
        Just("x"),
        Just("\u{e9}"),
        Just("\0"),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.join(" ").into_bytes())
}

/// Everything the crate does with a text, on whatever definitions it finds.
fn exercise(text: &[u8]) {
    let source = SourceText::new(text);
    for definition in source.definitions() {
        let _ = source.find(&DefinitionQuery::for_name(definition.name()).with_line(Some(definition.line)));
        let Ok(body) = StructBody::parse(&source, &definition) else {
            continue;
        };
        for statement in body.statements() {
            let _ = (body.text(statement), body.conditions(statement));
        }
        let members = expected(&body);
        if let Ok(join) = Join::new(&body, &members) {
            let declared: Vec<usize> = (0..members.len()).collect();
            let same = join.reorder(&declared).expect("the declared order can't be refused");
            assert_eq!(same.edits.apply(text), text);
            let backwards: Vec<usize> = declared.into_iter().rev().collect();
            let _ = join.reorder(&backwards);
        }
    }
}

proptest! {
    #[test]
    fn tokens_tile_any_text(text in prop_oneof![c_like(), prop::collection::vec(any::<u8>(), 0..300)]) {
        let mut at = 0;
        for token in tokenize(&text) {
            prop_assert!(token.start >= at && token.end > token.start && token.end <= text.len());
            let gap = &text[at..token.start];
            let is_space = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'\\' | 0x0b);
            prop_assert!(gap.iter().all(is_space), "{gap:?} lost");
            at = token.end;
        }
        prop_assert!(text[at..].iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b'\\' | 0x0b)));
    }

    #[test]
    fn brackets_pair(text in c_like()) {
        let source = SourceText::new(&text);
        for (index, token) in source.tokens().iter().enumerate() {
            let opens = matches!(token.kind, TokenKind::Punct(b'{' | b'(' | b'['));
            match source.partner(index) {
                // A bracket that several arms close pairs with the first.
                Some(partner) if opens => prop_assert!(partner > index && source.partner(partner) == Some(index)),
                Some(partner) => prop_assert!(partner < index && source.partner(partner).is_some()),
                None => {}
            }
        }
    }

    #[test]
    fn no_text_panics(text in prop_oneof![c_like(), prop::collection::vec(any::<u8>(), 0..300)]) {
        exercise(&text);
    }

    #[test]
    fn no_cut_panics(program in program(), cut in 0.0f64..1.0) {
        let text = program.text();
        exercise(&text[..(text.len() as f64 * cut) as usize]);
    }

    #[test]
    fn a_diff_applied_by_hand_gives_the_new_text(old in c_like(), new in c_like()) {
        prop_assert_eq!(patched(&old, &diff::unified("x", &old, &new)), new);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_declared_order_changes_nothing(program in program()) {
        let text = program.text();
        let source = SourceText::new(&text);
        let definition = source.find(&DefinitionQuery::for_name("sample")).unwrap();
        let body = StructBody::parse(&source, &definition).unwrap();
        let members = program.members();
        let join = Join::new(&body, &members).unwrap();
        let declared: Vec<usize> = (0..members.len()).collect();
        prop_assert_eq!(join.reorder(&declared).unwrap().edits.iter().count(), 0);
    }

    #[test]
    fn any_allowed_order_is_written_in_every_configuration(program in program(), seed in any::<u64>()) {
        check_order(&program, seed)?;
    }

    #[test]
    fn the_constraints_say_what_is_refused(program in program(), seed in any::<u64>()) {
        let text = program.text();
        let source = SourceText::new(&text);
        let body = StructBody::parse(&source, &source.find(&DefinitionQuery::for_name("sample")).unwrap()).unwrap();
        let members = program.members();
        let join = Join::new(&body, &members).unwrap();
        let order = permutation(members.len(), seed);
        let allowed = join.constraints().check(&order);
        let done = join.reorder(&order);
        prop_assert_eq!(allowed.is_ok(), done.is_ok(), "{:?} {:?}", allowed, done);
    }
}

#[test]
fn absurd_depth_and_length_do_not_panic() {
    let depth = 100_000;
    let nests =
        ["{", "(", "[", "}", ")", "struct x {", "\n#if A\n", "\n#else\n", "/*", "\"", "'", "\\\n", "int (*("];
    for nest in nests {
        exercise(nest.repeat(depth).as_bytes());
        exercise(format!("struct s {{ {} }};", nest.repeat(depth)).as_bytes());
    }
    let closed = [("(", ")"), ("{", "}"), ("\n#if A\n", "\n#endif\n"), ("struct {", "};")];
    for (open, close) in closed {
        let nest = format!("{} int a; {}", open.repeat(depth / 50), close.repeat(depth / 50));
        exercise(format!("struct s {{\n{nest}\nint b;\n}};").as_bytes());
    }
    let condition = format!("{}A{}", "!(".repeat(depth), ")".repeat(depth));
    exercise(format!("struct s {{\n#if {condition}\nint a;\n#endif\n}};").as_bytes());
    let chain = "#elif B\nint a;\n".repeat(depth);
    exercise(format!("struct s {{\n#if A\n{chain}#endif\n}};").as_bytes());
}

/// Reorders by the constraints and runs a preprocessor of the test's own over old and new text.
fn check_order(program: &GeneratedStruct, seed: u64) -> Result<(), TestCaseError> {
    let text = program.text();
    let source = SourceText::new(&text);
    let body =
        StructBody::parse(&source, &source.find(&DefinitionQuery::for_name("sample")).unwrap()).unwrap();
    let members = program.members();
    let join = Join::new(&body, &members).unwrap();
    let order = shuffled(&join.constraints(), seed);
    let new = match join.reorder(&order) {
        Ok(reordering) => reordering.edits.apply(&text),
        Err(refusal) => {
            return Err(TestCaseError::fail(format!("{refusal}\n{}", String::from_utf8_lossy(&text))));
        }
    };
    let shown = format!("{}\n---\n{}", String::from_utf8_lossy(&text), String::from_utf8_lossy(&new));
    let declared = active(&text, program.config);
    let wanted: Vec<String> = order.iter().map(|member| members[*member].name.clone().unwrap()).collect();
    prop_assert_eq!(active(&new, program.config), wanted, "{}", shown);
    prop_assert_eq!(declared.len(), members.len());
    for config in 0..8 {
        let (mut old, mut new) = (active(&text, config), active(&new, config));
        old.sort();
        new.sort();
        prop_assert_eq!(old, new, "configuration {} of {}", config, shown);
    }
    prop_assert_eq!(declarations(&text), declarations(&new), "{}", shown);
    Ok(())
}

/// A patch applied to its old text, hunk by hunk.
fn patched(old: &[u8], patch: &[u8]) -> Vec<u8> {
    if patch.is_empty() {
        return old.to_vec();
    }
    let lines: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let mut out = Vec::new();
    let mut at = 0;
    let mut last_is_new = false;
    for line in patch.split_inclusive(|byte| *byte == b'\n').skip(2) {
        match line[0] {
            b'@' => {
                let header = String::from_utf8_lossy(line).into_owned();
                let old = header.split(' ').nth(1).unwrap().trim_start_matches('-').to_owned();
                let (start, count) = old.split_once(',').unwrap_or((&old, "1"));
                let start = start.parse::<usize>().unwrap() - usize::from(count != "0");
                out.extend_from_slice(&lines[at..start].concat());
                at = start;
            }
            b' ' | b'-' => {
                assert_eq!(lines[at].trim_ascii_end(), line[1..].trim_ascii_end());
                if line[0] == b' ' {
                    out.extend_from_slice(lines[at]);
                }
                last_is_new = false;
                at += 1;
            }
            b'+' => {
                out.extend_from_slice(&line[1..]);
                last_is_new = true;
            }
            _ if last_is_new => {
                out.pop();
            }
            _ => {}
        }
    }
    out.extend_from_slice(&lines[at..].concat());
    out
}

/// Where two branches declare the same member, its line shows which: before the edit and in the edited text.
#[test]
fn lines_choose_between_branches() {
    let text =
        b"struct twice {\n#ifdef A\n\tint x;\n#endif\n#ifdef B\n\tint x;\n#endif\n\tint y;\n\tint z;\n};\n";
    let source = SourceText::new(text);
    let body =
        StructBody::parse(&source, &source.find(&DefinitionQuery::for_name("twice")).unwrap()).unwrap();
    for (line, atom) in [(3, "defined(A)"), (6, "defined(B)")] {
        let x = ExpectedMember::named("x").with_line(Some(line));
        let join = Join::new(&body, &[x, ExpectedMember::named("y"), ExpectedMember::named("z")]).unwrap();
        let x = join.statement_of(0).unwrap();
        assert_eq!((x.line, body.conditions(x)[0].to_string().as_str()), (line, atom));
        assert!(!join.reorder(&[2, 0, 1]).unwrap().edits.is_empty());
    }
}

/// Edits of several structs of a file make one patch.
#[test]
fn edits_of_two_structs_merge() {
    let text = b"struct one {\n\tint a;\n\tint b;\n};\n\nstruct two {\n\tint c;\n\tint d;\n};\n";
    let source = SourceText::new(text);
    let mut edits = Edits::default();
    for (name, members) in [("one", ["a", "b"]), ("two", ["c", "d"])] {
        let body =
            StructBody::parse(&source, &source.find(&DefinitionQuery::for_name(name)).unwrap()).unwrap();
        let join = Join::new(&body, &members.map(ExpectedMember::named)).unwrap();
        edits.merge(&join.reorder(&[1, 0]).unwrap().edits).unwrap();
    }
    let new = String::from_utf8(edits.apply(text)).unwrap();
    assert_eq!(new, "struct one {\n\tint b;\n\tint a;\n};\n\nstruct two {\n\tint d;\n\tint c;\n};\n");
}
