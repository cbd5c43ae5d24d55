//! Memory that a program hands out and takes back by functions of its own.

use super::{Effect, Effects, Search};
use crate::clang::{Cursor, Kind, Type};

/// The most classes that are derived from one another.
const DEEPEST: usize = 8;

impl Effects<'_, '_, '_> {
    /// The effects of `operator new` and `operator delete` that take the place of the library's.
    pub(super) fn of_memory(&self) -> Effect {
        if let Some(known) = self.memory.get() {
            return known;
        }
        // Their bodies may use memory, too.
        self.memory.set(Some(Effect::default()));
        let mut effect = Effect::default();
        for own in self.declared().memory.iter().filter_map(|at| self.view.cursor(*at)) {
            let mut search = Search::new(self);
            search.function(own, own.name().contains("delete"));
            effect |= search.found;
        }
        self.memory.set(Some(effect));
        effect
    }
}

impl<'u> Search<'_, '_, '_, 'u> {
    /// The memory of an object of a type is given back, to its class or to a base where they take it.
    pub(super) fn given_back(&mut self, ty: Type<'u>) {
        match self.taker(ty, DEEPEST) {
            Some(own) => self.function(own, true),
            None => self.found |= self.effects.of_memory(),
        }
    }

    /// The `operator delete` of a class.
    fn taker(&self, ty: Type<'u>, depth: usize) -> Option<Cursor<'u>> {
        let depth = depth.checked_sub(1)?;
        let class = ty.canonical().declaration().and_then(Cursor::definition)?;
        let node = self.effects.class(class)?;
        let mut parts = self.view.tree.children(node).filter_map(|part| self.view.cursor(part));
        let is_own = |part: &Cursor<'u>| part.kind() == Kind::Function && part.name() == "operator delete";
        parts
            .find(is_own)
            .or_else(|| self.view.records.bases(ty).into_iter().find_map(|base| self.taker(base, depth)))
    }
}
