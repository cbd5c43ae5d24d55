//! Words that types and declarations are made of.

use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Words that say nothing of a type.
const SILENT: &str = " const volatile static extern inline register typedef restrict __restrict __restrict__ \
    __inline __inline__ __always_inline noinline __extension__ _Noreturn constexpr mutable explicit virtual friend auto_ \
    _Thread_local thread_local __thread __const __volatile__ typename final override noexcept __user __iomem __percpu \
    __rcu __init __exit __initdata __read_mostly asmlinkage __ro_after_init __force __kernel __must_check \
    __maybe_unused __packed __cold __hot notrace consteval constinit _Atomic const_ __signed__ __private __refdata ";

pub(in crate::meaning) const NUMBERS: &str = " char short int long float double signed unsigned _Bool bool __int128 _Float128 wchar_t char8_t \
    char16_t char32_t complex _Complex __complex__ ";

pub(in crate::meaning) const ATTRIBUTES: &str = " __attribute__ __attribute _Alignas alignas __aligned __declspec __printf __section \
    __asm__ asm __asm __acquires __releases __must_hold __counted_by __alloc_size __printf_like ";

/// Words of statements and operators, which begin no type.
const STATEMENTS: &str = " return if else while for do switch case default goto break continue sizeof _Alignof alignof \
    throw new delete this operator using static_assert _Static_assert __builtin_offsetof offsetof not and or catch try \
    asm __asm__ __asm co_return co_await co_yield public private protected ";

/// A long list of words.
pub(in crate::meaning) struct Words(LazyLock<FxHashSet<&'static [u8]>>);

impl Words {
    pub(in crate::meaning) fn has(&self, word: &[u8]) -> bool {
        self.0.contains(word)
    }
}

pub(in crate::meaning) static SILENT_WORDS: Words = Words(LazyLock::new(|| split(SILENT)));

pub(in crate::meaning) static STATEMENT_WORDS: Words = Words(LazyLock::new(|| split(STATEMENTS)));

/// Whether a word begins a type or an attribute in any program: it is the name of nothing.
pub(in crate::meaning) fn is_type_word(word: &[u8]) -> bool {
    is_among(NUMBERS, word)
        || is_among(ATTRIBUTES, word)
        || is_among(
            " void decltype typeof __typeof__ struct union enum const volatile static inline extern ",
            word,
        )
}

/// Whether a word is one of a short list of words between blanks.
pub(in crate::meaning) fn is_among(list: &str, word: &[u8]) -> bool {
    !word.is_empty() && list.as_bytes().split(|byte| *byte == b' ').any(|known| known == word)
}

pub(in crate::meaning) fn split(list: &'static str) -> FxHashSet<&'static [u8]> {
    list.as_bytes().split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect()
}
