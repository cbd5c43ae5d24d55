//! kbuild's `.cmd` files: the command that made a file, its source and what it read (scripts/Kbuild.include,
//! scripts/basic/fixdep.c).

/// A `.cmd` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Saved {
    /// The command as a shell would read it.
    pub(super) command: String,
    /// The file that was compiled.
    pub(super) source: Option<String>,
    /// Other files it read.
    pub(super) reads: Vec<String>,
}

/// Reads a `.cmd` file. `None` if it saves no command.
pub(super) fn parse(text: &str) -> Option<Saved> {
    let mut saved = Saved::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((name, value)) = line.split_once(" := ") else { continue };
        if name.starts_with("savedcmd_") || name.starts_with("cmd_") {
            saved.command = unescape(value);
        } else if name.starts_with("source_") {
            saved.source = Some(value.trim().to_owned());
        } else if name.starts_with("deps_") {
            let more =
                std::iter::once(value).chain(lines.by_ref().take_while(|line| !line.trim().is_empty()));
            saved.reads = more.filter_map(dependency).collect();
        }
    }
    (!saved.command.is_empty()).then_some(saved)
}

/// `  /tree/include/linux/list.h \`; configuration markers are no files that were read.
fn dependency(line: &str) -> Option<String> {
    let name = line.trim().trim_end_matches('\\').trim();
    (!name.is_empty() && !name.starts_with('$')).then(|| name.to_owned())
}

/// make reads the file: `$` is doubled and `#` is a variable.
fn unescape(command: &str) -> String {
    command.replace("$(pound)", "#").replace("\\#", "#").replace("$$", "$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_source_and_dependencies_are_read() {
        let text = "savedcmd_a/b.o := gcc -DX='\\#$$1' -c -o a/b.o /tree/a/b.c ; ./objtool a/b.o\n\n\
                    source_a/b.o := /tree/a/b.c\n\ndeps_a/b.o := \\\n    $(wildcard include/config/FOO) \\\n  \
                    /tree/a/b.h \\\n  include/generated/x.h \\\n\na/b.o: $(deps_a/b.o)\n";
        let saved = parse(text).unwrap();
        assert_eq!(saved.command, "gcc -DX='#$1' -c -o a/b.o /tree/a/b.c ; ./objtool a/b.o");
        assert_eq!(saved.source.as_deref(), Some("/tree/a/b.c"));
        assert_eq!(saved.reads, ["/tree/a/b.h", "include/generated/x.h"]);
        // Kernels before 6.3 say cmd_.
        assert_eq!(parse("cmd_x.o := cc -c x.c\n").unwrap().command, "cc -c x.c");
        assert_eq!(parse("# nothing\n"), None);
    }
}
