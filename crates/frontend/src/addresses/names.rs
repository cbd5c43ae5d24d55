//! Names of the places that units share.

use super::facts::Place;
use crate::clang::{Cursor, Kind, Type};

/// Most methods that override one another.
const DEEPEST: usize = 16;

/// The begin of names that the linker knows functions of C++ by.
const MANGLED: &str = "_Z";

/// The method that runs a function without a name.
const CALL: &str = "operator()";

/// A function, by the name that it shares with those that may run in its stead: the name that a function of C has for
/// the linker, the method that one overrides, the place where a function without a name is written.
pub(crate) fn function(function: Cursor<'_>) -> String {
    if function.is_virtual() {
        let mut methods = std::iter::successors(Some(function), |own| own.overridden().first().copied());
        return methods.by_ref().take(DEEPEST).last().unwrap_or(function).identifier();
    }
    let holder = function.holder().filter(|holder| holder.kind() == Kind::Record);
    let holder = holder.filter(|_| function.name() == CALL).map(|holder| holder.ty().canonical().spelling());
    if let Some(lambda) = holder.filter(|holder| holder.contains("(lambda at ")) {
        return lambda;
    }
    // The compiler's own functions stand in no file, and have no name that could be asked for.
    let is_of_program = !function.place().file.is_empty() && !function.is_of_system();
    if function.is_shared() && is_of_program && !function.is_of_cpp() {
        let (name, symbol) = (function.name(), function.symbol());
        let symbol = symbol.trim_start_matches('\u{1}');
        if !symbol.is_empty() && symbol != name {
            return named(symbol);
        }
    }
    function.identifier()
}

/// The word that a function is defined by in the text of C, C++ or assembler.
pub(crate) fn word(function: Cursor<'_>) -> String {
    let symbol = function.symbol();
    let symbol = symbol.trim_start_matches('\u{1}');
    let is_of_c = function.is_shared() && !symbol.is_empty() && !symbol.starts_with(MANGLED);
    if is_of_c { symbol.to_owned() } else { function.name() }
}

/// The function of C with a name.
pub(crate) fn named(symbol: &str) -> String {
    format!("c:@F@{symbol}")
}

/// A function's parameter.
pub(crate) fn parameter(function: Cursor<'_>, number: usize) -> Place {
    format!("parameter {number} of {}", self::function(function))
}

/// Memory behind a parameter, as far as the function writes it.
pub(crate) fn written(function: Cursor<'_>, number: usize) -> Place {
    format!("memory behind {number} by {}", self::function(function))
}

/// The same of a function without a name.
pub(crate) fn written_by_lambda(lambda: Cursor<'_>, number: usize) -> Place {
    format!("memory behind {number} by {}", lambda.ty().canonical().spelling())
}

/// The same of all parameters of a function.
pub(crate) fn all_written(function: Cursor<'_>) -> Vec<Place> {
    let count = usize::try_from(function.argument_count()).unwrap_or(0);
    (0..count).map(|number| written(function, number)).collect()
}

/// Memory behind a parameter, as far as functions that a pointer of this type leads to write it.
pub(crate) fn written_by_callback(function: Type<'_>, number: usize) -> Place {
    format!("memory behind {number} by a function {}", function.canonical().spelling())
}

/// The result of a function.
pub(crate) fn result(function: Cursor<'_>) -> Place {
    format!("result of {}", self::function(function))
}

/// A parameter of a function without a name.
pub(crate) fn lambda_parameter(lambda: Cursor<'_>, number: usize) -> Place {
    format!("parameter {number} of {}", lambda.ty().canonical().spelling())
}

/// The result of such a function.
pub(crate) fn lambda_result(lambda: Cursor<'_>) -> Place {
    format!("result of {}", lambda.ty().canonical().spelling())
}

/// Arguments that a function takes by `va_arg`.
pub(crate) fn variable_arguments(function: Cursor<'_>) -> Place {
    format!("arguments of {}", self::function(function))
}

/// Those of them that are pointers to characters, numbers or anything: they may be taken for any of these.
pub(crate) fn plain_arguments(function: Cursor<'_>) -> Place {
    format!("plain arguments of {}", self::function(function))
}

/// Whether a place is that of arguments taken by `va_arg`.
pub(crate) fn is_variadic(place: &str) -> bool {
    place.starts_with("arguments of ") || place.starts_with("plain arguments of ")
}

