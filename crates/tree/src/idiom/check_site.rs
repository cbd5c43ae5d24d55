//! Where checks of groups go: a function that runs at startup, in the file that uses the struct most.

use crate::header::{self, FileChange, GroupCheck, Header, HeaderChange};
use crate::idiom::GroupIdiom;
use crate::idiom::options::CheckIn;
use anyhow::{Context, Result, bail};
use fieldline_source::startup::{self, CheckInvocation, GroupAssertion, InitFunction};
use fieldline_source::{Edits, SourceText};
use std::path::Path;

/// Folders of a kernel tree that hold code of every build, then those of drivers.
const FOLDERS: [&[&str]; 2] = [
    &["block", "crypto", "fs", "init", "io_uring", "ipc", "kernel", "lib", "mm", "net", "security"],
    &["drivers", "sound", "virt"],
];
/// Larger files are tables.
const LARGEST: u64 = 1 << 20;
/// Most files that are read, of those that use a struct most.
const FILES: usize = 8;
/// Words of a file that may be a module: it can't have initcalls beside its own.
const MODULE: [&[u8]; 2] = [b"module_init(", b"MODULE_LICENSE("];

impl GroupIdiom<'_> {
    /// Writes the checks of a struct. Gives what changes, and a sentence on it or on why nothing does.
    pub fn write_check(
        &self,
        changes: &mut Vec<HeaderChange>,
        header: &str,
        name: &str,
        assertions: &[GroupAssertion],
    ) -> Result<(Option<FileChange>, String)> {
        let site = match &self.args.check_in {
            Some(asked) => Some(open_named_site(self.tree, asked)?),
            None => find_site(self.tree, header, name)?,
        };
        let Some(site) = site else {
            let text = "No file with a function that runs at startup uses the struct, so that nothing asserts the groups; \
                    --check-in names a place.";
            return Ok((None, text.to_owned()));
        };
        let invocation =
            if site.caller.is_some() { CheckInvocation::Called } else { CheckInvocation::Initcall };
        let check = GroupCheck {
            caller: site.caller.clone(),
            definition: startup::write_check_function(name, assertions, invocation),
            call: format!("{name}_struct_check();"),
        };
        let run = match &site.caller {
            Some(caller) => format!("called from {caller}()"),
            None => "an initcall".to_owned(),
        };
        let path = site.header.path.clone();
        let text = header::current_text(changes, &site.header)?;
        if contains(&text, format!("{name}_struct_check(").as_bytes()) {
            return Ok((None, format!("{path} has a {name}_struct_check() that should assert the groups.")));
        }
        let file = header::add_change(changes, site.header, &Edits::default(), Some(check))?;
        let what = "asserts when built that members are in their groups.";
        Ok((Some(file), format!("{name}_struct_check() in {path}, {run}, {what}")))
    }
}

/// A file that takes checks.
struct CheckSite {
    header: Header,
    /// The function to call them from; none if they are an initcall.
    caller: Option<String>,
}

/// The function the user names.
fn open_named_site(tree: &Path, asked: &CheckIn) -> Result<CheckSite> {
    let place = || format!("--check-in {}:{}", asked.file, asked.function);
    let text = fieldline_files::read(&tree.join(&asked.file)).with_context(place)?;
    let mut all = startup::find_init_functions(&SourceText::new(&text));
    all.retain(|startup| startup.name == asked.function);
    match all.as_slice() {
        [function] if function.accepts_calls() => {}
        [_] => bail!("{}: its declarations and #if lines leave no place for a call", place()),
        [] => bail!("{}: the file has no __init function of that name without parameters", place()),
        many => bail!("{}: {} functions have that name", place(), many.len()),
    }
    let header = Header { path: asked.file.clone(), text };
    Ok(CheckSite { header, caller: Some(asked.function.clone()) })
}

/// The file with a function to call from that names the struct most, else the first with an initcall.
fn find_site(tree: &Path, header: &str, name: &str) -> Result<Option<CheckSite>> {
    let is_public = header.starts_with("include/") || header.contains("/include/");
    if header.ends_with(".c") {
        let text = fieldline_files::read(&tree.join(header)).with_context(|| header.to_owned())?;
        return Ok(choose_site(vec![Header { path: header.to_owned(), text }]));
    }
    if !is_public {
        let folder = header.rsplit_once('/').map_or("", |(folder, _)| folder);
        return Ok(choose_site(find_users(tree, &[folder], name)?));
    }
    if let Some((arch, _)) = header.split_once("/include/").filter(|(arch, _)| arch.starts_with("arch/")) {
        return Ok(choose_site(find_users(tree, &[arch], name)?));
    }
    for folders in FOLDERS {
        let users = find_users(tree, folders, name)?;
        if !users.is_empty() {
            return Ok(choose_site(users));
        }
    }
    Ok(None)
}

/// The files of some folders that name a struct most, the first of them most often.
fn find_users(tree: &Path, folders: &[&str], name: &str) -> Result<Vec<Header>> {
    let mut files = Vec::new();
    for folder in folders {
        collect_sources(tree, folder, &mut files).with_context(|| tree.join(folder).display().to_string())?;
    }
    let needle = format!("struct {name}");
    let counted = fieldline_parallel::map(&files, |path| {
        // A file that vanishes or can't be read uses nothing.
        let text = fieldline_files::read(&tree.join(path)).unwrap_or_default();
        let count = count_mentions(&text, needle.as_bytes());
        (count > 0).then(|| (count, path.clone()))
    });
    let mut counted: Vec<(usize, String)> = counted.into_iter().flatten().collect();
    counted.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    let read = counted.into_iter().take(FILES).map(|(_, path)| {
        let text = fieldline_files::read(&tree.join(&path)).with_context(|| path.clone())?;
        Ok(Header { path, text })
    });
    read.collect()
}

