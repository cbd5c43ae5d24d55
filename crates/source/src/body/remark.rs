//! Comments about places: which members they hold, and which only speak of places.

use super::comment::is_layout_comment;
use super::demand::{PlaceDemand, find_demand, find_mention};
use super::statement::{BodyPiece, FixedPlace, MemberShape, PieceKind, PlaceComment, Statement};
use super::wording::{PlaceKind, Sentence, WordClass};
use crate::definition::StructDefinition;
use crate::scan::{SourceText, TokenKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Words around a demand that a message shows.
const CONTEXT_WORDS: usize = 4;
/// Most letters of a comment that a list shows.
const SHOWN: usize = 120;

/// The demands and remarks of a body's comments.
#[derive(Debug, Default)]
pub(super) struct CommentReadings {
    /// Statements that keep their places.
    pub(super) pins: BTreeMap<usize, FixedPlace>,
    /// Comments that speak of places without a demand.
    pub(super) comments: Vec<PlaceComment>,
}

/// How many members a demand is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DemandReach {
    /// This many, from its own on.
    Count(usize),
    /// All up to the next blank line or comment.
    Paragraph,
}

/// Reads the comments of a body.
pub(super) struct CommentReader<'r, 's, 't> {
    source: &'s SourceText<'t>,
    definition: &'r StructDefinition,
    statements: &'r [Statement],
    pieces: &'r [BodyPiece],
    /// Names of members and of the struct, in lower case.
    names: BTreeSet<String>,
    readings: CommentReadings,
}

impl<'r, 's, 't> CommentReader<'r, 's, 't> {
    pub(super) fn new(
        source: &'s SourceText<'t>,
        definition: &'r StructDefinition,
        statements: &'r [Statement],
        pieces: &'r [BodyPiece],
    ) -> Self {
        let declared =
            statements.iter().flat_map(Statement::declarators).filter_map(|found| found.name.as_ref());
        let names = declared.chain(&definition.tag).chain(&definition.typedefs);
        let names = names.map(|name| name.to_lowercase()).collect();
        Self { source, definition, statements, pieces, names, readings: CommentReadings::default() }
    }

    pub(super) fn read(mut self) -> CommentReadings {
        let names = std::mem::take(&mut self.names);
        let mut next = 0;
        for (index, piece) in self.pieces.iter().enumerate() {
            let own = match &piece.kind {
                PieceKind::Statements(own) => {
                    let first = own.first().copied().unwrap_or(next);
                    first..own.last().map_or(first, |last| last + 1)
                }
                _ => next..next,
            };
            next = own.end;
            for comment in &piece.comments {
                self.read_comment(*comment, &own, index, &names);
            }
        }
        self.read_inner_comments(&names);
        self.read_comment_above(&names);
        self.readings
    }

    /// A comment of a piece whose statements are these: none if it stands alone.
    fn read_comment(&mut self, token: usize, own: &Range<usize>, piece: usize, names: &BTreeSet<String>) {
        let text = self.source.text(token);
        let sentences = Sentence::split(text, names);
        let mut is_held = false;
        for sentence in &sentences {
            let Some(demand) = find_demand(sentence) else { continue };
            is_held = true;
            for at in self.held_statements(sentence, demand, own, piece) {
                self.pin(at, token, sentence, demand);
            }
        }
        if !is_held && !is_layout_comment(text) {
            self.list(token, &sentences, own, piece);
        }
    }

