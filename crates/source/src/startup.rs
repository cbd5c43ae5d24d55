//! Functions that run once when the kernel starts, from which assertions about a struct's groups are called.
//!
//! * `function` finds `__init` functions and the place behind their declarations.
//! * `assertion` writes the function that checks a struct's groups.

mod assertion;
mod function;

pub use assertion::{CheckInvocation, GroupAssertion, write_check_function};
pub use function::{InitFunction, find_init_functions};

use crate::edits::{Edit, Edits};
use crate::refusal::{Result, SourceRefusal};
use crate::scan::SourceText;

/// Puts a function's definition above a startup function and a call of it behind that one's declarations.
/// Fails if the function isn't there, is there twice, or has no place between declarations and `#if` lines.
pub fn insert_call(text: &[u8], function: &str, definition: &str, call: &str) -> Result<Edits> {
    let source = SourceText::new(text);
    let mut all = find_init_functions(&source);
    all.retain(|startup| startup.name == function);
    let startup = match all.as_slice() {
        [] => return Err(SourceRefusal::NotFound(function.to_owned())),
        [startup] => startup,
        _ => {
            let lines = all.iter().map(|startup| startup.line).collect();
            return Err(SourceRefusal::Ambiguous(function.to_owned(), lines));
        }
    };
    let place = startup.call_position.ok_or(SourceRefusal::Unbalanced(startup.line))?;
    let end = line_end(text);
    let above = source.lines().start(startup.head);
    let replacement = format!("{definition}\n").replace('\n', end).into_bytes();
    let mut edits = Edits::from(Edit { range: above..above, replacement });
    edits.insert(call_edit(&source, place, call, end))?;
    Ok(edits)
}

/// Puts a function's definition at the end of a file.
pub fn append_function(text: &[u8], definition: &str) -> Edits {
    let end = line_end(text);
    let gap = if text.ends_with(b"\n") { "\n" } else { "\n\n" };
    let replacement = format!("{gap}{definition}").replace('\n', end).into_bytes();
    Edit { range: text.len()..text.len(), replacement }.into()
}

/// The call before the first statement, with blank lines around it, or behind other checks.
fn call_edit(source: &SourceText, place: function::CallPosition, call: &str, end: &str) -> Edit {
    let lines = source.lines();
    let mut line = place.line;
    let mut written = String::new();
    if place.follows != function::Follows::Check {
        let first = line;
        while source.is_blank(line) && lines.start(line) < source.bytes().len() {
            line += 1;
        }
        if first == line && place.follows == function::Follows::Declaration {
            written.push_str(end);
        }
    }
    written.push_str(&format!("\t{call}{end}"));
    let is_last = source.line(line).trim_ascii_start().starts_with(b"}");
    if place.follows != function::Follows::Check && !is_last {
        written.push_str(end);
    }
    let at = lines.start(line);
    Edit { range: at..at, replacement: written.into_bytes() }
}

fn line_end(text: &[u8]) -> &'static str {
    let first = text.iter().position(|byte| *byte == b'\n').and_then(|end| text.get(..end));
    if first.is_some_and(|first| first.ends_with(b"\r")) { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(text: &str, function: &str) -> Result<String, SourceRefusal> {
        let edits = insert_call(
            text.as_bytes(),
            function,
            "static void __init c(void)\n{\n}\n",
            "s_struct_check();",
        )?;
        Ok(String::from_utf8(edits.apply(text.as_bytes())).unwrap())
    }

    #[test]
    fn the_call_follows_declarations_and_other_checks() {
        let text = "int x;\n\n/* Sets up. */\nvoid __init s_init(void)\n{\n\tint i;\n#ifdef A\n\tstruct s *p = &(struct s){ 1 };\n#endif\n\
                    \n\t/* all */\n\tfor (;;)\n\t\ti++;\n}\n";
        let new = called(text, "s_init").unwrap();
        let want = "int x;\n\nstatic void __init c(void)\n{\n}\n\n/* Sets up. */\nvoid __init s_init(void)\n{\n\tint i;\n#ifdef A\n\
                    \tstruct s *p = &(struct s){ 1 };\n#endif\n\n\ts_struct_check();\n\n\t/* all */\n\tfor (;;)\n\t\ti++;\n}\n";
        assert_eq!(new, want);
        let again = called(&new, "s_init").unwrap();
        assert!(
            again.contains("#endif\n\n\ts_struct_check();\n\ts_struct_check();\n\n\t/* all */\n"),
            "{again}"
        );
    }

    #[test]
    fn functions_without_declarations_begin_with_the_call() {
        let text = "static int __init s_init(void)\n{\n#ifdef A\n\tg();\n#endif\n\treturn 0;\n}\n";
        let new = called(text, "s_init").unwrap();
        assert!(new.contains("{\n\ts_struct_check();\n\n#ifdef A\n"), "{new}");
        let new = called("void __init s_init(void)\n{\n}\n", "s_init").unwrap();
        assert!(new.ends_with("void __init s_init(void)\n{\n\ts_struct_check();\n}\n"), "{new}");
    }

    #[test]
    fn functions_that_are_gone_or_there_twice_are_refused() {
        let text =
            "#ifdef A\nvoid __init s_init(void)\n{\n}\n#else\nvoid __init s_init(void)\n{\n}\n#endif\n";
        assert!(matches!(called(text, "s_init"), Err(SourceRefusal::Ambiguous { .. })));
        assert!(matches!(called(text, "t_init"), Err(SourceRefusal::NotFound { .. })));
        let text = "void __init s_init(void)\n{\n#ifdef A\n\tint i;\n\tg(i);\n#endif\n\tint j;\n}\n";
        assert!(matches!(called(text, "s_init"), Err(SourceRefusal::Unbalanced(1))));
    }
}
