//! Effects of functions' bodies.

use super::{Effect, Search, library};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::tree::Index;

impl<'u> Search<'_, '_, '_, 'u> {
    /// All that stands below a node.
    pub(super) fn nodes(&mut self, at: Index, is_end: bool) {
        for node in self.view.tree.below(at) {
            if self.found == Effect::UNKNOWN {
                return;
            }
            self.node(node, is_end);
        }
    }

    fn node(&mut self, node: Index, is_end: bool) {
        let Some(cursor) = self.view.cursor(node) else { return };
        match self.view.tree.kind(node) {
            Kind::Call => self.call(node, cursor, is_end),
            Kind::Unary => match cursor.unary_operator() {
                Operator::Step | Operator::StepBack => self.first_written(node, is_end),
                Operator::Dereference => self.read(is_end),
                _ => {}
            },
            Kind::Binary if is_assignment(cursor.binary_operator()) => self.first_written(node, is_end),
            Kind::Subscript if !self.is_in_array(node) => self.read(is_end),
            Kind::MemberAccess if self.is_through_pointer(node) => self.read(is_end),
            Kind::Name => self.named(cursor, is_end),
            Kind::Delete => self.dropped(node),
            Kind::Asm => self.acts(is_end),
            _ => {}
        }
    }

    fn acts(&mut self, is_end: bool) {
        self.found.acts = true;
        self.found.looks |= is_end;
    }

    fn read(&mut self, is_end: bool) {
        self.found.reads = true;
        self.found.looks |= is_end;
    }

    /// A variable that lives longer than the function may be changed by others.
    fn named(&mut self, name: Cursor<'u>, is_end: bool) {
        let variable = name.referenced().filter(|named| named.kind() == Kind::Variable);
        if variable.is_some_and(|variable| !variable.is_local() && !variable.ty().is_const()) {
            self.found.acts = true;
            self.found.looks |= is_end;
        }
    }

    fn dropped(&mut self, node: Index) {
        let pointer = self.view.tree.values(node).next().and_then(|pointer| self.view.cursor(pointer));
        match pointer.and_then(|pointer| pointer.ty().pointee()) {
            Some(own) => self.deleted(own),
            None => self.found = Effect::UNKNOWN,
        }
    }

    fn first_written(&mut self, node: Index, is_end: bool) {
        if let Some(first) = self.view.tree.values(node).next() {
            self.written(first, is_end);
        }
    }

    /// Values are given to members of the own object, and to what the function has for itself.
    fn written(&mut self, node: Index, is_end: bool) {
        if !self.is_own(node) {
            self.acts(is_end);
        }
    }

    /// Whether an expression is a part of the own object, of the one it is made from, or of a local variable.
    fn is_own(&self, node: Index) -> bool {
        let view = self.view;
        let node = view.peeled(node);
        let inner = view.tree.values(node).next();
        let referenced = view.cursor(node).and_then(Cursor::referenced);
        match view.tree.kind(node) {
            Kind::This => true,
            Kind::Subscript => inner.is_some_and(|inner| self.is_in_array(node) && self.is_own(inner)),
            Kind::MemberAccess if referenced.is_some_and(|member| member.ty().is_reference()) => false,
            Kind::MemberAccess => match inner {
                None => true,
                Some(inner) if view.tree.kind(view.peeled(inner)) == Kind::This => true,
                Some(inner) => !self.is_through_pointer(node) && self.is_own(inner),
            },
            Kind::Unary => inner.is_some_and(|inner| view.tree.kind(view.peeled(inner)) == Kind::This),
            Kind::Name => referenced.is_some_and(|variable| is_own_variable(variable)),
            _ => false,
        }
    }

    /// Whether an array's element is asked for, not what a pointer leads to.
    fn is_in_array(&self, node: Index) -> bool {
        let base = self.view.tree.values(node).next().map(|base| self.view.peeled(base));
        base.and_then(|base| self.view.cursor(base)).is_some_and(|base| base.ty().kind() == TypeKind::Array)
    }

    /// Whether a member is another object's that a pointer or a reference leads to.
    fn is_through_pointer(&self, node: Index) -> bool {
        let Some(inner) = self.view.tree.values(node).next().map(|inner| self.view.peeled(inner)) else {
            return false;
        };
        let Some(cursor) = self.view.cursor(inner) else { return true };
        let declared = cursor.referenced();
        let is_other = |declared: Cursor<'u>| declared.ty().is_reference() && !is_own_variable(declared);
        match self.view.tree.kind(inner) {
            Kind::This => false,
            Kind::Name | Kind::MemberAccess if declared.is_some_and(is_other) => true,
            _ => cursor.ty().kind() == TypeKind::Pointer,
        }
    }

    fn call(&mut self, call: Index, cursor: Cursor<'u>, is_end: bool) {
        let Some(callee) = cursor.referenced() else {
            return self.found = Effect::UNKNOWN;
        };
        match callee.kind() {
            Kind::Constructor => self.ty(cursor.ty()),
            Kind::Function if callee.is_of_system() && library::gives_values(&callee.name()) => {}
            Kind::Function | Kind::Template => {
                self.receiver(call, callee, is_end);
                self.called(cursor, callee, is_end);
            }
            _ => self.found = Effect::UNKNOWN,
        }
    }

    /// The object whose method is called may be changed.
    fn receiver(&mut self, call: Index, method: Cursor<'u>, is_end: bool) {
        let is_method =
            method.holder().is_some_and(|holder| matches!(holder.kind(), Kind::Record | Kind::Other));
        if !is_method || method.is_const_method() || method.is_static() {
            return;
        }
        let Some(first) = self.view.tree.values(call).next() else { return };
        let is_access = self.view.tree.kind(first) == Kind::MemberAccess;
        let object = if is_access { self.view.tree.values(first).next() } else { Some(first) };
        if let Some(object) = object {
            self.written(object, is_end);
        }
    }

    fn called(&mut self, call: Cursor<'u>, callee: Cursor<'u>, is_end: bool) {
        let name = callee.name();
        if library::is_standard(callee) {
            if library::acts(&name) {
                self.found = Effect::UNKNOWN;
            }
            return self.ty(call.ty());
        }
        if callee.is_of_system() && self.effects.body(callee).is_none() {
            if !library::is_quiet(&name) {
                self.outside(call, is_end);
            }
            return;
        }
        if callee.is_virtual() {
            return self.found = Effect::UNKNOWN;
        }
        self.function(callee, is_end);
    }

    /// A function of a library that is told numbers and texts can't look at objects.
    fn outside(&mut self, call: Cursor<'u>, is_end: bool) {
        self.found.acts = true;
        let arguments = (0..call.argument_count()).filter_map(|number| call.argument(number));
        let leads_on = |argument: Cursor<'u>| {
            let ty = argument.ty();
            ty.kind() == TypeKind::Pointer || ty.kind() == TypeKind::Record
        };
        let is_text = |argument: &Cursor<'u>| {
            argument.kind() == Kind::Text || argument.constant().is_some() || is_text(*argument)
        };
        if arguments.filter(|argument| !is_text(argument)).any(leads_on) {
            self.found.reads = true;
            self.found.looks |= is_end;
        }
    }
}

/// Whether an argument is a text that is written there.
fn is_text(argument: Cursor<'_>) -> bool {
    let mut kinds = Vec::new();
    crate::clang::below(argument, |part, _| kinds.push(part.kind()));
    matches!(kinds.as_slice(), [Kind::Text] | [Kind::Unexposed, Kind::Text])
}

fn is_assignment(operator: Operator) -> bool {
    matches!(operator, Operator::Assign | Operator::Move | Operator::MoveBack | Operator::Other)
}

/// Whether a name is an object of the function alone: a local one, or the one that another is made from.
fn is_own_variable(variable: Cursor<'_>) -> bool {
    let own = |ty: Type<'_>| ty.canonical().declaration().map(Cursor::identity);
    let class = variable.holder().and_then(Cursor::holder).map(Cursor::identity);
    match variable.kind() {
        Kind::Variable => variable.is_local() && !variable.ty().is_reference(),
        Kind::Parameter if variable.ty().is_reference() => {
            let pointee = variable.ty().pointee();
            pointee.is_some_and(|pointee| own(pointee).is_some() && own(pointee) == class)
        }
        Kind::Parameter => true,
        _ => false,
    }
}