    /// The statements that a demand is about.
    fn held_statements(
        &self,
        sentence: &Sentence<'_>,
        demand: PlaceDemand,
        own: &Range<usize>,
        piece: usize,
    ) -> BTreeSet<usize> {
        let is_alone = own.is_empty();
        let mut held: BTreeSet<usize> = own.clone().collect();
        let is_about_rest = demand.kind == PlaceKind::Relative;
        match demand_reach(sentence, demand) {
            DemandReach::Paragraph if !is_about_rest => held.extend(self.paragraph(piece)),
            DemandReach::Count(count) => {
                let more = count.saturating_sub(own.len());
                held.extend((own.end..self.statements.len()).take(if is_alone { count } else { more }));
            }
            DemandReach::Paragraph => {
                held.extend((own.end..self.statements.len()).take(usize::from(is_alone)))
            }
        }
        // What stands above keeps its place too: behind it in `nothing below this`, beside it in `adjacent to
        // the one above`.
        let is_next_to = |at| sentence.word(at) == "next" && sentence.word(at + 1) == "to";
        let words = |list: &[&str]| {
            (0..sentence.len()).any(|at| list.contains(&sentence.word(at)) && !is_next_to(at))
        };
        let is_beside = matches!(demand.kind, PlaceKind::Beside | PlaceKind::Order | PlaceKind::Line);
        let follows = words(&["follow", "follows", "followed"]) && demand.kind == PlaceKind::Relative;
        let is_last = own.end >= self.statements.len();
        if (is_alone && (is_last || words(&["above", "preceding", "previous"])))
            || follows
            || (is_beside && words(&["above", "previous", "preceding", "after"]))
        {
            held.extend(own.start.checked_sub(1));
        }
        if is_beside && words(&["below", "next", "following", "before"]) && sentence_names_none(sentence) {
            held.extend(Some(own.end).filter(|next| *next < self.statements.len()));
        }
        if is_beside || demand.kind == PlaceKind::Relative {
            held.extend(sentence.names().flat_map(|name| self.declaring(name)));
        }
        held
    }

    /// Statements that declare a member of this name in lower case.
    fn declaring(&self, name: &str) -> Vec<usize> {
        let declares = |statement: &Statement| {
            let mut names = statement.declarators().iter().filter_map(|found| found.name.as_deref());
            names.any(|own| own.to_lowercase() == name)
        };
        (0..).zip(self.statements).filter(|(_, statement)| declares(statement)).map(|(at, _)| at).collect()
    }

    /// Statements right below a piece up to a blank line or another comment.
    fn paragraph(&self, piece: usize) -> Vec<usize> {
        let is_comment = self.pieces.get(piece).is_some_and(|piece| piece.kind == PieceKind::Comment);
        let mut below = self.pieces.iter().skip(piece + 1).enumerate();
        let mut found = Vec::new();
        while let Some((number, BodyPiece { kind: PieceKind::Statements(own), blank_before, .. })) =
            below.next().map(|(number, piece)| (number, piece.clone()))
        {
            // A comment that stands alone is about the paragraph behind the blank line.
            let begins = is_comment && number == 0;
            let piece = self.pieces.get(piece + 1 + number);
            if !begins && (blank_before > 0 || piece.is_some_and(|piece| self.begins_with_comment(piece))) {
                break;
            }
            found.extend(own);
        }
        found
    }

    /// Whether the first line of a piece is a comment of its own.
    fn begins_with_comment(&self, piece: &BodyPiece) -> bool {
        piece.comments.first().is_some_and(|comment| {
            let start = self.source.start(*comment);
            self.source.lines().index(start) == piece.lines.start && self.source.begins_line(start)
        })
    }

    /// Comments inside an unnamed struct or union: its members are the outer struct's.
    fn read_inner_comments(&mut self, names: &BTreeSet<String>) {
        for (at, statement) in self.statements.iter().enumerate() {
            let is_unnamed = |shape| shape == MemberShape::Aggregate;
            if !statement.declarators().iter().any(|member| member.name.is_none() && is_unnamed(member.shape))
            {
                continue;
            }
            let inside = statement.tokens.clone();
            for token in inside.filter(|token| self.source.kind(*token) == Some(TokenKind::Comment)) {
                let sentences = Sentence::split(self.source.text(token), names);
                let found = sentences.iter().find_map(|sentence| Some((sentence, find_demand(sentence)?)));
                if let Some((sentence, demand)) = found {
                    self.pin(at, token, sentence, demand);
                }
            }
        }
    }

