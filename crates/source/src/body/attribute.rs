//! Words that qualify a declaration without naming anything.
//!
//! The kernel's attribute macros come from include/linux/compiler_attributes.h, compiler_types.h and cache.h.

/// Attributes without arguments.
const PLAIN: &str = "\
    __rcu __user __iomem __percpu __kernel __force __bitwise __nocast __private __safe __packed \
    __randomize_layout __no_randomize_layout __designated_init __may_alias __maybe_unused \
    __always_unused __nonstring __nonstring_array __deprecated __must_check __read_mostly \
    __ro_after_init __latent_entropy __data_racy __aligned_largest __preserve_static_offset __kptr \
    __kptr_untrusted __uptr __percpu_kptr __pure __cold __extension__ __restrict PACKED GCC_PACKED \
    __PACKED";

/// Attributes with arguments, and `typeof`, which looks like one.
const CALLS: &str = "\
    __attribute__ __attribute __aligned __alignof__ _Alignas alignas __declspec __counted_by \
    __counted_by_le __counted_by_be __counted_by_ptr __sized_by __guarded_by __pt_guarded_by __printf \
    __scanf __section __mode __compiletime_error typeof __typeof__ __typeof typeof_unqual \
    __typeof_unqual__ _Atomic";

/// Words of which a type may consist, or that qualify it.
const TYPE_WORDS: &str = "\
    void char short int long float double signed unsigned __signed__ __signed _Bool _Complex __int128 \
    __int128_t __uint128_t";

const QUALIFIERS: &str = "const volatile restrict __const __volatile__ __volatile register static _Atomic";

fn is_among(words: &str, word: &[u8]) -> bool {
    words.split(' ').any(|entry| entry.as_bytes() == word)
}

/// Whether a word is an attribute that takes no arguments.
pub(crate) fn is_plain(word: &[u8]) -> bool {
    let aligns_line = contains(word, b"cacheline") && contains(word, b"aligned");
    is_among(PLAIN, word) || (aligns_line && !contains(word, b"group"))
}

/// Whether a word with arguments is an attribute or `typeof`, never a macro that declares members.
pub(crate) fn is_call(word: &[u8]) -> bool {
    is_among(CALLS, word) || is_plain(word)
}

/// Whether a word's arguments give the type: `typeof` in its spellings, `_Atomic`.
pub(crate) fn is_typeof(word: &[u8]) -> bool {
    word == b"_Atomic" || contains(word, b"typeof")
}

/// Whether a word belongs to a built-in type's name.
pub(crate) fn is_type_word(word: &[u8]) -> bool {
    is_among(TYPE_WORDS, word)
}

/// Whether a word qualifies a type.
pub(crate) fn is_qualifier(word: &[u8]) -> bool {
    is_among(QUALIFIERS, word)
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
    memchr::memmem::find(word, part).is_some()
}
