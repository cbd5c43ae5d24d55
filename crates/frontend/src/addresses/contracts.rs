//! Functions of libraries, by their names: their effect on the bytes they are handed. Their bodies are in no unit.

/// A function's effect on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Sets them to one value.
    Sets,
    /// Copies them to or from another argument.
    Moves,
    /// Reads, writes, compares or hashes them.
    Reads,
    /// Keeps them as an object, or gives them back.
    Keeps,
    Unknown,
}

const SETS: [&str; 5] = ["memset", "bzero", "explicit_bzero", "memzero_explicit", "memset_s"];
const MOVES: [&str; 5] = ["memcpy", "memmove", "mempcpy", "bcopy", "memcpy_s"];
/// Functions of strings, which end by themselves.
const STRINGS: [&str; 8] =
    ["strscpy", "strlcpy", "strncpy", "strlcat", "strncat", "strncmp", "strnlen", "strtomem"];
const READS: [&str; 17] = [
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
];
/// Words of those among them that keep nothing.
const LOOKS: [&str; 10] =
    ["hash", "crc", "csum", "checksum", "digest", "sha1", "sha256", "md5", "memcmp", "bcmp"];
/// Copies from and to user space, by the words that their names have in common. A kernel takes no address of an object of
/// its own back from there: anybody could hand it another one.
const USER_COPIES: [&str; 2] = ["copy_to_user", "copy_from_user"];
/// Verbs of hash tables, which are handed keys and values, not bytes.
const TABLES: [&str; 9] = ["add", "insert", "find", "lookup", "get", "put", "remove", "del", "init"];
/// Words of functions that say that they copy.
const COPIES: [&str; 3] = ["copy", "cpy", "move"];
const KEEPS: [&str; 12] = [
    "alloc", "free", "dup", "sort", "search", "assert", "print", "prefetch", "mprotect", "madvise", "munmap",
    "mlock",
];

/// The effect of a function that no unit has the body of.
pub(crate) fn of_library(name: &str) -> Does {
    let name = plain(name);
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match name.as_str() {
        plain if SETS.contains(&plain) => Does::Sets,
        plain if MOVES.contains(&plain) => Does::Moves,
        "read" | "pread" | "pread64" | "ioctl" => Does::Reads,
        _ if has(&STRINGS) || name.starts_with("str") || name.starts_with("stp") => Does::Keeps,
        _ if name.contains("hash") && has(&TABLES) => Does::Unknown,
        _ if has(&READS) => Does::Reads,
        _ if has(&KEEPS) => Does::Keeps,
        _ if has(&COPIES) => Does::Moves,
        _ => Does::Unknown,
    }
}

/// The effect of a function whatever its body is: memory of any type goes back through the same functions.
pub(crate) fn of_memory(whole: &str) -> Option<Does> {
    let name = plain(whole);
    match name.as_str() {
        plain if SETS.contains(&plain) => Some(Does::Sets),
        plain if MOVES.contains(&plain) => Some(Does::Moves),
        "memcmp" | "bcmp" => Some(Does::Reads),
        _ if manages_memory(whole) => Some(Does::Keeps),
        _ => None,
    }
}

/// Whether a word of a function's name says that it gives out memory or takes it back: `kfree`, `DbMalloc`, no `freeze`.
pub(crate) fn manages_memory(name: &str) -> bool {
    has_verb(name, &["alloc", "free"])
}

/// Whether a word of a function's name says that it takes memory back, maybe for other memory: `kfree`, `xrealloc`.
pub(super) fn takes_memory_back(name: &str) -> bool {
    has_verb(name, &["realloc", "free"])
}

/// Whether a word of a name ends with one of some verbs, in any form.
fn has_verb(name: &str, verbs: &[&str]) -> bool {
    words(name).iter().any(|word| {
        verbs.iter().any(|verb| {
            word.rfind(verb).is_some_and(|at| {
                let behind = word.get(at + verb.len()..).unwrap_or_default();
                ["", "d", "s", "x", "ate", "ated", "ator", "ation"].contains(&behind)
            })
        })
    })
}

/// The words of a name, in small letters: parts between other signs, and from one capital letter to the next.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_small = false;
    for letter in name.chars() {
        let is_begin = !letter.is_alphabetic() || is_small && letter.is_uppercase();
        if is_begin {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
        is_small = letter.is_lowercase();
    }
    words
}

fn plain(name: &str) -> String {
    let name = name.trim_start_matches('_').trim_start_matches("builtin_").trim_start_matches('_');
    name.trim_start_matches("underlying_").trim_end_matches("_chk").to_ascii_lowercase()
}

/// Whether a library's function reads or copies bytes of whatever it is handed.
pub(crate) fn reads_open_bytes(name: &str) -> bool {
    matches!(of_library(name), Does::Reads | Does::Moves)
}