    /// The comment right above the definition: what it says of members, and of all of them.
    fn read_comment_above(&mut self, names: &BTreeSet<String>) {
        let Some(token) = comment_above(self.source, self.definition.keyword) else { return };
        for (member, text) in doc_sections(&String::from_utf8_lossy(self.source.text(token))) {
            for sentence in Sentence::split(text.as_bytes(), names) {
                let Some(demand) = find_demand(&sentence) else { continue };
                let mut held: Vec<usize> =
                    member.iter().flat_map(|name| self.declaring(&name.to_lowercase())).collect();
                match demand.kind {
                    // The order of something else, unless it names members.
                    PlaceKind::Order if member.is_none() && is_about_members(&sentence) => {
                        held.extend(0..self.statements.len());
                    }
                    _ if member.is_none() => {
                        held.extend(sentence.names().flat_map(|name| self.declaring(name)))
                    }
                    _ => {}
                }
                held.into_iter().for_each(|at| self.pin(at, token, &sentence, demand));
            }
        }
    }

    fn pin(&mut self, at: usize, comment: usize, sentence: &Sentence<'_>, demand: PlaceDemand) {
        let reason = format!("its comment says \"{}\"", sentence.excerpt(demand.at, CONTEXT_WORDS));
        let line = self.source.line_of(comment);
        self.readings.pins.entry(at).or_insert(FixedPlace { line, reason });
    }

    /// Lists a comment that speaks of places.
    fn list(&mut self, token: usize, sentences: &[Sentence<'_>], own: &Range<usize>, piece: usize) {
        let found = sentences.iter().filter_map(|sentence| Some((sentence, find_mention(sentence)?)));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return;
        }
        let is_wide = found.iter().any(|(_, mention)| mention.is_wide);
        let is_about_several = sentences.iter().any(|sentence| sentence.has_any(WordClass::Several));
        let last = if is_about_several { self.paragraph(piece).last().copied() } else { None };
        let end = last.map_or(own.end, |last| own.end.max(last + 1));
        let (line, text) = (self.source.line_of(token), shorten(self.source.text(token)));
        self.readings.comments.push(PlaceComment { line, text, statements: own.start..end, is_wide });
    }
}

fn is_about_members(sentence: &Sentence<'_>) -> bool {
    let words =
        ["field", "fields", "member", "members", "variables", "elements", "struct", "structure", "layout"];
    (0..sentence.len()).any(|at| words.contains(&sentence.word(at)) || sentence.is_name(at))
}

fn sentence_names_none(sentence: &Sentence<'_>) -> bool {
    sentence.names().next().is_none()
}

fn demand_reach(sentence: &Sentence<'_>, demand: PlaceDemand) -> DemandReach {
    let these = (0..sentence.len()).filter(|at| matches!(sentence.word(*at), "these" | "those" | "the"));
    let counted = std::iter::once(demand.at).chain(these).find_map(|at| parse_count(sentence.word(at + 1)));
    match counted {
        Some(count) => DemandReach::Count(count),
        None if sentence.has_any(WordClass::Several) => DemandReach::Paragraph,
        None => DemandReach::Count(1),
    }
}

fn parse_count(word: &str) -> Option<usize> {
    match word {
        "two" | "2" => Some(2),
        "three" | "3" => Some(3),
        "four" | "4" => Some(4),
        _ => None,
    }
}

/// The comment that ends right above a definition, or on its line, if any.
fn comment_above(source: &SourceText, keyword: usize) -> Option<usize> {
    let is_typedef = |at: &usize| source.text(*at) == b"typedef";
    let first = keyword.checked_sub(1).filter(is_typedef).unwrap_or(keyword);
    let comment = first.checked_sub(1).filter(|at| source.kind(*at) == Some(TokenKind::Comment))?;
    let end = source.lines().index(source.start(comment) + source.text(comment).len().saturating_sub(1));
    (source.lines().index(source.start(first)) <= end + 1).then_some(comment)
}

