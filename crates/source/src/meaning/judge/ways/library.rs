//! Functions of C's library that are handed an object without its length.
//!
//! Nothing declares them here. What they take by `void *` or by a cast they look at, unless they keep it or hand it to
//! a function that stands beside it.

use crate::body::attribute::is_shouted;
use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::judge::callee::{Does, gives_back, links, reaches_beyond};
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Kept, Sum, Value, constant};

/// Headers of C and POSIX that stand in no folder of their own, and folders of such headers.
const HEADERS: &str = " aio alloca argp assert byteswap complex ctype dirent dlfcn endian err errno error execinfo \
     fcntl features fenv float fnmatch ftw getopt glob grp iconv ifaddrs inttypes iso646 langinfo libgen limits link \
     locale malloc math mntent mqueue netdb obstack paths poll pthread pty pwd regex resolv sched search semaphore \
     setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings \
     sysexits syslog termios tgmath threads time uchar ucontext unistd utime utmp utmpx wchar wctype wordexp ";
const FOLDERS: &str = " sys bits arpa netinet net linux asm rpc ";

/// Whether a header that `#include` names is one of C's library.
pub(in crate::meaning) fn is_of_c_library(path: &[u8]) -> bool {
    match path.iter().position(|byte| *byte == b'/') {
        Some(at) => is_among(FOLDERS, path.get(..at).unwrap_or_default()),
        None => path.strip_suffix(b".h").is_some_and(|name| is_among(HEADERS, name)),
    }
}

/// Functions that take arrays of the system's structs, whose number they are told.
const TAKES_STRUCTS: &str = " readv writev preadv pwritev preadv2 pwritev2 vmsplice process_vm_readv process_vm_writev \
     sendmsg recvmsg sendmmsg recvmmsg ";

/// Whether a function of C's library keeps an address and gives it back as it is.
fn only_keeps(name: &[u8]) -> bool {
    name.ends_with(b"setspecific") || name == b"tss_set" || name.starts_with(b"timer_")
}

impl<'t> Evaluator<'_, '_, 't> {
    /// Objects whose addresses a function of C's library is handed beside nothing that says what to do with them.
    pub(in crate::meaning) fn looked_at(&mut self, name: &'t [u8], does: Does, arguments: &[Value<'t>]) {
        let world = self.world();
        let is_own = name.starts_with(b"_") || name.starts_with(b"va_") || is_shouted(name);
        let is_plain = does == Does::Unknown && !gives_back(name) && !only_keeps(name) && !links(name);
        let is_looking = world.is_complete
            && world.has_only_c_library
            && !self.is_cpp
            && is_plain
            && !is_own
            && reaches_beyond(&lossy(name))
            && !lossy(name).contains("print");
        if !is_looking || arguments.iter().any(|argument| argument.is_type || self.may_be_called(argument)) {
            return;
        }
        for sum in arguments.iter().flat_map(|argument| self.sums_of(argument)).collect::<Vec<_>>() {
            if let (Some(Base::Object(record)), []) = (sum.base, sum.terms.as_slice()) {
                self.tell_whole(record, format!("{} may look at any of its bytes", lossy(name)));
            }
        }
    }

    /// Members that a function of C's library is handed as anything by a cast, and told no number of bytes:
    /// it may take them for the beginning of one of the system's structs.
    pub(in crate::meaning) fn member_looked_at(
        &mut self,
        name: &'t [u8],
        does: Does,
        arguments: &[Value<'t>],
    ) {
        let world = self.world();
        let text = lossy(name);
        let is_open = match does {
            Does::Unknown => {
                let is_system =
                    text.contains("gettime") || text.contains("settime") || text.contains("itimer");
                let is_own = name.starts_with(b"_") || is_shouted(name) || name == b"syscall";
                !is_own && !gives_back(name) && !only_keeps(name) && (is_system || reaches_beyond(&text))
            }
            _ => is_among(TAKES_STRUCTS, name),
        };
        let is_typed_or_called =
            arguments.iter().any(|argument| argument.is_type || self.may_be_called(argument));
        if !is_open || is_typed_or_called || !world.is_complete || !world.has_only_c_library || self.is_cpp {
            return;
        }
        for argument in arguments {
            let Some(Kept::Member(record, member)) = argument.target else { continue };
            let own = world.member(record, member).map(|ty| world.resolve(&ty));
            let is_scalar = matches!(own, Some(Type::Number(..) | Type::Pointer(_)));
            let is_open = matches!(world.pointee(&argument.ty), Some(Type::Void | Type::Byte));
            let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size));
            let says_size = |value: &Value<'t>| {
                let is_size = constant(value).and_then(|number| u64::try_from(number).ok()) == size;
                let is_number = world.resolve(&value.ty).element().is_none();
                let sums = value.sums.iter().filter(|sum| sum.base.is_none());
                is_number && (is_size || sums.into_iter().any(Sum::is_telling))
            };
            if is_scalar && is_open && !arguments.iter().any(says_size) {
                let what =
                    format!("{text} may go on behind {}, which it is handed as anything", lossy(member));
                self.tell_from(record, member, what);
            }
        }
    }

    /// Whether an argument is a function, or something of the library's that may hold one.
    fn may_be_called(&self, argument: &Value<'t>) -> bool {
        let world = self.world();
        let is_foreign = |ty: &Type<'t>| match ty {
            Type::Record(name) | Type::Named(name) => {
                !world.records.contains_key(name) && self.subject(name).is_none()
            }
            _ => false,
        };
        let ty = world.resolve(&argument.ty);
        let is_name = argument.call.is_some_and(|name| !is_shouted(name)) && ty == Type::Unknown;
        argument.is_function()
            || is_name
            || is_foreign(&ty)
            || world.pointee(&ty).is_some_and(|inner| is_foreign(&inner))
            || self.sums_of(argument).iter().any(Sum::is_function)
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_c_library;

    #[test]
    fn headers_are_recognised() {
        for (path, is_known) in
            [("stdio.h", true), ("arpa/inet.h", true), ("zlib.h", false), ("glib/glib.h", false)]
        {
            assert_eq!(is_of_c_library(path.as_bytes()), is_known, "{path}");
        }
    }
}