/// A variable or a member. Members of a union are one place.
pub(crate) fn variable(variable: Cursor<'_>) -> Place {
    let union =
        variable.holder().filter(|holder| variable.kind() == Kind::Member && holder.kind() == Kind::Union);
    union.unwrap_or(variable).identifier()
}

/// A parameter of whatever function a pointer of this type leads to.
pub(crate) fn callback(function: Type<'_>, number: usize) -> Place {
    format!("parameter {number} of a function {}", function.canonical().spelling())
}

/// The result of whatever function a pointer of this type leads to.
pub(crate) fn callback_result(function: Type<'_>) -> Place {
    format!("result of a function {}", function.canonical().spelling())
}

/// Texts that addresses are printed to and scanned from.
pub(crate) const TEXTS: &str = "memory of texts";

/// Higher halves of addresses, as functions are handed that take numbers of half the size.
pub(crate) const HALVES: &str = "memory of halves";

/// Bits of half an address.
pub(crate) const HALF_BITS: i64 = 32;

/// Parts of addresses that the program takes one by one: digits, bytes, groups of bits.
pub(crate) const PARTS: &str = "memory of parts";

/// Whether numbers of all kinds meet at a place, few of which are addresses.
pub(crate) fn is_of_numbers(place: &str) -> bool {
    [TEXTS, HALVES, PARTS].contains(&place)
}

/// Whether a place is memory that a function is handed to write to: all its callers' memory meets there.
pub(crate) fn is_written_by_function(place: &str) -> bool {
    place.starts_with("memory behind ")
}

/// Memory outside the program that addresses are written to and read from: files and pipes.
pub(crate) const FILES: &str = "memory of files";

/// Memory of objects of C++'s standard library that keep pointers to anything.
pub(crate) const KEPT_POINTERS: &str = "memory of pointers in containers";

/// Memory that a file or a device is mapped to.
pub(crate) const MAPPED: &str = "memory of a mapping";

/// Memory that a library keeps between calls of its functions: those that one header declares. It is one if no unit has
/// the function's body.
pub(crate) fn kept(function: Cursor<'_>) -> Option<Place> {
    // A function of the program has a body in some unit.
    let header = function.place().file;
    (!header.is_empty() && function.is_of_system())
        .then(|| format!("{} > memory of {header}", function.identifier()))
}

/// A place that a function hands on to, as far as anybody knows: it is none if a unit has the function's body.
pub(crate) fn unless_defined(function: Cursor<'_>, place: &str) -> Place {
    format!("{} > {place}", self::function(function))
}

/// Numbers that objects of one of C++'s library's classes keep, as `std::bitset` does.
pub(crate) fn kept_by_class(function: Cursor<'_>) -> Option<Place> {
    let class = function.holder().filter(|class| matches!(class.kind(), Kind::Record | Kind::Other))?;
    let is_class = function.is_of_system() && !class.name().is_empty() && class.is_of_cpp();
    is_class.then(|| format!("memory of numbers in {}", class.name()))
}

/// An address that is moved at a line by what a place is given, times a number.
pub(crate) fn sum(by: &str, scale: i64, line: &str) -> Place {
    format!("sum + {scale} + {by} + {line}")
}

/// An address that is moved at a line in steps of what a place is given, or of as many bits, times a number.
pub(crate) fn steps(by: &str, (scale, is_shift): (u64, bool), line: &str) -> Place {
    let operator = if is_shift { "<<" } else { "*" };
    format!("steps + {scale} + {operator} + {by} + {line}")
}

/// The place of such steps, the number, and whether it is bits that the place is given.
pub(crate) fn steps_of(place: &str) -> Option<(&str, u64, bool)> {
    let mut parts = place.strip_prefix("steps + ")?.split(" + ");
    let scale = parts.next()?.parse().ok()?;
    let is_shift = parts.next()? == "<<";
    Some((parts.next()?, scale, is_shift))
}

/// The place and the number of such a sum.
pub(crate) fn sum_of(place: &str) -> Option<(&str, i64)> {
    let mut parts = place.strip_prefix("sum + ")?.split(" + ");
    let scale = parts.next()?.parse().ok()?;
    Some((parts.next()?, scale))
}