/// The parts of a comment above a definition, each with the member it is about (kernel-doc: `@member: text`).
fn doc_sections(comment: &str) -> Vec<(Option<String>, String)> {
    let mut sections = vec![(None, String::new())];
    for line in comment.lines() {
        let line = line.trim_start_matches([' ', '\t', '*', '/']);
        let member = line.strip_prefix('@').and_then(|rest| rest.split_once(':')).map(|(name, _)| name);
        if line.is_empty() || member.is_some() {
            sections.push((member.map(str::to_owned), String::new()));
        }
        if let Some((_, text)) = sections.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    sections
}

/// A comment's text on one line, without its marks.
fn shorten(comment: &[u8]) -> String {
    let text = String::from_utf8_lossy(comment);
    let text = text.trim_matches(['/', '*', ' ', '\t', '\n', '\r', '!']);
    let words = text.split_whitespace().filter(|word| !matches!(*word, "*" | "//"));
    let text = words.collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_reach(comment: &str) -> Option<DemandReach> {
        let source = SourceText::new(comment.as_bytes());
        let names = BTreeSet::from(["inet_sock".to_owned()]);
        let sentences = Sentence::split(source.text(0), &names);
        sentences.iter().find_map(|sentence| Some(demand_reach(sentence, find_demand(sentence)?)))
    }

    #[test]
    fn rules_pin() {
        for comment in [
            "/* must be first */",
            "/* Must be the very first member */",
            "/* has to be the first member of inet_sock */",
            "/* Keep last */",
            "/* keep this last */",
            "/* WARNING: on x86 this MUST be at the end of this structure */",
            "/*\n * must be at the end of the struct\n */",
            "/* Do not put anything below here! */",
            "/* must be last entry: flexible array */",
            "/* must be at offset 0 */",
            "/* do not reorder */",
        ] {
            assert_eq!(parse_reach(comment), Some(DemandReach::Count(1)), "{comment}");
        }
        assert_eq!(
            parse_reach("/* sk and pinet6 has to be the first two members of it */"),
            Some(DemandReach::Count(2))
        );
        assert_eq!(parse_reach("/* These elements must be at the end */"), Some(DemandReach::Paragraph));
    }

    /// Names of the members that a struct's text pins.
    fn pinned(text: &str) -> Vec<String> {
        let source = SourceText::new(text.as_bytes());
        let definition = source.find(&crate::DefinitionQuery::for_name("s")).unwrap();
        let body = crate::StructBody::parse(&source, &definition).unwrap();
        let pinned = body.statements().iter().filter(|statement| statement.pin.is_some());
        pinned.map(|statement| statement.label(&source)).collect()
    }

    #[test]
    fn comments_below_the_last_member_pin_it() {
        let text =
            "struct s {\n\tint a;\n\tint b;\n\n\t/*\n\t * Do not put anything below here!\n\t */\n};\n";
        assert_eq!(pinned(text), ["`b`"]);
        assert_eq!(
            pinned(&text.replace("Do not put anything below here", "Statistics are elsewhere")),
            [] as [&str; 0]
        );
    }

    #[test]
    fn comments_inside_unnamed_members_pin_them() {
        let text = "struct s {\n\tunion {\n\t\tstruct {\n\t\t\t/* These two members must be first. */\n\t\t\t\
                    int *next;\n\t\t};\n\t\tlong l;\n\t};\n\tint a;\n};\n";
        assert_eq!(pinned(text), ["an unnamed member"]);
        assert_eq!(pinned(&text.replace("};\n\tint a", "} u;\n\tint a")), [] as [&str; 0]);
    }

    #[test]
    fn other_comments_do_not() {
        for comment in [
            "/* first entry of the list */",
            "/* must be held when the last user leaves */",
            "/* last time we looked */",
            "/* must be set before the start of the page */",
            "/* Per entity load average tracking. */",
            "/* must be the start of the page */",
            "/* pfn where the scanner should start */",
        ] {
            assert_eq!(parse_reach(comment), None, "{comment}");
        }
    }

    #[test]
    fn demands_are_known_by_what_their_words_do() {
        for comment in [
            "/* always the first entry */",
            "/* nothing before this */",
            "/* please just don't add nothing before this first member */",
            "/* New fields should be inserted before this. */",
            "/* Must be last, add new statistics above */",
            "/* keep at end */",
            "/* vvv--- must be last ---vvv */",
            "/* This field must not be in the scheduler word above due to wakeups */",
            "/* must fit on one cacheline */",
            "/* Make sure it does not share a cache line with any other */",
            "/* keep separate from the lookup area */",
            "/* these members must not be reordered */",
            "/* The order of the fields matters. */",
            "/* Don't change the layout */",
            "/* Only the fields above are zeroed. */",
            "/* no space is allocated for the fields below this point */",
            "/* All fields that follow must be initialized before use */",
        ] {
            assert!(parse_reach(comment).is_some(), "{comment}");
        }
        for comment in [
            "/* There is no need to put them into separate cachelines. */",
            "/* keeps below-average tasks alive */",
            "/* the buffer can't be placed below this address */",
            "/* allocations scanned but not moved */",
            "/* the page cannot be moved, so it is copied */",
            "/* stored in no particular order */",
            "/* in order to keep the lock */",
            "/* must not call this before the device is ready */",
            "/* Put into a separate cache line */",
            "/* rowmarks listed in the top level plan */",
        ] {
            assert_eq!(parse_reach(comment), None, "{comment}");
        }
    }

    #[test]
    fn demands_reach_the_members_they_are_about() {
        for (body, names) in [
            ("int a;\n\t/* keep these adjacent */\n\tint b;\n\tint c;\n\n\tint d;", &["`b`", "`c`"][..]),
            ("int a;\n\t/* keep b and d together */\n\tint b;\n\tint c;\n\tint d;", &["`b`", "`d`"]),
            ("int a;\n\tint b; /* must immediately follow a */\n\tint c;", &["`a`", "`b`"]),
            ("int a;\n\tint b; /* must be next to the one above */\n\tint c;", &["`a`", "`b`"]),
            ("int a;\n\n\t/* Must be at the end. */\n\n\tint b;", &["`b`"]),
            ("int a;\n\n\t/* Nothing above may move. */\n\n\tint b;", &["`a`", "`b`"]),
            ("int a; /* these 2 need to be together */\n\tint b;\n\tint c;", &["`a`", "`b`"]),
        ] {
            assert_eq!(pinned(&format!("struct s {{\n\t{body}\n}};\n")), names, "{body}");
        }
    }

    #[test]
    fn the_comment_above_a_struct_counts() {
        let text = "/**\n * struct s - a thing\n * @a: its size\n * @b: must be last\n *\n * Text.\n */\n\
                    struct s {\n\tint a;\n\tint b;\n};\n";
        assert_eq!(pinned(text), ["`b`"]);
        let order = text.replace("Text.", "The order of the members matters.");
        assert_eq!(pinned(&order), ["`a`", "`b`"]);
        assert_eq!(
            pinned(&text.replace("Text.", "must be the first member").replace("must be last", "")),
            [] as [&str; 0]
        );
    }

    #[test]
    fn comments_on_places_are_listed() {
        let text = "struct s {\n\tint a;\n\t/* protects the fields below */\n\tint b;\n\tint c;\n\n\tint d; /* next user */\n\
                    \tint e; /* own cacheline */\n\
                    \t/* we put highly modified fields at the end */\n\tint f;\n\tint g; /* fields of it, sent at the end of a day */\n};\n";
        let source = SourceText::new(text.as_bytes());
        let definition = source.find(&crate::DefinitionQuery::for_name("s")).unwrap();
        let body = crate::StructBody::parse(&source, &definition).unwrap();
        let found: Vec<_> =
            body.place_comments().iter().map(|found| (found.line, found.statements.clone())).collect();
        assert_eq!(found, [(3, 1..3), (8, 4..5), (9, 5..7)]);
        assert_eq!(body.place_comments()[0].text, "protects the fields below");
    }
}
