//! Names that a text declares, with the words of their types: enough to follow a struct through typedefs,
//! macros, members, variables and functions, and too many rather than too few.
//!
//! Nothing is expanded, and both branches of an `#if` count. Bodies of functions declare nothing that other
//! files know, so they are passed over.

use crate::scan::{SourceText, TokenKind, is_word, tokenize};

/// Scopes within scopes that are opened.
const DEEPEST: usize = 64;

/// Kinds of declared names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredKind {
    /// By `typedef`.
    Type,
    /// A variable or a function.
    Value,
    /// A member of the record of this name.
    Member(String),
    /// By `#define`.
    Macro,
}

/// A declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredName {
    /// The name.
    pub name: String,
    /// Its kind.
    pub kind: DeclaredKind,
    /// Words of its type, of a macro those of its definition.
    pub words: Vec<String>,
    /// Whether it is a pointer to its type, an array of pointers or a function that gives one.
    pub is_pointer: bool,
}

/// The names that a text declares outside of functions.
pub fn declared_names(source: &SourceText<'_>) -> Vec<DeclaredName> {
    let mut scan = Scan { source, found: Vec::new() };
    scan.scope(0, source.tokens().len(), None, 0);
    scan.found
}

struct Scan<'s, 't> {
    source: &'s SourceText<'t>,
    found: Vec<DeclaredName>,
}

/// A declaration up to the token that is looked at.
#[derive(Default)]
struct Statement<'t> {
    is_typedef: bool,
    /// Words of the type, and of declarators only the last.
    words: Vec<&'t [u8]>,
    /// How many of them are the type's, once a declarator has ended.
    type_words: Option<usize>,
    is_pointer: bool,
    /// Whether the declarator has its name.
    is_named: bool,
    has_value: bool,
}

/// Kinds of text in braces.
enum Opened {
    Record,
    Scope,
    Other,
}