/// C files below a folder, those of tests apart.
fn collect_sources(tree: &Path, folder: &str, files: &mut Vec<String>) -> std::io::Result<()> {
    if !tree.join(folder).is_dir() {
        return Ok(());
    }
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.contains("test") || name.starts_with('.') {
            continue;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if kind.is_dir() {
            folders.push(path);
        } else if kind.is_file() && path.ends_with(".c") && entry.metadata()?.len() <= LARGEST {
            files.push(path);
        } else if path.ends_with(".c") {
            fieldline_files::check_entry(&entry.path())?;
        }
    }
    folders.iter().try_for_each(|folder| collect_sources(tree, folder, files))
}

/// How often words stand in a text, not as the beginning of longer ones.
fn count_mentions(text: &[u8], words: &[u8]) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let starts = memchr::memmem::find_iter(text, words);
    starts.filter(|at| !text.get(at + words.len()).is_some_and(is_word)).count()
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

fn choose_site(users: Vec<Header>) -> Option<CheckSite> {
    let callers: Vec<Option<InitFunction>> = users.iter().map(|user| find_caller(&user.text)).collect();
    let is_sure = |found: &Option<InitFunction>| found.as_ref().is_some_and(|found| !found.is_conditional);
    let is_core = |user: &Header| !MODULE.iter().any(|word| contains(&user.text, word));
    let at = callers.iter().position(is_sure);
    let own = || users.iter().position(is_core).map(|at| (at, None));
    let any = || callers.iter().position(Option::is_some);
    let named = |at: usize| (at, callers.get(at).cloned().flatten().map(|caller| caller.name));
    let (at, caller) = at.map(named).or_else(own).or_else(|| any().map(named))?;
    Some(CheckSite { header: users.into_iter().nth(at)?, caller })
}

/// The function of a file to call from: under no condition, not static, the last.
fn find_caller(text: &[u8]) -> Option<InitFunction> {
    if !contains(text, b"__init") {
        return None;
    }
    let all = startup::find_init_functions(&SourceText::new(text));
    let count = |name: &str| all.iter().filter(|other| other.name == name).count();
    let fit = all.iter().filter(|found| found.accepts_calls() && found.name.contains("init"));
    let single = fit.filter(|found| count(&found.name) == 1);
    single.max_by_key(|function| (!function.is_conditional, !function.is_static, function.line)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(path: &str, text: &str) -> Header {
        Header { path: path.to_owned(), text: text.as_bytes().to_vec() }
    }

    fn chosen(files: &[(&str, &str)]) -> Option<(String, Option<String>)> {
        let users = files.iter().map(|(path, text)| header(path, text)).collect();
        choose_site(users).map(|home| (home.header.path, home.caller))
    }

    #[test]
    fn the_last_function_that_always_runs_is_called_from() {
        let text = "void __init a_init(void)\n{\n}\nvoid __init b_init(void)\n{\n}\nstatic int __init c_init(void)\n{\n}\n\
                    #ifdef X\nvoid __init d_init(void)\n{\n}\n#endif\nvoid __init e_setup(void)\n{\n}\n";
        assert_eq!(chosen(&[("a.c", text)]), Some(("a.c".to_owned(), Some("b_init".to_owned()))));
    }

    #[test]
    fn without_such_a_function_it_is_an_initcall_outside_modules() {
        let conditional = "#ifdef X\nvoid __init d_init(void)\n{\n}\n#endif\n";
        let module = "MODULE_LICENSE(\"GPL\");\n";
        assert_eq!(chosen(&[("m.c", module), ("a.c", conditional)]), Some(("a.c".to_owned(), None)));
        let under = format!("{conditional}{module}");
        assert_eq!(chosen(&[("m.c", &under)]), Some(("m.c".to_owned(), Some("d_init".to_owned()))));
        assert_eq!(chosen(&[("m.c", module)]), None);
    }

    #[test]
    fn longer_names_are_other_structs() {
        assert_eq!(count_mentions(b"struct rq *a; struct rq_flags b; struct rq;", b"struct rq"), 2);
    }

    #[test]
    fn headers_are_checked_where_they_are_used() {
        let tree = tempfile::tempdir().unwrap();
        let init = "void __init x_init(void)\n{\n}\n";
        for (path, uses) in [
            ("arch/a/kernel/x.c", 1),
            ("drivers/y.c", 9),
            ("kernel/one.c", 2),
            ("kernel/two.c", 3),
            ("kernel/two_test.c", 9),
            ("net/own/z.c", 1),
        ] {
            std::fs::create_dir_all(tree.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(tree.path().join(path), format!("{init}{}", "struct s *p;\n".repeat(uses)))
                .unwrap();
        }
        for (header, place) in [
            ("include/linux/s.h", "kernel/two.c"),
            ("arch/a/include/asm/s.h", "arch/a/kernel/x.c"),
            ("net/own/s.h", "net/own/z.c"),
            ("kernel/one.c", "kernel/one.c"),
        ] {
            let home = find_site(tree.path(), header, "s").unwrap().unwrap();
            assert_eq!(
                (home.header.path.as_str(), home.caller.as_deref()),
                (place, Some("x_init")),
                "{header}"
            );
        }
        assert!(find_site(tree.path(), "include/linux/t.h", "t").unwrap().is_none());
    }
}
