//! One member as C declares it, read from a line a user typed: `long timer_ticks`, `struct list_head *next`,
//! `u8 flags[3]`, `unsigned int active:1`.
//!
//! Names of types are left to whoever knows the program's debug info.

use std::fmt;

/// A parsed declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSpec {
    /// The member's name.
    pub name: String,
    /// The type before it.
    pub base: BaseType,
    /// Stars: it is a pointer, to whatever.
    pub pointers: u32,
    /// Elements by dimension, from the outermost inwards.
    pub dimensions: Vec<u64>,
    /// Width, if it is a bit-field.
    pub bits: Option<u64>,
    /// Alignment asked for.
    pub align: Option<Alignment>,
}

/// The type before the declarator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseType {
    /// An integer, `bool` or `char`.
    Integer(Integer),
    /// `struct`, `union` or `enum` with its tag.
    Tagged {
        /// The keyword.
        keyword: Keyword,
        /// The tag.
        tag: String,
    },
    /// A typedef's name.
    Named(String),
    /// `void` or a function: only pointers to it are members.
    Incomplete,
}

/// Keywords before a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    /// `struct`
    Struct,
    /// `union`
    Union,
    /// `enum`
    Enum,
}

/// Integer types by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// `bool`
    Bool,
    /// `char`
    Char,
    /// `short`
    Short,
    /// `int`
    Int,
    /// `long`: as long as a pointer on the machines of Linux.
    Long,
    /// `long long`
    LongLong,
    /// `__int128`
    Int128,
}

impl Integer {
    /// Size in bytes on a machine with pointers of `pointer` bytes (ILP32 and LP64).
    pub fn size(self, pointer: u64) -> u64 {
        match self {
            Self::Bool | Self::Char => 1,
            Self::Short => 2,
            Self::Int => 4,
            Self::Long => pointer,
            Self::LongLong => 8,
            Self::Int128 => 16,
        }
    }
}

/// An alignment asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// `__aligned(N)`
    Bytes(u64),
    /// `____cacheline_aligned`
    Cacheline,
}

/// Why a declaration isn't one of a single member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Something is wanted where something else stands.
    #[error("{0} is wanted where '{1}' stands")]
    Unexpected(&'static str, String),
    /// Words that make no type.
    #[error("'{0}' is no integer type")]
    NoInteger(String),
    /// Several declarators.
    #[error("one member at a time")]
    Several,
    /// `type name[]`
    #[error("a flexible array is last, wherever it costs least")]
    Flexible,
    /// Something that isn't understood.
    #[error("'{0}' is not understood here; write the type it stands for")]
    Unknown(String),
}

/// Words that say nothing about size and alignment.
const QUALIFIERS: &str = "\
    const volatile restrict __rcu __user __percpu __iomem __force __private __kernel __bitwise __nocast";
const INTEGERS: &str = "bool _Bool char short int long signed unsigned __int128";

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|candidate| candidate == word)
}

impl MemberSpec {
    /// Takes a declaration apart; a `;` at its end may be left out.
    /// Fails if it isn't the declaration of one member.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let tokens = tokens(text);
        SpecParser { tokens: &tokens, position: 0 }.member()
    }

    /// Whether it is a pointer.
    pub fn is_pointer(&self) -> bool {
        self.pointers > 0
    }
}

/// Words, numbers and single signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for letter in text.chars() {
        let is_word = letter.is_alphanumeric() || letter == '_';
        match tokens.last_mut() {
            Some(last) if is_word && in_word => last.push(letter),
            _ if letter.is_whitespace() => {}
            _ => tokens.push(letter.to_string()),
        }
        in_word = is_word;
    }
    tokens
}

struct SpecParser<'t> {
    tokens: &'t [String],
    position: usize,
}