/// The function and the place, of one that is none if the function has a body.
pub(crate) fn kept_by(place: &str) -> Option<(&str, &str)> {
    place.split_once(" > ")
}

/// The word by which the text of other units defines the function that a parameter's place belongs to.
pub(crate) fn function_of(place: &str) -> Option<&str> {
    let (_, function) = place.split_once(" of ")?;
    word_of(function)
}

/// The word of a function that other files know, by its name among places.
pub(crate) fn word_of(function: &str) -> Option<&str> {
    let (_, name) = function
        .strip_prefix("c:@")?
        .rsplit_once("F@")
        .filter(|(holder, _)| holder.is_empty() || holder.ends_with('@'))?;
    let name = name.split('#').next()?;
    match name.strip_prefix(MANGLED) {
        Some(mangled) => last_word(mangled),
        None => Some(name).filter(|name| !name.is_empty() && !name.contains([' ', '@', '>'])),
    }
}

/// The name of the function whose parameter a place is, also of one that only its file knows.
pub(crate) fn taken_by(place: &str) -> Option<&str> {
    let (_, name) = place.strip_prefix("parameter ")?.rsplit_once("F@")?;
    name.split('#').next()
}

/// The word by which the text of other units defines the function whose result a place is.
pub(crate) fn source_of(place: &str) -> Option<&str> {
    function_of(place).filter(|_| place.starts_with("result of "))
}

/// The function's own word in a name that the linker knows a function of C++ by: `N5space4nameE`.
fn last_word(mangled: &str) -> Option<&str> {
    let is_nested = mangled.starts_with('N');
    let mut rest = mangled.trim_start_matches(['N', 'K', 'L']);
    rest = rest.strip_prefix("St").unwrap_or(rest);
    let mut found = None;
    loop {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let Ok(length) = rest.get(..digits)?.parse::<usize>() else { return found };
        let word = rest.get(digits..digits.checked_add(length)?)?;
        found = Some(word);
        rest = rest.get(digits + length..)?;
        if !is_nested {
            return found;
        }
    }
}

/// Of a callback's parameter: how many parameters such functions have, and the number of this one.
pub(crate) fn callback_of(place: &str) -> Option<(usize, usize)> {
    let (number, function) = place.strip_prefix("parameter ")?.split_once(" of a function ")?;
    let mut parameters = function.split_once('(')?.1;
    // A function that returns a pointer to a function isn't asked for.
    parameters = parameters.strip_suffix(')')?;
    let mut depth = 0_usize;
    let mut count = 1;
    for letter in parameters.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => count += 1,
            _ => {}
        }
    }
    Some((count, number.parse().ok()?))
}

/// The record and the member whose name in all units a place has: `c:@S@region@FI@from`.
pub(crate) fn member_of(place: &str) -> Option<(String, String)> {
    let (record, member) = place.rsplit_once("@FI@")?;
    let record = record.rsplit('@').next().filter(|name| !name.is_empty())?;
    Some((record.to_owned(), member.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_own_word() {
        for (place, word) in [
            ("parameter 0 of c:@F@f", Some("f")),
            ("parameter 0 of c:@F@_Z4readPv", Some("read")),
            ("parameter 0 of c:@F@_ZN5space4readEPv", Some("read")),
            ("parameter 0 of c:@S@visitor@F@visit#*v#", Some("visit")),
            ("parameter 0 of c:a.c@F@f", None),
            ("result of a function int (void *)", None),
        ] {
            assert_eq!(function_of(place), word, "{place}");
        }
    }

    #[test]
    fn parameters_are_taken_by_functions() {
        for (place, name) in [
            ("parameter 0 of c:@F@kfree", Some("kfree")),
            ("parameter 1 of c:slub.c@F@slab_free", Some("slab_free")),
            ("parameter 0 of c:@S@pool@F@free#*v#", Some("free")),
            ("result of c:@F@f", None),
            ("parameter 0 of a function int (void *)", None),
        ] {
            assert_eq!(taken_by(place), name, "{place}");
        }
    }

    #[test]
    fn parameters_of_callbacks_are_counted() {
        assert_eq!(callback_of("parameter 1 of a function void (int, void *)"), Some((2, 1)));
        assert_eq!(callback_of("parameter 0 of a function int (void *, int (*)(int, int))"), Some((2, 0)));
        assert_eq!(callback_of("parameter 0 of c:@F@f"), None);
    }
}