/// Whether a library's function copies bytes from one place to another.
pub(super) fn moves_bytes(name: &str) -> bool {
    of_library(name) == Does::Moves
}

/// Whether a library's function may keep an address, or give one back that another one has kept.
pub(super) fn is_keeper(name: &str) -> bool {
    of_library(name) == Does::Unknown && of_memory(name).is_none()
}

/// Whether a library's function may write addresses of its own to memory that it is handed.
pub(super) fn writes_pointers(name: &str) -> bool {
    matches!(of_library(name), Does::Reads | Does::Unknown)
}

/// Functions of C's library that keep an address, give its memory back, or only compare it, and take no function that
/// they could call with it.
const ADDRESSES: [&str; 16] = [
    "setspecific",
    "tss_set",
    "exit",
    "shmat",
    "shmdt",
    "mremap",
    "mmap",
    "mmap64",
    "msync",
    "posix_madvise",
    "mincore",
    "dlsym",
    "dlvsym",
    "dlclose",
    "dladdr",
    "dladdr1",
];

/// Whether a function of C's library only keeps an address that it is handed beside no length.
pub(super) fn only_keeps(name: &str) -> bool {
    let name = plain(name);
    let name = name.trim_start_matches("pthread_");
    ADDRESSES.contains(&name) || name.starts_with("cleanup") || name.starts_with("timer_")
}

/// Functions whose results are files or devices.
const MAPPINGS: [&str; 5] = ["mmap", "mmap64", "shmat", "ioremap", "memremap"];

/// Whether a function's result is a file or a device.
pub(crate) fn is_mapping(name: &str) -> bool {
    MAPPINGS.contains(&name)
}

/// Headers of C and POSIX that stand in no folder of their own.
const STANDARD: [&str; 34] = [
    "aio",
    "argp",
    "ctype",
    "dirent",
    "dlfcn",
    "fcntl",
    "ftw",
    "getopt",
    "glob",
    "grp",
    "ifaddrs",
    "langinfo",
    "link",
    "locale",
    "mqueue",
    "netdb",
    "poll",
    "pthread",
    "pwd",
    "regex",
    "sched",
    "search",
    "semaphore",
    "signal",
    "spawn",
    "stdio",
    "stdlib",
    "string",
    "strings",
    "termios",
    "threads",
    "time",
    "unistd",
    "wchar",
];

/// Folders of such headers, and of those that the system's kernel gives.
const STANDARD_FOLDERS: [&str; 8] = ["sys", "bits", "arpa", "netinet", "net", "linux", "asm", "rpc"];

/// Whether a header of the system is one of C's library, not of another one.
pub(super) fn is_of_c_library(header: &str) -> bool {
    let Some((_, within)) = header.rsplit_once("/include/") else { return false };
    let (folder, rest) = within.split_once('/').unwrap_or(("", within));
    // Headers of one machine stand in a folder that is named by it.
    let within = if folder.contains("-linux-") { rest } else { within };
    match within.split_once('/') {
        Some((folder, _)) => STANDARD_FOLDERS.contains(&folder),
        None => within.strip_suffix(".h").is_some_and(|name| STANDARD.contains(&name)),
    }
}

/// Whether a library's function brings bytes out of the program, or into it.
pub(super) fn uses_files(name: &str) -> bool {
    let name = plain(name);
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    name.contains("scanf") || of_library(&name) == Does::Reads && !has(&LOOKS) && !has(&USER_COPIES)
}

/// Whether a library's function returns the address of an argument, or one behind it.
pub(super) fn returns(name: &str, argument: usize) -> Option<Returned> {
    let name = plain(name);
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match argument {
        0 if begins(&[
            "memchr", "memrchr", "strchr", "strrchr", "strstr", "strpbrk", "stpcpy", "stpncpy", "mempcpy",
            "index",
        ]) =>
        {
            Some(Returned::Behind)
        }
        0 if begins(&["memcpy", "memmove", "memset", "strcpy", "strncpy", "strcat", "strncat"])
            || name.contains("realloc") =>
        {
            Some(Returned::Same)
        }
        0 if ["assume_aligned", "expect", "expect_with_probability", "launder"].contains(&name.as_str()) => {
            Some(Returned::Same)
        }
        1 if name == "bsearch" => Some(Returned::Behind),
        _ => None,
    }
}

/// An address that a function gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Returned {
    Same,
    /// Somewhere behind it.
    Behind,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_by_words() {
        for name in
            ["kfree", "kmem_cache_free", "sqlite3DbFreeNN", "zmallocAlign", "je_rallocx", "pool_allocate"]
        {
            assert_eq!(of_memory(name), Some(Does::Keeps), "{name}");
        }
        for name in ["freeze", "unfreeze_all", "freezer", "allocinfo_read"] {
            assert_eq!(of_memory(name), None, "{name}");
        }
    }
}