impl SpecParser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.position).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        let token = self.peek().to_owned();
        self.position += 1;
        token
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.position += usize::from(found);
        found
    }

    fn expect(&mut self, token: &'static str) -> Result<(), SpecError> {
        if self.accept(token) { Ok(()) } else { Err(self.unexpected(token)) }
    }

    fn unexpected(&self, wanted: &'static str) -> SpecError {
        let found = if self.peek().is_empty() { "the end" } else { self.peek() };
        SpecError::Unexpected(wanted, found.to_owned())
    }

    fn identifier(&mut self, wanted: &'static str) -> Result<String, SpecError> {
        let is_name = self.peek().starts_with(|first: char| first.is_alphabetic() || first == '_');
        if is_name { Ok(self.take()) } else { Err(self.unexpected(wanted)) }
    }

    fn number(&mut self) -> Result<u64, SpecError> {
        let text = self.peek();
        let parsed = match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => text.parse(),
        };
        let number = parsed.map_err(|_| self.unexpected("a number"))?;
        self.position += 1;
        Ok(number)
    }

    fn skip_qualifiers(&mut self) {
        while is_among(QUALIFIERS, self.peek()) {
            self.position += 1;
        }
    }

    fn member(&mut self) -> Result<MemberSpec, SpecError> {
        let base = self.base()?;
        let pointers = self.stars();
        let mut spec = MemberSpec {
            name: String::new(),
            base,
            pointers,
            dimensions: Vec::new(),
            bits: None,
            align: None,
        };
        if self.accept("(") {
            self.function_pointer(&mut spec)?;
        } else {
            spec.name = self.identifier("a name")?;
            self.dimensions(&mut spec)?;
        }
        if self.accept(":") {
            spec.bits = Some(self.number()?);
        }
        self.attributes(&mut spec)?;
        self.accept(";");
        match self.peek() {
            "" => {}
            "," => return Err(SpecError::Several),
            other => return Err(SpecError::Unknown(other.to_owned())),
        }
        let is_object = spec.is_pointer() || spec.base != BaseType::Incomplete;
        if is_object { Ok(spec) } else { Err(SpecError::Unknown("void".to_owned())) }
    }

    fn base(&mut self) -> Result<BaseType, SpecError> {
        self.skip_qualifiers();
        let base = match self.peek() {
            "struct" => self.tagged(Keyword::Struct)?,
            "union" => self.tagged(Keyword::Union)?,
            "enum" => self.tagged(Keyword::Enum)?,
            "void" => {
                self.position += 1;
                BaseType::Incomplete
            }
            word if is_among(INTEGERS, word) => self.integer()?,
            "float" | "double" => return Err(SpecError::Unknown(self.take())),
            _ => BaseType::Named(self.identifier("a type")?),
        };
        self.skip_qualifiers();
        Ok(base)
    }

    fn tagged(&mut self, keyword: Keyword) -> Result<BaseType, SpecError> {
        self.position += 1;
        Ok(BaseType::Tagged { keyword, tag: self.identifier("a tag")? })
    }

    fn integer(&mut self) -> Result<BaseType, SpecError> {
        let mut words = Vec::new();
        while is_among(INTEGERS, self.peek()) {
            words.push(self.take());
            self.skip_qualifiers();
        }
        let spelled = words.join(" ");
        words.retain(|word| word != "signed" && word != "unsigned");
        words.sort_unstable();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let integer = match words.as_slice() {
            ["bool" | "_Bool"] => Integer::Bool,
            ["char"] => Integer::Char,
            ["short"] | ["int", "short"] => Integer::Short,
            [] | ["int"] => Integer::Int,
            ["long"] | ["int", "long"] => Integer::Long,
            ["long", "long"] | ["int", "long", "long"] => Integer::LongLong,
            ["__int128"] => Integer::Int128,
            _ => return Err(SpecError::NoInteger(spelled)),
        };
        Ok(BaseType::Integer(integer))
    }

    fn stars(&mut self) -> u32 {
        let mut stars = 0;
        while self.accept("*") {
            stars += 1;
            self.skip_qualifiers();
        }
        stars
    }

    /// Behind the `(` of `type (*name)(parameters)`.
    fn function_pointer(&mut self, spec: &mut MemberSpec) -> Result<(), SpecError> {
        spec.base = BaseType::Incomplete;
        spec.pointers = self.stars();
        if spec.pointers == 0 {
            return Err(self.unexpected("*"));
        }
        spec.name = self.identifier("a name")?;
        self.dimensions(spec)?;
        self.expect(")")?;
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.take().as_str() {
                "(" => depth += 1,
                ")" => depth -= 1,
                "" => return Err(self.unexpected(")")),
                _ => {}
            }
        }
        Ok(())
    }

    fn dimensions(&mut self, spec: &mut MemberSpec) -> Result<(), SpecError> {
        while self.accept("[") {
            if self.peek() == "]" {
                return Err(SpecError::Flexible);
            }
            spec.dimensions.push(self.number()?);
            self.expect("]")?;
        }
        Ok(())
    }

    fn attributes(&mut self, spec: &mut MemberSpec) -> Result<(), SpecError> {
        loop {
            if self.peek().starts_with("____cacheline_aligned") {
                self.position += 1;
                spec.align = Some(Alignment::Cacheline);
            } else if self.accept("__aligned") {
                self.expect("(")?;
                let bytes = self.number()?;
                self.expect(")")?;
                if !bytes.is_power_of_two() || bytes > 1 << 16 {
                    return Err(SpecError::Unknown(bytes.to_string()));
                }
                spec.align = Some(Alignment::Bytes(bytes));
            } else if is_among(QUALIFIERS, self.peek()) {
                self.position += 1;
            } else {
                return Ok(());
            }
        }
    }
}

