//! Safe wrappers over libclang's C interface: the only place that names `clang_sys`.
//!
//! * `library`: libclang found, loaded and named.
//! * `unit`: a unit parsed, with its diagnostics and its nodes.
//! * `cursor`: nodes of the syntax tree, and types.
//! * `kind`: kinds of nodes and operators; `numbers`: what nodes say of bits.
//! * `made`: what functions are made for from templates; `variables`: what declarations of variables say;
//!   `references`: types that are references.
//! * `place`: places in source files.
//! * `text`: strings that libclang owns; `words`: the text that nodes stand for.
//!
//! Cursors and types borrow their unit: libclang frees what they point to together with it.

#![expect(unsafe_code, reason = "libclang's interface is C")]

mod cursor;
mod kind;
mod library;
mod made;
mod numbers;
mod place;
mod references;
mod text;
mod unit;
mod variables;
mod words;

pub(crate) use cursor::{Cursor, Identity, Type, TypeKind};
pub(crate) use kind::{Kind, Operator};
pub(crate) use library::{Library, LoadError};
pub(crate) use place::Place;
pub(crate) use unit::{Message, ParsedUnit, below};
