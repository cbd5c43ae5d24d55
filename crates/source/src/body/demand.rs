//! Whether a sentence of a comment demands that members keep their places, or only speaks of places.

use super::wording::{PlaceKind, Sentence, WordClass, is_among};

/// Most words between a demand and a place of which other words stand between.
const FAR: usize = 12;
/// Most words between an arrangement and the word that makes it matter.
const NEAR: usize = 7;

/// A demand on places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceDemand {
    /// Index of the word for the place.
    pub(super) at: usize,
    pub(super) kind: PlaceKind,
}

/// The demand of a sentence, if it states one: words that demand or forbid, connected with a place.
pub(super) fn find_demand(sentence: &Sentence<'_>) -> Option<PlaceDemand> {
    let by_place = (0..sentence.len()).find_map(|at| {
        let kind = sentence.place_word(at)?;
        is_demanded(sentence, at, kind).then_some(PlaceDemand { at, kind })
    });
    let by_move = || (0..sentence.len()).find(|at| forbids_moving(sentence, *at));
    let by_order = || (0..sentence.len()).find(|at| is_arrangement_demanded(sentence, *at));
    by_place.or_else(|| by_move().or_else(by_order).map(|at| PlaceDemand { at, kind: PlaceKind::Order }))
}

fn is_demanded(sentence: &Sentence<'_>, at: usize, kind: PlaceKind) -> bool {
    if is_place_of_members(sentence, at, kind) && is_governed(sentence, at, kind) {
        return true;
    }
    let demand = || (at.saturating_sub(FAR)..at).rev().find(|word| sentence.is_demand(*word));
    let names_parts = |from: usize| {
        (from..at).any(|word| {
            sentence.has(word, WordClass::Several) || sentence.names().any(|name| name == sentence.word(word))
        })
    };
    match kind {
        PlaceKind::Line => demand().is_some(),
        PlaceKind::Beside => demand().is_some_and(names_parts),
        PlaceKind::Edge => is_edge(sentence, at) && demand().is_some_and(names_parts),
        PlaceKind::Relative => is_kept_out(sentence, at) || is_boundary(sentence, at),
        _ => false,
    }
}

/// Whether words lead back from a place to one that demands it, and nothing else stands between.
fn is_governed(sentence: &Sentence<'_>, at: usize, kind: PlaceKind) -> bool {
    let is_outside = matches!(kind, PlaceKind::Relative | PlaceKind::Edge);
    for before in (0..at).rev() {
        let forbids = sentence.has(before, WordClass::Negation);
        if sentence.is_demand(before) || (forbids && kind == PlaceKind::Relative) {
            return true;
        }
        // `add new fields above` asks by itself.
        let begins = before == 0 || sentence.is_end(before - 1) || sentence.word(before - 1) == "please";
        if is_outside && begins && sentence.has(before, WordClass::Adding) {
            return true;
        }
        if !forbids && !sentence.is_link(before) {
            return false;
        }
    }
    false
}

/// Whether a place is one of the struct's, as far as the words behind it show: not `must be the last user`.
fn is_place_of_members(sentence: &Sentence<'_>, at: usize, kind: PlaceKind) -> bool {
    let is_part = |at| sentence.has(at, WordClass::Part) || sentence.has(at, WordClass::Number);
    match kind {
        PlaceKind::Rank if is_part(at + 1) => {
            is_of_struct(sentence, at + 2) || is_of_type(sentence, at + 2) || is_said_of_member(sentence, at)
        }
        PlaceKind::Rank => sentence.is_end(at + 1) || sentence.has(at + 1, WordClass::Function),
        PlaceKind::Edge => is_edge(sentence, at),
        PlaceKind::Offset => {
            sentence.has(at + 1, WordClass::Number)
                || matches!(sentence.word(at + 1), "zero")
                || matches!(at.checked_sub(1).map_or("", |at| sentence.word(at)), "same" | "fixed" | "this")
        }
        PlaceKind::Relative => is_from_member(sentence, at + 1),
        PlaceKind::Order => {
            let before = at.checked_sub(1).map_or("", |at| sentence.word(at));
            is_among("this that same declared fixed given exact specific following following their", before)
        }
        PlaceKind::Beside | PlaceKind::Line => true,
    }
}

/// Whether a place is seen from a member: `before this field`, `above here`, not `before this address`.
fn is_from_member(sentence: &Sentence<'_>, start: usize) -> bool {
    let determiners = "the this that these those all any every each both other first last 1st";
    let count = (start..sentence.len()).take_while(|at| is_among(determiners, sentence.word(*at))).count();
    let is_joined = |at: usize| sentence.is_end(at) || sentence.has(at, WordClass::Function);
    let noun = start + count;
    let is_part = sentence.has(noun, WordClass::Part) && !sentence.is_end(noun);
    if is_part {
        is_joined(noun + 1) || sentence.has(noun + 1, WordClass::Part)
    } else {
        is_joined(noun)
            && (count > 0
                || sentence.is_end(noun)
                || is_among("because otherwise since see may must can", sentence.word(noun)))
    }
}

