//! Words that qualify a declaration without naming anything.
//!
//! The kernel's attribute macros come from include/linux/compiler_attributes.h, compiler_types.h and cache.h.

/// Attributes without arguments.
const PLAIN: &[&[u8]] = &[
    b"__rcu",
    b"__user",
    b"__iomem",
    b"__percpu",
    b"__kernel",
    b"__force",
    b"__bitwise",
    b"__nocast",
    b"__private",
    b"__safe",
    b"__packed",
    b"__randomize_layout",
    b"__no_randomize_layout",
    b"__designated_init",
    b"__may_alias",
    b"__maybe_unused",
    b"__always_unused",
    b"__nonstring",
    b"__nonstring_array",
    b"__deprecated",
    b"__must_check",
    b"__read_mostly",
    b"__ro_after_init",
    b"__latent_entropy",
    b"__data_racy",
    b"__aligned_largest",
    b"__preserve_static_offset",
    b"__kptr",
    b"__kptr_untrusted",
    b"__uptr",
    b"__percpu_kptr",
    b"__pure",
    b"__cold",
    b"__extension__",
    b"__restrict",
    b"PACKED",
    b"GCC_PACKED",
    b"__PACKED",
];

/// Attributes with arguments, and `typeof`, which looks like one.
const CALLS: &[&[u8]] = &[
    b"__attribute__",
    b"__attribute",
    b"__aligned",
    b"__alignof__",
    b"_Alignas",
    b"alignas",
    b"__declspec",
    b"__counted_by",
    b"__counted_by_le",
    b"__counted_by_be",
    b"__counted_by_ptr",
    b"__sized_by",
    b"__guarded_by",
    b"__pt_guarded_by",
    b"__printf",
    b"__scanf",
    b"__section",
    b"__mode",
    b"__compiletime_error",
    b"typeof",
    b"__typeof__",
    b"__typeof",
    b"typeof_unqual",
    b"__typeof_unqual__",
    b"_Atomic",
];

/// Words of which a type may consist, or that qualify it.
const TYPE_WORDS: &[&[u8]] = &[
    b"void",
    b"char",
    b"short",
    b"int",
    b"long",
    b"float",
    b"double",
    b"signed",
    b"unsigned",
    b"__signed__",
    b"__signed",
    b"_Bool",
    b"_Complex",
    b"__int128",
    b"__int128_t",
    b"__uint128_t",
];

const QUALIFIERS: &[&[u8]] = &[
    b"const",
    b"volatile",
    b"restrict",
    b"__const",
    b"__volatile__",
    b"__volatile",
    b"register",
    b"static",
    b"_Atomic",
];

/// Whether a word is an attribute that takes no arguments.
pub(crate) fn is_plain(word: &[u8]) -> bool {
    let aligns_line = contains(word, b"cacheline") && contains(word, b"aligned");
    PLAIN.contains(&word) || (aligns_line && !contains(word, b"group"))
}

/// Whether a word with arguments is an attribute or `typeof`, never a macro that declares members.
pub(crate) fn is_call(word: &[u8]) -> bool {
    CALLS.contains(&word) || is_plain(word)
}

/// Whether a word's arguments give the type: `typeof` in its spellings, `_Atomic`.
pub(crate) fn is_typeof(word: &[u8]) -> bool {
    word == b"_Atomic" || contains(word, b"typeof")
}

/// Whether a word belongs to a built-in type's name.
pub(crate) fn is_type_word(word: &[u8]) -> bool {
    TYPE_WORDS.contains(&word)
}

/// Whether a word qualifies a type.
pub(crate) fn is_qualifier(word: &[u8]) -> bool {
    QUALIFIERS.contains(&word)
}

/// Whether a word begins an aggregate or enum type.
pub(crate) fn is_tag_keyword(word: &[u8]) -> bool {
    matches!(word, b"struct" | b"union" | b"enum")
}

/// Whether a word is spelled as macros are: capitals, digits, underscores.
pub(crate) fn is_shouted(word: &[u8]) -> bool {
    let has_letter = word.iter().any(u8::is_ascii_uppercase);
    has_letter && !word.iter().any(u8::is_ascii_lowercase)
}

fn contains(word: &[u8], part: &[u8]) -> bool {
    word.windows(part.len()).any(|window| window == part)
}
