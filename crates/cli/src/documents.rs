//! Documents of a kernel tree that list a struct's members.

use std::path::Path;

/// Where the kernel keeps tables of members by cacheline (Documentation/networking/net_cachelines/index.rst).
const TABLES: &str = "Documentation/networking/net_cachelines";

/// A remark for each table of a struct, in order of names: a table's first row names its struct, dots before it.
pub(crate) fn remarks(tree: &Path, name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(tree.join(TABLES)).into_iter().flatten().flatten();
    let mut files: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    files.sort();
    let place = |file: String| {
        let text = std::fs::read(tree.join(TABLES).join(&file)).ok()?;
        let text = String::from_utf8_lossy(&text);
        let is_row = |line: &str| line.split_whitespace().any(|word| word.strip_prefix("..") == Some(name));
        let line = text.lines().position(is_row)? + 1;
        Some(format!("{TABLES}/{file}:{line}: lists its members by cacheline: bring it into step"))
    };
    files.into_iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_struct_is_found_by_its_first_row() {
        let tree = tempfile::tempdir().unwrap();
        assert!(remarks(tree.path(), "box").is_empty());
        let folder = tree.path().join(TABLES);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("b.rst"), "title\n\n..struct   ..box\nint   lid\n").unwrap();
        std::fs::write(folder.join("a.rst"), "..struct   ..boxes\nbox  box\n").unwrap();
        let expected = "Documentation/networking/net_cachelines/b.rst:3: lists its members by cacheline: bring it into step";
        assert_eq!(remarks(tree.path(), "box"), [expected]);
    }
}
