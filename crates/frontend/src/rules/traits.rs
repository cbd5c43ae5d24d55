//! Types whose layout a program asks the compiler for, and objects that name what templates become.

use crate::clang::{Cursor, Identity, Kind, Type};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::FxHashMap;

/// Questions whose answer may be another one in another order: also parts of longer names.
const QUESTIONS: [&str; 4] = [
    "has_unique_object_representations",
    "is_layout_compatible",
    "is_pointer_interconvertible",
    "is_corresponding_member",
];

pub(super) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let mut traits = Traits { view, templates: FxHashMap::default(), found };
    for index in 0..view.tree.len() {
        traits.node(index);
    }
}

struct Traits<'v, 's, 'u, 'f> {
    view: View<'v, 's, 'u>,
    /// Templates, and whether their text asks.
    templates: FxHashMap<Identity, bool>,
    found: &'f mut Findings<'u>,
}

impl<'u> Traits<'_, '_, 'u, '_> {
    fn node(&mut self, index: Index) {
        let Some(node) = self.view.cursor(index) else { return };
        match self.view.tree.kind(index) {
            Kind::Name => {
                self.named(index, node);
                self.asked(index, node);
                self.class(node, node.referenced().and_then(Cursor::holder));
            }
            Kind::TypeName | Kind::Unexposed => self.asked(index, node),
            Kind::Variable | Kind::Member | Kind::Call => {
                self.class(node, node.ty().canonical().declaration());
                self.class(node, node.referenced().and_then(Cursor::holder));
            }
            Kind::Function | Kind::Constructor if self.view.tree.parent(index).is_none() => self.made(node),
            Kind::TemplateValue if !node.is_of_system() => self.names(node, node.ty()),
            _ => {}
        }
    }

    /// `std::is_layout_compatible_v<T, U>`, outside of templates.
    fn asked(&mut self, index: Index, node: Cursor<'u>) {
        let tree = self.view.tree;
        let is_question = match tree.kind(index) {
            Kind::Unexposed => {
                let mut parts = tree.children(index).peekable();
                let is_of_types =
                    parts.peek().is_some() && parts.all(|part| tree.kind(part) == Kind::TypeName);
                is_of_types && node.words().iter().any(|word| is_question(word))
            }
            _ => is_question(&node.name()),
        };
        if !is_question {
            return;
        }
        let is_of_type = tree.kind(index) == Kind::TypeName;
        let mut whole = tree.parent(index).filter(|_| is_of_type).unwrap_or(index);
        while let Some(parent) = tree.parent(whole)
            && matches!(tree.kind(parent), Kind::Unexposed | Kind::Call | Kind::Paren)
        {
            whole = parent;
        }
        for part in std::iter::once(whole).chain(tree.below(whole)) {
            let ty = self.view.cursor(part).map(Cursor::ty);
            ty.into_iter().for_each(|ty| self.hold(node, ty));
        }
    }

    /// A function that a template becomes.
    fn made(&mut self, made: Cursor<'u>) {
        self.class(made, made.holder());
        let template = made.template().filter(|_| !made.is_of_system());
        if template.is_some_and(|template| self.asks(template)) {
            made.template_arguments().into_iter().for_each(|ty| self.hold(made, ty));
        }
    }

    /// A class that a template becomes.
    fn class(&mut self, node: Cursor<'u>, class: Option<Cursor<'u>>) {
        let made = class.and_then(|class| Some((class, class.template().filter(|own| !own.is_of_system())?)));
        if let Some((class, _)) = made.filter(|(_, template)| self.asks(*template)) {
            class.ty().template_arguments().into_iter().for_each(|ty| self.hold(node, ty));
        }
    }

    fn asks(&mut self, template: Cursor<'u>) -> bool {
        let asks = || template.words().iter().any(|word| is_question(word));
        *self.templates.entry(template.identity()).or_insert_with(asks)
    }

    fn hold(&mut self, node: Cursor<'u>, ty: Type<'u>) {
        let own = ty.pointee().or_else(|| ty.member_class()).unwrap_or(ty);
        for subject in self.view.records.within(own) {
            let why = "the compiler is asked for its layout".to_owned();
            self.found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }

    /// `describe<object>()`, whatever type the template has for it.
    fn named(&mut self, index: Index, node: Cursor<'u>) {
        let arguments =
            self.view.tree.children(index).filter(|part| self.view.tree.kind(*part) == Kind::Name);
        let types: Vec<Type<'u>> =
            arguments.filter_map(|argument| self.view.cursor(argument)).map(Cursor::ty).collect();
        types.into_iter().for_each(|ty| self.names(node, ty));
    }

    fn names(&mut self, node: Cursor<'u>, ty: Type<'u>) {
        for subject in self.view.records.within(ty) {
            let why =
                "its objects are arguments of templates: names of what these become show its members in turn";
            let why = why.to_owned();
            self.found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }
}

fn is_question(word: &str) -> bool {
    QUESTIONS.iter().any(|question| word.contains(question))
}
