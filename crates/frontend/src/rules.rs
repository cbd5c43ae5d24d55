//! Kinds of uses, a file each.
//!
//! * `lists`: initialisers by position.
//! * `ranges`: offsets and differences of addresses, and what comes of them.
//! * `values`: offsets, sizes and addresses that are used as values.
//! * `neighbours`: bytes in front of objects and behind them.
//! * `casts`: bytes and other types' members taken for objects.
//! * `pairs`: what two types have in common.
//! * `walks`: steps from what pointers to members lead to.
//! * `layouts`: definitions that say themselves that the order is fixed.
//! * `classes`: constructors, comparisons and bindings of C++.
//! * `effects`: what making and dropping objects does; `initialisers`: what members' values read.
//! * `bits`: bits of objects, and of pointers to their members, taken for something else.
//! * `traits`: types whose layout the compiler is asked for.
//! * `library`: what templates of libraries do with objects.
//! * `templates`: objects that templates make or take apart by position.

mod bits;
mod casts;
mod classes;
mod effects;
mod initialisers;
mod layouts;
mod library;
mod lists;
mod neighbours;
mod pairs;
mod ranges;
mod templates;
mod traits;
mod values;
mod walks;

pub(crate) use effects::is_standard;
pub(crate) use library::find as of_library;
pub(crate) use values::ordering;

use crate::clang::Kind;
use crate::report::Findings;
use crate::sum::View;

/// Whether a list in braces initialises a subject, or what holds one.
pub(crate) fn has_lists(view: View<'_, '_, '_>) -> bool {
    let mut lists = (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::List);
    lists.any(|list| view.cursor(list).is_some_and(|list| !view.records.within(list.ty()).is_empty()))
}

/// All that a unit's nodes ask of the subjects.
pub(crate) fn findings<'u>(view: View<'_, '_, 'u>) -> Findings<'u> {
    let (effects, mut found) = (effects::Effects::new(view), Findings::new());
    for index in 0..view.tree.len() {
        match view.tree.kind(index) {
            Kind::List => {
                lists::find(view, index, &mut found);
                values::listed(view, index, &mut found);
            }
            Kind::Asm => layouts::assembler(view, index, &mut found),
            Kind::Binary => {
                ranges::find(view, index, &mut found);
                ranges::compared(view, index, &mut found);
                ranges::begun(view, index, &mut found);
                walks::find(view, index, &mut found);
                values::binary(view, index, &mut found);
            }
            Kind::Unexposed if view.is_offset_of(index) => ranges::find(view, index, &mut found),
            Kind::Unexposed | Kind::Cast | Kind::FunctionalCast => {
                casts::find(view, index, &mut found);
                bits::find(view, index, &mut found);
                ranges::find(view, index, &mut found);
            }
            Kind::Call => {
                templates::find(view, index, &mut found);
                values::called(view, index, &mut found);
            }
            Kind::BitCast => bits::find(view, index, &mut found),
            Kind::New => bits::made(view, index, &mut found),
            Kind::MemberAccess => bits::alternative(view, index, &mut found),
            Kind::Member => classes::member(view, index, &effects, &mut found),
            Kind::Conditional => ranges::chosen(view, index, &mut found),
            Kind::Subscript | Kind::Unary => walks::find(view, index, &mut found),
            Kind::SizeOf => ranges::size(view, index, &mut found),
            Kind::Record | Kind::Union => {
                layouts::find(view, index, &mut found);
                classes::effects(view, index, &effects, &mut found);
            }
            Kind::Constructor | Kind::Function | Kind::UnexposedDeclaration => {
                classes::find(view, index, &effects, &mut found);
                templates::asking(view, index, &mut found);
            }
            _ => {}
        }
    }
    neighbours::find(view, &mut found);
    casts::variadic(view, &mut found);
    classes::declared(view, &mut found);
    traits::find(view, &mut found);
    values::find(view, &mut found);
    layouts::made_by_assembler(view, &mut found);
    found
}
