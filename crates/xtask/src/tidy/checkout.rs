//! The crates, their files, and the names in each file, without tests.

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

/// A checkout.
pub(super) struct Checkout {
    pub(super) root: PathBuf,
    /// By name, those of the workspace and the fuzz targets.
    pub(super) crates: BTreeMap<String, CrateSources>,
}

/// A crate.
pub(super) struct CrateSources {
    /// Names of the project's crates that it depends on, tests apart.
    pub(super) imports: Vec<String>,
    /// By path of modules; the crate's root has none.
    pub(super) files: BTreeMap<Vec<String>, SourceFile>,
}

/// A source file.
#[derive(Default)]
pub(super) struct SourceFile {
    pub(super) path: PathBuf,
    pub(super) uses: Vec<ImportedName>,
    /// Paths of at least two parts that code names outside of `use`.
    pub(super) paths: Vec<Vec<String>>,
    /// Single names that code has outside of `use`.
    pub(super) identifiers: Vec<String>,
    pub(super) public_types: Vec<String>,
    /// Names and lines of functions.
    pub(super) functions: Vec<(String, usize)>,
    /// Lines without tests.
    pub(super) lines: usize,
}

/// One name that a `use` brings.
pub(super) struct ImportedName {
    pub(super) is_public: bool,
    pub(super) path: Vec<String>,
    pub(super) name: String,
}

impl Checkout {
    /// Reads the sources below `crates`.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut crates = BTreeMap::new();
        for entry in std::fs::read_dir(root.join("crates"))? {
            let folder = entry?.path();
            let name = folder.file_name().context("no name")?.to_string_lossy().into_owned();
            if folder.join("Cargo.toml").exists() {
                crates.insert(name, CrateSources::read(&folder)?);
            }
        }
        Ok(Self { root: root.to_owned(), crates })
    }
}

impl CrateSources {
    fn read(folder: &Path) -> Result<Self> {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))?;
        let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let imports = section.lines().filter_map(|line| line.strip_prefix("fieldline-"));
        let imports = imports.filter_map(|rest| rest.split([' ', '.']).next()).map(str::to_owned).collect();
        let src = folder.join("src");
        let mut files = BTreeMap::new();
        for path in sources(&src).into_iter().filter(|path| !is_test_path(path)) {
            let module = path.strip_prefix(&src)?.with_extension("");
            let parts = module.iter().map(|part| part.to_string_lossy().into_owned());
            let mut module: Vec<String> = parts.collect();
            if matches!(module.last().map(String::as_str), Some("lib" | "main" | "mod")) {
                module.pop();
            }
            files.insert(module, SourceFile::read(&path)?);
        }
        Ok(Self { imports, files })
    }
}

fn is_test_path(path: &Path) -> bool {
    path.ends_with("tests.rs") || path.ends_with("testing.rs") || path.iter().any(|part| part == "tests")
}

/// All `.rs` files below a folder, in order; build folders apart.
pub(super) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

impl SourceFile {
    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let parsed = syn::parse_file(&text).with_context(|| path.display().to_string())?;
        let mut file = Self { path: path.to_owned(), lines: text.lines().count(), ..Self::default() };
        for item in &parsed.items {
            if is_test(attributes(item)) {
                let span = item.span();
                file.lines -= span.end().line - span.start().line + 1;
            } else {
                file.add(item);
            }
        }
        Ok(file)
    }

    fn add(&mut self, item: &Item) {
        match item {
            Item::Use(item) => {
                self.add_use(&item.tree, !matches!(item.vis, Visibility::Inherited), &mut Vec::new());
            }
            other => {
                self.public_types.extend(public_type(other));
                self.visit_item(other);
                self.add_tokens(quote::ToTokens::to_token_stream(other));
            }
        }
    }

    fn add_use(&mut self, tree: &UseTree, is_public: bool, path: &mut Vec<String>) {
        let mut add = |last: &str, name: String| {
            let mut path = path.clone();
            path.extend((last != "self").then(|| last.to_owned()));
            let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
            self.uses.push(ImportedName { is_public, path, name });
        };
        match tree {
            UseTree::Path(item) => {
                path.push(item.ident.to_string());
                self.add_use(&item.tree, is_public, path);
                path.pop();
            }
            UseTree::Name(item) => add(&item.ident.to_string(), item.ident.to_string()),
            UseTree::Rename(item) => add(&item.ident.to_string(), item.rename.to_string()),
            UseTree::Glob(_) => add("*", "*".to_owned()),
            UseTree::Group(item) => item.items.iter().for_each(|tree| self.add_use(tree, is_public, path)),
        }
    }

    /// Names and paths, those in the arguments of macros too.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            if matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ':') {
                colons += 1;
                continue;
            }
            if colons != 2 || !matches!(token, TokenTree::Ident(_)) {
                self.end_path(&mut path);
            }
            match token {
                TokenTree::Ident(name) => path.push(name.to_string()),
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                _ => {}
            }
            colons = 0;
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Vec<String>) {
        match path.len() {
            0 => {}
            1 => self.identifiers.append(path),
            _ => self.paths.push(std::mem::take(path)),
        }
    }

    /// Counts from a function's name to the end of its body.
    fn add_function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let lines = body.span().end().line - signature.span().start().line + 1;
        self.functions.push((signature.ident.to_string(), lines));
    }
}

impl<'a> Visit<'a> for SourceFile {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.add_function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.add_function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Const(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is for tests alone: `#[cfg(test)]`, also with a feature beside it.
fn is_test(attributes: &[Attribute]) -> bool {
    let has_test =
        |list: &str| list.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "test");
    let mut lists = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    lists.any(|item| item.meta.require_list().is_ok_and(|list| has_test(&list.tokens.to_string())))
}

fn public_type(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.to_string())
}
