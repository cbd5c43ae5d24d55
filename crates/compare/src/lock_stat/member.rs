//! The member that a lock's class names.

/// A lock that is a member of an object: lockdep names classes by the expression that the lock was set up with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockMember {
    /// The variable or expression for the object.
    pub object: String,
    /// The member's path.
    pub path: Vec<String>,
}

impl LockMember {
    /// The member of a class such as `&rq->__lock/1` or `&(&base->lock)->rlock`; `None` of a lock that is a variable.
    #[must_use]
    pub fn of_class(name: &str) -> Option<Self> {
        let name = name.trim();
        // Subclasses, and the two sides of reader-writer locks.
        let name = name.strip_suffix("-R").or_else(|| name.strip_suffix("-W")).unwrap_or(name);
        let name = match name.rsplit_once('/') {
            Some((name, level)) if !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()) => {
                name
            }
            _ => name,
        };
        let mut expression = name.strip_prefix('&')?.trim();
        // The spinlock inside a spinlock_t of older kernels, and other parentheses around the whole.
        for inner in [")->rlock", ").rlock", ")->lock", ")->wait_lock"] {
            if let Some(rest) = expression.strip_suffix(inner).and_then(|rest| rest.strip_prefix("(&")) {
                expression = rest;
            }
        }
        let cut = expression.rfind("->").map(|at| (at, at + 2));
        let (at, behind) = cut.or_else(|| expression.find('.').map(|at| (at, at + 1)))?;
        let object = expression.get(..at)?.trim().trim_start_matches(['(', '&', '*']).trim_end_matches(')');
        let path: Vec<String> =
            expression.get(behind..)?.split('.').map(|part| without_index(part.trim())).collect();
        let is_good = !object.is_empty() && path.iter().all(|part| !part.is_empty());
        is_good.then(|| Self { object: object.to_owned(), path })
    }
}

/// `lock[i]` without its index.
fn without_index(part: &str) -> String {
    part.split('[').next().unwrap_or(part).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_name_members() {
        let of_class = |name| {
            LockMember::of_class(name).map(|member| format!("{} {}", member.object, member.path.join(".")))
        };
        for (class, expected) in [
            ("&rq->__lock", "rq __lock"),
            ("&rq->__lock/1", "rq __lock"),
            ("&mm->mmap_lock-W", "mm mmap_lock"),
            ("&(&base->lock)->rlock", "base lock"),
            ("&lruvec->lru.lock", "lruvec lru.lock"),
            ("&(zone)->lock", "zone lock"),
            ("&sb->s_type->i_lock_key", "sb->s_type i_lock_key"),
            ("&hashinfo->locks[i]", "hashinfo locks"),
            ("&cpu_base.lock", "cpu_base lock"),
        ] {
            assert_eq!(of_class(class).as_deref(), Some(expected), "{class}");
        }
        for class in ["rcu_node_0", "cgroup_rstat_lock", "(console_sem).lock", "&x", "", "&->lock"] {
            assert_eq!(of_class(class), None, "{class}");
        }
    }
}