/// Whether words from an index on, if they say of what, mean the struct: `of this struct`, not `of the list`.
fn is_of_struct(sentence: &Sentence<'_>, mut at: usize) -> bool {
    if !matches!(sentence.word(at), "of" | "in" | "on") {
        return true;
    }
    at += 1;
    while matches!(sentence.word(at), "the" | "a" | "an" | "this" | "any" | "our" | "its") {
        at += 1;
    }
    sentence.has(at, WordClass::Part)
        || sentence.word(at).contains('_')
        || sentence.has(at + 1, WordClass::Part)
}

/// Whether the demand on a place is about a member by name: `the count field must be the first field in ...`.
fn is_said_of_member(sentence: &Sentence<'_>, at: usize) -> bool {
    let demand = (0..at).rev().find(|word| sentence.is_demand(*word));
    let subject = demand.and_then(|demand| demand.checked_sub(1));
    subject.is_some_and(|word| sentence.is_name(word) || matches!(sentence.word(word), "field" | "member"))
}

/// `of` and a word without an article, as types are named.
fn is_of_type(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.word(at) == "of" && !matches!(sentence.word(at + 1), "the" | "a" | "an")
}

/// `at the end` of the struct, not `should start` nor `the start of the page` nor `the top level`.
fn is_edge(sentence: &Sentence<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| sentence.word(at));
    let is_noun = sentence.is_end(at + 1) || sentence.has(at + 1, WordClass::Function);
    matches!(before, "the" | "at" | "very") && is_noun && is_of_struct(sentence, at + 1)
}

/// `must not be in the word above`: what must be somewhere, and other words before the place.
fn is_kept_out(sentence: &Sentence<'_>, at: usize) -> bool {
    let places = |word: usize| {
        let be = if sentence.has(word + 1, WordClass::Negation) { word + 2 } else { word + 1 };
        let stays = is_among("be stay remain go come sit live reside lie", sentence.word(be));
        sentence.is_demand(word) && stays && is_among("in on at within near", sentence.word(be + 1))
    };
    is_among("above below", sentence.word(at)) && (at.saturating_sub(FAR)..at).any(places)
}

/// `only the fields above are zeroed`, `no space for fields below this point`: a rule for all on one side.
fn is_boundary(sentence: &Sentence<'_>, at: usize) -> bool {
    let word = |back: usize| at.checked_sub(back).map_or("", |at| sentence.word(at));
    let is_side = is_among("above below follow before after", sentence.word(at));
    let sides = "fields members elements variables vars everything anything all things";
    let noun = if word(1) == "that" || word(1) == "which" { 2 } else { 1 };
    let is_closed =
        !matches!(sentence.word(at), "before" | "after") || matches!(sentence.word(at + 1), "this" | "here");
    let mut quantity = at.saturating_sub(noun + 2)..at;
    let is_rule =
        (0..sentence.len()).any(|word| sentence.is_demand(word) || sentence.has(word, WordClass::Negation));
    let is_all = quantity.any(|word| is_among("only all everything anything", sentence.word(word)));
    is_side && is_closed && is_among(sides, word(noun)) && (is_rule || is_all)
}

/// `do not move this`, `these fields must not be reordered`; not what is said of others: `the page can't be
/// moved`.
fn forbids_moving(sentence: &Sentence<'_>, at: usize) -> bool {
    if !sentence.has(at, WordClass::Moving) {
        return false;
    }
    let is_helper = |word: usize| {
        let is_verb =
            is_among("do be ever please get to may can could might will would", sentence.word(word));
        is_verb || sentence.is_demand(word) || sentence.has(word, WordClass::Negation)
    };
    let helpers = (0..at).rev().take_while(|word| is_helper(*word)).count();
    let begin = at - helpers;
    let forbids = |word: usize| {
        sentence.has(word, WordClass::Negation) && !matches!(sentence.word(word), "without" | "no")
    };
    let is_passive = begin < at && sentence.word(at - 1) == "be";
    // `scanned and not moved` tells; `do not move` and `must not be moved` forbid.
    let is_past = sentence.word(at).ends_with("ed") && !is_passive;
    let subject = begin.checked_sub(1);
    // `nothing above may move`
    let is_place =
        subject.is_some_and(|word| is_among("above below here before after behind", sentence.word(word)));
    let negated = if is_place { subject.and_then(|word| word.checked_sub(1)) } else { subject };
    let is_nothing = negated.is_some_and(|word| is_among("nothing none", sentence.word(word)));
    if !is_nothing && !(begin..at).any(forbids) || is_past {
        return false;
    }
    let is_own =
        is_nothing || subject.is_none_or(|word| sentence.is_end(word) || sentence.has(word, WordClass::Part));
    let object = if sentence.word(at + 1) == "the" { at + 2 } else { at + 1 };
    let takes_parts = sentence.is_end(at + 1) || sentence.has(object, WordClass::Part);
    let is_joined = sentence.has(at + 1, WordClass::Function);
    if is_passive { is_own } else { takes_parts || (is_own && is_joined) }
}