impl<'t> Scan<'_, 't> {
    /// Declarations between two tokens, in the body of a record if one is named.
    fn scope(&mut self, begin: usize, end: usize, holder: Option<&str>, depth: usize) {
        let mut statement = Statement::default();
        let mut at = begin;
        while at < end {
            match self.source.kind(at) {
                Some(TokenKind::Directive) => self.directive(at),
                Some(TokenKind::Word) => self.word(at, &mut statement),
                Some(TokenKind::Punct(punct)) => {
                    at = self.punct((at, punct), &mut statement, (holder, depth));
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn word(&self, at: usize, statement: &mut Statement<'t>) {
        let word = self.source.text(at);
        match word {
            b"typedef" => statement.is_typedef = true,
            _ if !statement.has_value => statement.words.push(word),
            _ => {}
        }
    }

    /// Gives the last token it has used.
    fn punct(
        &mut self,
        (at, punct): (usize, u8),
        statement: &mut Statement<'t>,
        (holder, depth): (Option<&str>, usize),
    ) -> usize {
        let close = self.source.partner(at).unwrap_or(at);
        match punct {
            b'*' => statement.is_pointer = true,
            b'(' if self.source.is_punct(at + 1, b'*') || self.source.is_punct(at + 1, b'^') => {
                statement.is_pointer = true;
            }
            b'(' => {
                self.declare_called(at, close, statement, holder);
                return close;
            }
            b'[' => {
                self.declare(statement, holder);
                return close;
            }
            b'{' => return self.brace((at, close), statement, (holder, depth)),
            b',' => {
                self.declare(statement, holder);
                statement.next_declarator();
            }
            b'=' | b':' => {
                self.declare(statement, holder);
                statement.has_value = punct == b'=';
            }
            b')' => self.declare(statement, holder),
            b';' => {
                self.declare(statement, holder);
                *statement = Statement::default();
            }
            _ => {}
        }
        at
    }

    /// A word in front of a bracket is a function's name, or an attribute's within the type.
    fn declare_called(
        &mut self,
        at: usize,
        close: usize,
        statement: &mut Statement<'t>,
        holder: Option<&str>,
    ) {
        let is_within = matches!(self.source.kind(close + 1), Some(TokenKind::Word | TokenKind::Punct(b'*')));
        let word = statement.words.last().copied().unwrap_or_default();
        // `struct a m __aligned(8)`: a type and a name stand in front of it.
        let is_behind_name = holder.is_some() && statement.words.len() > statement.tag_at().unwrap_or(0) + 2;
        let is_attribute = word.starts_with(b"__") && (is_within || is_behind_name)
            || word == b"__attribute__"
            || word == b"alignas";
        if is_attribute || at == 0 {
            statement.words.pop();
        } else {
            self.declare(statement, holder);
        }
    }

    fn brace(
        &mut self,
        (open, close): (usize, usize),
        statement: &mut Statement<'t>,
        (holder, depth): (Option<&str>, usize),
    ) -> usize {
        match self.opened(open, statement) {
            _ if depth >= DEEPEST || close <= open => {}
            Opened::Record => {
                let name = self.record_name(close, statement);
                self.scope(open + 1, close, name.as_deref().or(holder), depth + 1);
                if let Some(name) = name.filter(|_| statement.tag().is_none()) {
                    // What follows is declared with the type that has just been defined.
                    self.push(&name, statement, DeclaredKind::Type);
                }
            }
            Opened::Scope => {
                self.scope(open + 1, close, None, depth + 1);
                *statement = Statement::default();
            }
            Opened::Other if statement.has_value || statement.is_enum() => {}
            Opened::Other => *statement = Statement::default(),
        }
        close.max(open)
    }

    fn opened(&self, open: usize, statement: &Statement<'t>) -> Opened {
        let is_record = |word: &&[u8]| matches!(*word, b"struct" | b"union" | b"class");
        let is_behind_bracket = open.checked_sub(1).is_some_and(|before| self.source.is_punct(before, b')'));
        if statement.has_value || statement.is_enum() {
            Opened::Other
        } else if statement.words.iter().any(is_record) && !(statement.is_named && is_behind_bracket) {
            Opened::Record
        } else if statement.words.iter().any(|word| matches!(*word, b"namespace" | b"extern"))
            && !is_behind_bracket
        {
            Opened::Scope
        } else {
            Opened::Other
        }
    }

    /// A record's tag, or of one without the name that follows its body.
    fn record_name(&self, close: usize, statement: &Statement<'t>) -> Option<String> {
        if let Some(tag) = statement.tag() {
            return Some(lossy(tag));
        }
        let end = (close + 64).min(self.source.tokens().len());
        let mut behind = (close + 1..end).take_while(|at| !self.source.is_punct(*at, b';'));
        let name = behind.find_map(|at| self.source.word(at))?;
        statement.is_typedef.then(|| lossy(name))
    }

    fn declare(&mut self, statement: &mut Statement<'t>, holder: Option<&str>) {
        let has_type = statement.type_words.unwrap_or(1) < statement.words.len();
        let is_tag = statement.tag_at().is_some_and(|at| at + 1 == statement.words.len());
        let is_tag = is_tag || matches!(statement.words.as_slice(), [.., b"enum", _]);
        if statement.is_named || !has_type || is_tag || statement.has_value {
            return;
        }
        statement.is_named = true;
        let Some(name) = statement.words.pop() else { return };
        statement.type_words.get_or_insert(statement.words.len());
        let kind = match holder {
            _ if statement.is_typedef => DeclaredKind::Type,
            Some(holder) => DeclaredKind::Member(holder.to_owned()),
            None => DeclaredKind::Value,
        };
        self.push(&lossy(name), statement, kind);
    }

    fn push(&mut self, name: &str, statement: &Statement<'t>, kind: DeclaredKind) {
        let words = statement.words.iter().map(|word| lossy(word)).collect();
        let is_pointer = statement.is_pointer;
        self.found.push(DeclaredName { name: name.to_owned(), kind, words, is_pointer });
    }

    fn directive(&mut self, at: usize) {
        let text = self.source.text(at);
        let mut words = words_of(text);
        if words.next() != Some(b"define") {
            return;
        }
        let Some(name) = words.next() else { return };
        let kind = DeclaredKind::Macro;
        let words = words.map(lossy).collect();
        self.found.push(DeclaredName { name: lossy(name), kind, words, is_pointer: true });
    }
}

impl<'t> Statement<'t> {
    fn next_declarator(&mut self) {
        self.words.truncate(self.type_words.unwrap_or(self.words.len()));
        (self.is_named, self.has_value, self.is_pointer) = (false, false, false);
    }

    fn is_enum(&self) -> bool {
        self.words.contains(&b"enum".as_slice())
    }

    /// The tag behind `struct`, attributes apart.
    fn tag(&self) -> Option<&'t [u8]> {
        self.words.get(self.tag_at()?).copied()
    }

    fn tag_at(&self) -> Option<usize> {
        let is_record = |word: &&[u8]| matches!(*word, b"struct" | b"union" | b"class");
        let at = self.words.iter().position(is_record)?;
        (at + 1..self.words.len()).find(|at| !self.words[*at].starts_with(b"__"))
    }
}

fn lossy(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

/// The words of a preprocessor line.
fn words_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let tokens = tokenize(text.get(1..).unwrap_or_default()).into_iter();
    let words = tokens.filter(|token| token.kind == TokenKind::Word);
    words.filter_map(move |token| text.get(token.start + 1..token.end + 1))
}

/// All words of a text, comments and literals too, each as often as it stands there.
pub fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_word(*byte))
        .filter(|word| word.first().is_some_and(|first| !first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let found = declared_names(&SourceText::new(text.as_bytes()));
        let shown = found.iter().map(|found| {
            let kind = match &found.kind {
                DeclaredKind::Type => "type".to_owned(),
                DeclaredKind::Value => "value".to_owned(),
                DeclaredKind::Member(holder) => format!("in {holder}"),
                DeclaredKind::Macro => "macro".to_owned(),
            };
            let star = if found.is_pointer && found.kind != DeclaredKind::Macro { "*" } else { "" };
            format!("{star}{} {kind}: {}", found.name, found.words.join(" "))
        });
        shown.collect()
    }

    #[test]
    fn declarations_have_the_words_of_their_types() {
        for (text, expected) in [
            (
                "extern struct a one, *two[3];",
                vec!["one value: extern struct a", "*two value: extern struct a"],
            ),
            ("typedef struct a *ap;", vec!["*ap type: struct a"]),
            (
                "typedef struct a { int x; } a_t, *ap;",
                vec!["x in a: int", "a_t type: struct a", "*ap type: struct a"],
            ),
            ("typedef struct { struct b y; } a_t;", vec!["y in a_t: struct b", "a_t type: struct"]),
            ("struct a *get(struct b *x, int y) __must_check;", vec!["*get value: struct a"]),
            (
                "static inline struct a *get(int x)\n{ struct c *y; return 0; }\nint z;",
                vec!["*get value: static inline struct a", "z value: int"],
            ),
            (
                "struct h { struct a *(*make)(int); struct a __rcu *next; union { struct a in; }; };",
                vec!["*make in h: struct a", "*next in h: struct a __rcu", "in in h: struct a"],
            ),
            (
                "struct h { struct a m __aligned(8); struct a __aligned(4) n; };",
                vec!["m in h: struct a", "n in h: struct a"],
            ),
            (
                "#define EACH(x) \\\n\tfor_each(x, struct a, node)\n",
                vec!["EACH macro: x for_each x struct a node"],
            ),
            (
                "struct a table[] = { { 1, f(2) }, }, other;",
                vec!["table value: struct a", "other value: struct a"],
            ),
            ("enum e { X, Y }; extern \"C\" { struct a q; }", vec!["q value: struct a"]),
            ("class c { a_t m; void f(a_t x) { a_t y; } };", vec!["m in c: a_t", "f in c: void"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn any_bytes_declare_something_or_nothing() {
        for text in ["{{{{{{", "}}}", "struct {", "typedef struct a {", "((((*", "#define", "= { ; } , x"] {
            found(text);
        }
        found(&"struct a {".repeat(5000));
    }
}
