//! C text: what `patch`, `propose` and the search for uses do with it.

use fieldline_layout::spec::MemberSpec;
use fieldline_source::mark::GroupToMark;
use fieldline_source::uses::{UnresolvedMacro, UsedStruct, find_definitions, find_uses};
use fieldline_source::{
    ExpectedMember, Join, MemberAnnotation, SourceRefusal, SourceText, StructBody, diff, startup,
};

/// Structs that are edited.
const EDITED: usize = 16;

/// A C file: every struct of it is parsed, joined with its own members, reordered, annotated and marked.
pub fn source(bytes: &[u8]) {
    let source = SourceText::new(bytes);
    for definition in source.definitions().into_iter().take(EDITED) {
        if let Ok(body) = StructBody::parse(&source, &definition) {
            let _ = edit(&body, bytes);
            let members = names(&body).into_iter().flatten();
            let members = (0..).zip(members).map(|(at, name)| (name, at)).collect();
            let tag = definition.name().to_owned();
            let subject = UsedStruct { tag, members, prefix_tags: vec!["list_head".to_owned()] };
            let awaited = find_uses("file.c", bytes, &subject).unresolved;
            let macros = ["INIT", "LIST_HEAD_INIT"].map(|name| UnresolvedMacro {
                line: 1,
                name: name.to_owned(),
                is_array: false,
            });
            for name in awaited.iter().chain(&macros).take(EDITED) {
                let _ = find_definitions(bytes, name, &subject);
            }
        }
    }
    for startup in startup::find_init_functions(&source) {
        if let Ok(edits) = startup::insert_call(bytes, &startup.name, "static void x(void)\n{\n}\n", "x();") {
            let _ = edits.apply(bytes);
        }
    }
    let _ = startup::append_function(bytes, "int x;\n").apply(bytes);
    let _ = std::str::from_utf8(bytes).map(MemberSpec::parse);
}

/// Names of all members in the text, of which a configuration may have fewer.
fn names(body: &StructBody<'_, '_>) -> Vec<Option<String>> {
    let declarators = body.statements().iter().flat_map(|statement| statement.declarators());
    declarators.map(|member| member.name.clone()).collect()
}

fn edit(body: &StructBody<'_, '_>, bytes: &[u8]) -> Result<(), SourceRefusal> {
    let mut names = names(body);
    // Without the conditional members, if not with them.
    let joined = join(body, &names).or_else(|_| {
        let plain = body.statements().iter().filter(|statement| body.conditions(statement).is_empty());
        names =
            plain.flat_map(|statement| statement.declarators()).map(|member| member.name.clone()).collect();
        join(body, &names)
    });
    let join = joined?;
    let _ = join.constraints();
    for order in orders(names.len()) {
        if let Ok(reordering) = join.reorder(&order) {
            let new = reordering.edits.apply(bytes);
            let _ = diff::unified("file.h", bytes, &new);
        }
    }
    let half = names.len() / 2;
    let heading =
        MemberAnnotation { member: half, comment: Some("hot".to_owned()), attribute: Some("__x".to_owned()) };
    let _ = join.annotate(&[heading]).map(|annotated| annotated.edits.apply(bytes));
    let marking = GroupToMark {
        name: "hot".to_owned(),
        members: half / 2..half + 1,
        comment: "hot".to_owned(),
        begin: "__cacheline_group_begin(hot);".to_owned(),
        end: "__cacheline_group_end(hot);".to_owned(),
    };
    let _ = join.mark(&[marking]).map(|marked| marked.edits.apply(bytes));
    Ok(())
}

fn join<'b, 's, 't>(
    body: &'b StructBody<'s, 't>,
    names: &[Option<String>],
) -> Result<Join<'b, 's, 't>, SourceRefusal> {
    let expected = names.iter().map(|name| ExpectedMember { name: name.clone(), line: None });
    Join::new(body, &expected.collect::<Vec<_>>())
}

/// Backwards, and the first member last.
fn orders(count: usize) -> [Vec<usize>; 2] {
    let mut rotated: Vec<usize> = (0..count).collect();
    rotated.rotate_left(count.min(1));
    [(0..count).rev().collect(), rotated]
}