/// `the order of these fields matters`, `if you change the layout`, `must match the layout of`.
fn is_arrangement_demanded(sentence: &Sentence<'_>, at: usize) -> bool {
    let word = sentence.word(at);
    let before = |count: usize| at.checked_sub(count).map_or("", |at| sentence.word(at));
    let is_none = matches!(before(1), "no" | "any" | "particular")
        || before(1) == "in" && sentence.word(at + 1) == "to";
    if !sentence.has(at, WordClass::Arrangement) || is_none || sentence.is_name(at) {
        return false;
    }
    let mut around = at.saturating_sub(NEAR)..sentence.len().min(at + NEAR + 1);
    let is_denied = |word: usize| matches!(sentence.word(word), "doesn't" | "not" | "isn't" | "irrelevant");
    if (at + 1..around.end).any(is_denied) {
        return false;
    }
    let changes = (at.saturating_sub(3)..at).any(|word| sentence.has(word, WordClass::Changing));
    let members = "field fields member members variables elements struct structure";
    let is_of_members = around.clone().any(|word| is_among(members, sentence.word(word)));
    let is_said = at + 1 < sentence.len() && {
        let verb = if is_among("is are", sentence.word(at + 1)) { at + 2 } else { at + 1 };
        is_among(
            "matter matters important significant critical crucial relevant mandated",
            sentence.word(verb),
        )
    };
    let matches = "match matches matching mirror mirrors identical sync reflect reflects";
    let is_matched = word == "layout" && around.clone().any(|word| is_among(matches, sentence.word(word)));
    let is_mattering = is_of_members && around.any(|word| sentence.has(word, WordClass::Mattering));
    changes || is_said || is_matched || is_mattering
}

/// A sentence that speaks of places without a demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceMention {
    /// Index of the word.
    pub(super) at: usize,
    /// Whether it is about all that stands before or behind, not only about neighbours.
    pub(super) is_wide: bool,
}

/// The word of a sentence that is about a place of members or bytes, if there is one.
pub(super) fn find_mention(sentence: &Sentence<'_>) -> Option<PlaceMention> {
    let wide = (0..sentence.len()).find(|at| is_pointer(sentence, *at));
    let wide = wide.map(|at| PlaceMention { at, is_wide: true });
    wide.or_else(|| {
        let at = (0..sentence.len()).find(|at| is_loose(sentence, *at))?;
        Some(PlaceMention { at, is_wide: false })
    })
}

fn is_pointer(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_noun = sentence.has(at + 1, WordClass::Part);
    match sentence.word(at) {
        "follow" => sentence.is_end(at + 1) || is_noun,
        _ => sentence.has(at, WordClass::Pointer),
    }
}

/// `the` and an end of the struct, where members are put: `written fields are put at the end`.
fn is_edge_of_members(sentence: &Sentence<'_>, at: usize) -> bool {
    let edge = if sentence.word(at) == "the" { at + 1 } else { at };
    let has_members =
        (0..at).any(|word| is_among("field fields member members variables vars", sentence.word(word)));
    has_members
        && is_among("end beginning start top bottom front", sentence.word(edge))
        && sentence.is_end(edge + 1)
}

fn is_loose(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_line = |at| matches!(sentence.word(at), "line" | "lines" | "word");
    let is_part = |at| {
        is_among(
            "field fields member members element elements entry entries variable variables struct",
            sentence.word(at),
        )
    };
    let counts = is_among("next previous prior first last two three four other 2 3 4", sentence.word(at));
    sentence.has(at, WordClass::Loose)
        || sentence.has(at, WordClass::CacheLineWord)
        || (sentence.has(at, WordClass::LineOwner) && is_line(at + 1))
        || (counts && is_part(at + 1))
        || (sentence.word(at) == "next" && sentence.word(at + 1) == "to")
        || (is_among("at to", sentence.word(at)) && is_edge_of_members(sentence, at + 1))
        || (counts && sentence.is_end(at + 1) && sentence.has_any(WordClass::Several))
}