impl fmt::Display for Keyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Enum => "enum",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> MemberSpec {
        MemberSpec::parse(text).unwrap()
    }

    #[test]
    fn declarations_are_taken_apart() {
        let base = |text| parsed(text).base;
        assert_eq!(base("long timer_ticks"), BaseType::Integer(Integer::Long));
        assert_eq!(base("unsigned long long int x;"), BaseType::Integer(Integer::LongLong));
        assert_eq!(base("unsigned x"), BaseType::Integer(Integer::Int));
        assert_eq!(base("u64 __rcu x"), BaseType::Named("u64".to_owned()));
        assert_eq!(
            base("const struct list_head node"),
            BaseType::Tagged { keyword: Keyword::Struct, tag: "list_head".to_owned() }
        );
        let pointer = parsed("struct foo *const *next[2][0x10]");
        assert_eq!((pointer.name.as_str(), pointer.pointers), ("next", 2));
        assert_eq!(pointer.dimensions, [2, 16]);
        let call = parsed("int (*call)(void *, int (*)(int))");
        assert_eq!((call.name.as_str(), call.pointers), ("call", 1));
        assert_eq!(parsed("unsigned int active:3").bits, Some(3));
        assert_eq!(parsed("spinlock_t lock ____cacheline_aligned_in_smp").align, Some(Alignment::Cacheline));
        assert_eq!(parsed("u32 x __aligned(16);").align, Some(Alignment::Bytes(16)));
    }

    #[test]
    fn what_is_no_member_is_refused_with_the_reason() {
        let error = |text| MemberSpec::parse(text).unwrap_err().to_string();
        assert_eq!(error("int a, b"), "one member at a time");
        assert_eq!(error("int"), "a name is wanted where 'the end' stands");
        assert_eq!(error("int v[]"), "a flexible array is last, wherever it costs least");
        assert_eq!(error("int v[MAX]"), "a number is wanted where 'MAX' stands");
        assert_eq!(error("short char x"), "'short char' is no integer type");
        assert!(error("void x").contains("'void'"));
        assert!(error("double x").contains("'double'"));
        assert!(error("int x __packed").contains("'__packed'"));
        assert!(error("u32 x __aligned(3)").contains("'3'"));
        assert!(error("").contains("a type is wanted"));
        assert!(error("int (*f)(int").contains("is wanted"));
    }

    #[test]
    fn longs_are_as_long_as_pointers() {
        assert_eq!((Integer::Long.size(4), Integer::Long.size(8), Integer::LongLong.size(4)), (4, 8, 8));
    }
}
