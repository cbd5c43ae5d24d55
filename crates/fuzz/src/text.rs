//! C text, as `patch`, `propose` and the search for uses read it.

use fieldline_layout::spec::MemberSpec;
use fieldline_source::mark::GroupToMark;
use fieldline_source::uses::{UnresolvedMacro, UsedStruct, find_definitions, find_uses};
use fieldline_source::{
    ExpectedMember, Join, MemberAnnotation, SourceRefusal, SourceText, StructBody, diff, startup,
};

/// Most structs that are edited.
const EDITED: usize = 16;

/// A C file: every struct of it is parsed, joined with its own members, reordered, annotated and marked.
pub fn source(bytes: &[u8]) {
    let source = SourceText::new(bytes);
    for definition in source.definitions().into_iter().take(EDITED) {
        if let Ok(body) = StructBody::parse(&source, &definition) {
            let _ = edit(&body, bytes);
            let members = names(&body).into_iter().flatten().zip(0..).collect();
            let tag = definition.name().to_owned();
            let subject = UsedStruct { tag, members, prefix_tags: vec!["list_head".to_owned()] };
            let macros = ["INIT", "LIST_HEAD_INIT"].map(str::to_owned);
            let macros = macros.map(|name| UnresolvedMacro { line: 1, name, is_array: false });
            let unresolved = find_uses("file.c", bytes, &subject).unresolved;
            for unresolved in unresolved.iter().chain(&macros).take(EDITED) {
                let _ = find_definitions(bytes, unresolved, &subject);
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

/// Names of all members in the text. In a configuration there may be fewer.
fn names(body: &StructBody<'_, '_>) -> Vec<Option<String>> {
    let declarators = body.statements().iter().flat_map(|statement| statement.declarators());
    declarators.map(|member| member.name.clone()).collect()
}

fn edit(body: &StructBody<'_, '_>, bytes: &[u8]) -> Result<(), SourceRefusal> {
    let mut names = names(body);
    let joined = join(body, &names).or_else(|_| {
        let unconditional = body.statements().iter().filter(|item| body.conditions(item).is_empty());
        let declarators = unconditional.flat_map(|statement| statement.declarators());
        names = declarators.map(|member| member.name.clone()).collect();
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
    let (half, hot) = (names.len() / 2, || "hot".to_owned());
    let annotation =
        MemberAnnotation { member: half, comment: Some(hot()), attribute: Some("__x".to_owned()) };
    let _ = join.annotate(&[annotation]).map(|annotated| annotated.edits.apply(bytes));
    let [begin, end] = ["begin", "end"].map(|side| format!("__cacheline_group_{side}(hot);"));
    let group = GroupToMark { name: hot(), members: half / 2..half + 1, comment: hot(), begin, end };
    let _ = join.mark(&[group]).map(|marked| marked.edits.apply(bytes));
    Ok(())
}

fn join<'b, 's, 't>(
    body: &'b StructBody<'s, 't>,
    names: &[Option<String>],
) -> Result<Join<'b, 's, 't>, SourceRefusal> {
    let expected =
        names.iter().map(|name| ExpectedMember { name: name.clone(), ..ExpectedMember::default() });
    Join::new(body, &expected.collect::<Vec<_>>())
}

/// The declared order reversed, and rotated by one member.
fn orders(count: usize) -> [Vec<usize>; 2] {
    let mut rotated: Vec<usize> = (0..count).collect();
    rotated.rotate_left(count.min(1));
    [(0..count).rev().collect(), rotated]
}
