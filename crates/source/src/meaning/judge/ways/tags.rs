//! Macros of the system that are handed a struct's tag: `TAILQ_LAST(head, jobs)` may take anything for a `struct jobs`.

use crate::body::attribute::is_shouted;
use crate::meaning::code::evaluator::Evaluator;

impl<'t> Evaluator<'_, '_, 't> {
    /// Tags that a macro is handed which nobody defines here, in code: what it makes of them isn't known.
    pub(in crate::meaning) fn tags_for_macro(&mut self, name: &[u8], end: usize) {
        let world = self.world();
        let is_read = world.is_complete && !self.is_cpp && is_shouted(name) && !self.function.is_empty();
        if !is_read || world.functions.contains_key(name) {
            return;
        }
        // `TAILQ_HEAD(jobs, job) all;` declares something.
        let declares =
            self.cursor.word(end).is_some() && matches!(self.cursor.text(end + 1), b";" | b"=" | b"," | b"[");
        for at in (self.cursor.at + 1..end).filter(|_| !declares) {
            let word = self.cursor.text(at);
            let is_alone = matches!(self.cursor.text(at - 1), b"(" | b",")
                && matches!(self.cursor.text(at + 1), b")" | b",");
            let is_tag = world.subjects.contains_key(word)
                && !world.typedefs.contains_key(word)
                && !world.globals.contains_key(word)
                && !world.functions.contains_key(word)
                && self.local(word).is_none();
            // `STAILQ_LAST(head, job, link)` asks for the offset of the member, wherever that is.
            let names_member =
                || (at + 1..end).any(|other| world.member(word, self.cursor.text(other)).is_some());
            if is_alone && is_tag && !names_member() {
                let what = "a macro that isn't defined here is handed its tag".to_owned();
                self.tell_whole(word, what);
            }
        }
    }
}
