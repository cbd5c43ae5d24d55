//! Functions by what they do with bytes.

use crate::meaning::stream::{Kind, Piece};
use crate::meaning::types::lossy;
use crate::meaning::value::Value;

/// A function's effect on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::meaning) enum Does {
    /// Sets them to one value.
    Sets,
    /// Copies them to or from another argument.
    Moves,
    /// Reads, writes, compares or hashes them, whatever their number.
    Reads,
    /// Keeps them as an object.
    Keeps,
    Unknown,
}

const SETS: [&str; 6] = ["memset", "bzero", "explicit_bzero", "memzero_explicit", "memset_s", "memzero"];

const MOVES: [&str; 8] =
    ["memcpy", "memmove", "mempcpy", "bcopy", "memcpy_s", "unsafe_memcpy", "memcpy_inline", "copy_n"];

const STRINGS: [&str; 9] =
    ["strscpy", "strlcpy", "strncpy", "strlcat", "strncat", "strncmp", "strnlen", "strtomem", "snprintf"];

const READS: [&str; 19] = [
    "write",
    "send",
    "recv",
    "hash",
    "crc",
    "csum",
    "checksum",
    "digest",
    "sha1",
    "sha256",
    "md5",
    "memcmp",
    "bcmp",
    "fread",
    "copy_to_user",
    "copy_from_user",
    "encrypt",
    "nla_put",
    "skb_put_data",
];

/// Verbs of hash tables.
const TABLES: [&str; 9] = ["add", "insert", "find", "lookup", "get", "put", "remove", "del", "init"];

const KEEPS: [&str; 13] = [
    "alloc", "free", "dup", "sort", "search", "assert", "print", "prefetch", "poison", "sizeof", "kasan",
    "kmsan", "munmap",
];

/// Functions that give memory which others see as well.
const MAPS: [&str; 8] = [
    "mmap",
    "mmap64",
    "shmat",
    "MapViewOfFile",
    "ioremap",
    "memremap",
    "devm_ioremap",
    "devm_ioremap_resource",
];

/// The function that gives memory of no file if its flags say so, and what says so.
const MAPS_NOTHING: [&str; 2] = ["mmap", "mmap64"];
const OF_NO_FILE: [&[u8]; 2] = [b"MAP_ANONYMOUS", b"MAP_ANON"];

/// Whether an argument is flags, all by their names, that ask for memory of no file.
pub(in crate::meaning) fn is_anonymous(pieces: &[Piece<'_>]) -> bool {
    let is_flag = |piece: &Piece<'_>| match piece.kind {
        Kind::Word => piece.text.starts_with(b"MAP_"),
        _ => matches!(piece.text, b"|" | b"(" | b")"),
    };
    pieces.iter().all(is_flag) && pieces.iter().any(|piece| OF_NO_FILE.contains(&piece.text))
}

/// Memory of no file, which only this program sees, but perhaps also as something else than objects.
pub(in crate::meaning) const ANONYMOUS: &[u8] = b"an anonymous mapping";

/// Of a call that gives memory which others see as well its name, of one that asks for memory of no file that.
pub(in crate::meaning) fn maps<'t>(name: &'t [u8], arguments: &[Value<'_>]) -> Option<&'t [u8]> {
    let has_no_file = arguments.get(3).is_some_and(|flags| flags.is_anonymous);
    let has = |maps: &[&str]| maps.iter().any(|known| known.as_bytes() == name);
    has(&MAPS).then_some(if has_no_file && has(&MAPS_NOTHING) { ANONYMOUS } else { name })
}

const ASSERTS: [&str; 6] =
    ["BUILD_BUG_ON", "static_assert", "_Static_assert", "BUILD_BUG_ON_MSG", "compiletime_assert", "CTASSERT"];

pub(in crate::meaning) fn does(name: &[u8]) -> Does {
    let name = lossy(name);
    let name = name.trim_start_matches('_').trim_start_matches("builtin_").trim_start_matches('_');
    let name = name.trim_start_matches("underlying_").trim_end_matches("_chk").to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match name.as_str() {
        plain if SETS.contains(&plain) => Does::Sets,
        plain if MOVES.contains(&plain) => Does::Moves,
        "read" | "pread" | "pread64" | "ioctl" | "fcntl" | "strftime" | "fgets" | "readlink" | "getcwd"
        | "gethostname" | "string_view" => Does::Reads,
        _ if has(&STRINGS) => Does::Keeps,
        _ if name.contains("hash") && has(&TABLES) => Does::Unknown,
        _ if has(&READS) => Does::Reads,
        _ if has(&KEEPS) => Does::Keeps,
        _ => Does::Unknown,
    }
}

pub(in crate::meaning) fn is_assertion(name: &[u8]) -> bool {
    ASSERTS.iter().any(|known| known.as_bytes() == name)
}

/// Whether a function takes memory back, by its name.
pub(in crate::meaning) fn gives_back(name: &[u8]) -> bool {
    let name = lossy(name);
    ["free", "realloc", "release"].iter().any(|verb| name.contains(verb))
}

/// Functions that are handed the address of one number for that number alone.
const SINGLE: [&str; 16] = [
    "scan",
    "atomic",
    "sync_",
    "strto",
    "time",
    "wait",
    "lock",
    "frexp",
    "modf",
    "remquo",
    "addressof",
    "swap",
    "move",
    "forward",
    "ref",
    "overflow",
];

/// Whether a function may go on behind the number whose address it is handed.
pub(in crate::meaning) fn reaches_beyond(name: &str) -> bool {
    !name.is_empty() && !SINGLE.iter().any(|single| name.contains(single))
}

/// Whether a function fills in pointers with addresses that others handed on: joins, texts, tables.
pub(in crate::meaning) fn gives_addresses(name: &[u8]) -> bool {
    let name = lossy(name);
    ["join", "scan", "get", "find", "lookup", "next", "pop", "receive", "read"]
        .iter()
        .any(|verb| name.contains(verb))
}

/// Whether a function gives the address of what it is handed.
pub(in crate::meaning) fn is_address(name: &[u8]) -> bool {
    [&b"addressof"[..], b"__addressof", b"__builtin_addressof"].contains(&name)
}

/// Whether bytes go to or come from elsewhere.
pub(in crate::meaning) fn is_transfer(name: &str) -> bool {
    ["write", "send", "read", "recv"].iter().any(|verb| name.contains(verb))
}

/// Functions that are handed the first of several, and not how many.
const SEVERAL: [&str; 28] = [
    "pipe",
    "pipe2",
    "utimes",
    "futimes",
    "futimens",
    "getloadavg",
    "socketpair",
    "erand48",
    "nrand48",
    "jrand48",
    "lcong48",
    "seed48",
    "utimensat",
    "next",
    "prev",
    "fill",
    "swap_ranges",
    "iota",
    "reverse",
    "rotate",
    "generate",
    "execv",
    "execvp",
    "execve",
    "execvpe",
    "posix_spawn",
    "posix_spawnp",
    "for_each",
];

/// Functions that take an object's first two members for links.
pub(in crate::meaning) fn links(name: &[u8]) -> bool {
    [&b"insque"[..], b"remque"].contains(&name)
}

/// Functions that fill an array that they are handed without its length.
pub(in crate::meaning) fn fills_several(name: &str) -> bool {
    SEVERAL.contains(&name)
}
