//! The cachelines that locks lie on: which member of which struct a class of locks is, and what shares its line.

use anyhow::{Context, Result, bail};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_compare::lock_stat::{LockMember, LockRow, LockTable, read_lock_stat};
use fieldline_layout::{Layout, Member};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Words in the names of the kernel's types of locks.
const LOCK_TYPES: [&str; 9] = [
    "spinlock",
    "rwlock",
    "mutex",
    "rw_semaphore",
    "semaphore",
    "seqlock",
    "seqcount",
    "local_lock",
    "percpu_rwsem",
];
/// A member is hot with so many percent of its struct's samples, and a lock contended if so many percent of its
/// acquisitions wait.
pub(crate) const HOT_PERCENT: f64 = 1.0;
const CONTENDED_PERCENT: f64 = 1.0;
/// Most structs named where several may be meant.
const MAX_NAMED: usize = 6;

/// A member on a lock's line.
#[derive(Debug, Serialize)]
pub(crate) struct LineMember {
    name: String,
    offset: u64,
    loads: u64,
    stores: u64,
    /// Samples of CPUs other than the one that touches the object most.
    on_other_cpus: u64,
    /// Samples that found the line lost to another CPU.
    lost: u64,
    is_lock: bool,
    is_hot: bool,
}

/// The classes of a text of /proc/lock_stat.
pub(crate) fn read_classes(path: &Path) -> Result<Vec<LockRow>> {
    let place = || path.display().to_string();
    let bytes = fieldline_files::read(path).with_context(place)?;
    let classes = read_lock_stat(&String::from_utf8_lossy(&bytes)).with_context(place)?;
    Ok(LockTable::new(&[(String::new(), vec![classes])]).classes)
}

impl LockLine {
    /// Percent of its acquisitions that waited, if it is contended.
    pub(crate) fn contention(&self) -> Option<f64> {
        let most = self.contended.iter().flatten().copied().reduce(f64::max);
        most.filter(|percent| *percent >= CONTENDED_PERCENT)
    }

    /// Whether the class names the struct itself, or the user did, so that other structs need not be known.
    pub(crate) fn is_named(&self) -> bool {
        self.found_by.is_none()
    }
}

impl LineMember {
    fn samples(&self) -> u64 {
        self.loads + self.stores
    }
}

/// A class of locks with the struct it lies in.
#[derive(Debug, Serialize)]
pub(crate) struct LockLine {
    pub(crate) class: String,
    #[serde(rename = "struct")]
    pub(crate) struct_name: String,
    pub(crate) member: String,
    pub(crate) offset: u64,
    line_size: u64,
    first_line: u64,
    /// How the struct was found, where its name is not the object's.
    found_by: Option<String>,
    /// Whether a profile says which members are hot.
    has_profile: bool,
    /// Samples of the whole struct.
    struct_samples: u64,
    members: Vec<LineMember>,
    /// Percent of acquisitions that waited, by variant.
    contended: Vec<Option<f64>>,
    /// Whether hot members share the line of a lock that is contended; none where nobody knows which are hot.
    contended_line_has_hot_members: Option<bool>,
}

/// A class that names a member, but no struct for sure; or why it can't be placed.
#[derive(Debug, Serialize)]
pub(crate) struct UnplacedLock {
    class: String,
    reason: String,
}

/// Layouts of a program, with a profile if there is one.
pub(crate) struct LockContext<'c> {
    pub(crate) layouts: &'c [Layout],
    pub(crate) line_size: u64,
    pub(crate) profile: Option<&'c AccessProfile>,
    /// Structs that the user named for classes.
    pub(crate) named: &'c [(String, String)],
}

/// The structs named as `CLASS=STRUCT`.
pub(crate) fn parse_named(texts: &[String]) -> Result<Vec<(String, String)>> {
    let pair = |text: &String| match text.rsplit_once('=') {
        Some((class, name)) if !class.is_empty() && !name.is_empty() => {
            Ok((class.to_owned(), name.to_owned()))
        }
        _ => bail!("'{text}': CLASS=STRUCT is expected, such as '&rq->lock=rq'"),
    };
    texts.iter().map(pair).collect()
}

impl LockContext<'_> {
    /// Places classes on lines; those that are variables of their own are left out.
    pub(crate) fn place(&self, rows: &[LockRow]) -> (Vec<LockLine>, Vec<UnplacedLock>) {
        let (mut placed, mut unplaced) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(member) = LockMember::of_class(&row.class) else { continue };
            match self.find(&row.class, &member, row) {
                Ok((layout, found, found_by)) => placed.push(self.line(row, layout, &found, found_by)),
                Err(reason) => unplaced.push(UnplacedLock { class: row.class.clone(), reason }),
            }
        }
        (placed, unplaced)
    }

    /// The struct of a lock: the one named as its object, the only one with such a lock, the one whose name has the
    /// object's as a word, or the one whose lock is touched by the functions that wait.
    fn find(
        &self,
        class: &str,
        member: &LockMember,
        row: &LockRow,
    ) -> Result<(&Layout, FoundMember, Option<String>), String> {
        let candidates: Vec<(&Layout, FoundMember)> = self
            .layouts
            .iter()
            .filter_map(|layout| Some((layout, find_lock(layout, &member.path)?)))
            .collect();
        let path = member.path.join(".");
        let chosen = |layout: &Layout, found: &FoundMember, found_by: Option<String>| {
            let same = self.layouts.iter().find(|other| std::ptr::eq(*other, layout));
            same.map(|layout| (layout, found.clone(), found_by)).ok_or_else(String::new)
        };
        if let Some((_, name)) = self.named.iter().find(|(named, _)| named == class) {
            let named = candidates.iter().find(|(layout, _)| layout.name == *name);
            return match named {
                Some((layout, found)) => chosen(layout, found, None),
                None => Err(format!("struct {name} has no lock {path}")),
            };
        }
        let object = member.object.rsplit(['>', '.', '-']).next().unwrap_or(&member.object);
        if let Some((layout, found)) = candidates.iter().find(|(layout, _)| layout.name == object) {
            return chosen(layout, found, None);
        }
        if let [(layout, found)] = candidates.as_slice() {
            return chosen(layout, found, Some(format!("the only struct with a lock {path}")));
        }
        let by_word: Vec<_> = candidates
            .iter()
            .filter(|(layout, _)| layout.name.split('_').any(|word| word == object))
            .collect();
        if let [(layout, found)] = by_word.as_slice() {
            return chosen(
                layout,
                found,
                Some(format!("of {} structs with a lock {path}, by its name", candidates.len())),
            );
        }
        let touched: Vec<_> =
            candidates.iter().filter(|(layout, found)| self.waiters_touch(layout, found, row)).collect();
        if let [(layout, found)] = touched.as_slice() {
            let how = format!(
                "of {} structs with a lock {path}, the one that the waiting functions touch",
                candidates.len()
            );
            return chosen(layout, found, Some(how));
        }
        let list = if by_word.is_empty() { candidates.iter().collect() } else { by_word };
        let names: Vec<&str> = list.iter().take(MAX_NAMED).map(|(layout, _)| layout.name.as_str()).collect();
        match names.is_empty() {
            true => Err(format!("no struct of this program has a lock {path}")),
            false => Err(format!(
                "{} structs have a lock {path}: {} …; name one (--lock-struct)",
                candidates.len(),
                names.join(", ")
            )),
        }
    }

    /// Whether functions that wait for the lock access its bytes, by the profile.
    fn waiters_touch(&self, layout: &Layout, found: &FoundMember, row: &LockRow) -> bool {
        let Some((profile, accesses)) =
            self.profile.and_then(|profile| Some((profile, profile.find_type(&layout.name)?)))
        else {
            return false;
        };
        accesses.accesses.iter().any(|access| {
            let function = profile.functions.get(access.function as usize);
            let is_at_lock =
                access.offset < found.end && found.offset < access.offset.saturating_add(access.size.max(1));
            is_at_lock && function.is_some_and(|name| row.waiters.iter().any(|point| point.function == *name))
        })
    }

    fn line(
        &self,
        row: &LockRow,
        layout: &Layout,
        found: &FoundMember,
        found_by: Option<String>,
    ) -> LockLine {
        let line = self.line_size.max(1);
        let lines = found.offset / line..=found.end.saturating_sub(1).max(found.offset) / line;
        let profile = self.profile.and_then(|profile| profile.find_type(&layout.name));
        let profile = profile.filter(|known| {
            known.fingerprint == 0 || known.fingerprint == layout.fingerprint() || known.size == layout.size
        });
        let struct_samples = profile.map_or(0, TypeProfile::samples);
        let mut members = Vec::new();
        for member in layout.members.iter().filter(|member| !member.role.is_marker()) {
            let (first, last) = (member.offset() / line, (member.offset() + member.size().max(1) - 1) / line);
            if last < *lines.start() || *lines.end() < first {
                continue;
            }
            members.push(line_member(member, profile, struct_samples, found));
        }
        let contended: Vec<Option<f64>> =
            row.figures.iter().map(|figures| figures.as_ref()?.contended_percent()).collect();
        let is_contended = contended.iter().flatten().any(|percent| *percent >= CONTENDED_PERCENT);
        let has_hot = members.iter().any(|member| member.is_hot && !member.is_lock);
        LockLine {
            class: row.class.clone(),
            struct_name: layout.name.clone(),
            member: found.path.clone(),
            offset: found.offset,
            line_size: line,
            first_line: *lines.start(),
            found_by,
            has_profile: profile.is_some(),
            struct_samples,
            members,
            contended,
            contended_line_has_hot_members: profile.map(|_| is_contended && has_hot),
        }
    }
}

fn line_member(
    member: &Member,
    profile: Option<&TypeProfile>,
    of_struct: u64,
    lock: &FoundMember,
) -> LineMember {
    let (begin, end) = (member.offset(), member.offset() + member.size().max(1));
    let mut found = LineMember {
        name: member.label().to_owned(),
        offset: begin,
        loads: 0,
        stores: 0,
        on_other_cpus: 0,
        lost: 0,
        is_lock: begin <= lock.offset && lock.offset < end,
        is_hot: false,
    };
    for access in profile.into_iter().flat_map(|profile| &profile.accesses) {
        if begin <= access.offset && access.offset < end {
            found.loads += access.loads.samples;
            found.stores += access.stores.samples;
            found.on_other_cpus += access.away.loads + access.away.stores;
            found.lost += access.lost_line_samples();
        }
    }
    found.is_hot = found.samples() > 0 && 100.0 * found.samples() as f64 >= HOT_PERCENT * of_struct as f64;
    found
}

/// A lock inside a struct.
#[derive(Clone, Debug)]
struct FoundMember {
    path: String,
    offset: u64,
    end: u64,
}

/// The member at a path, through members without a name, if its type is a lock's. Types of members in named structs are not
/// known here: the first part of the path then decides.
fn find_lock(layout: &Layout, path: &[String]) -> Option<FoundMember> {
    let mut members = &layout.members;
    let mut found: Option<&Member> = None;
    for part in path {
        if let Some(member) = find_member(members, part) {
            (found, members) = (Some(member), &member.members);
        } else if !members.is_empty() || found.is_none() {
            return None;
        }
    }
    let member = found?;
    let is_lock = LOCK_TYPES.iter().any(|name| member.type_name.contains(name));
    let is_inside = path.len() > 1 && member.name.as_ref() != path.last();
    (is_lock || is_inside).then(|| FoundMember {
        path: path.join("."),
        offset: member.offset(),
        end: member.offset() + member.size(),
    })
}

fn find_member<'m>(members: &'m [Member], name: &str) -> Option<&'m Member> {
    members.iter().find_map(|member| match &member.name {
        Some(own) => (own == name).then_some(member),
        None => find_member(&member.members, name),
    })
}

/// Appends a lock's line as text.
pub(crate) fn draw(out: &mut String, lock: &LockLine, variants: &[String]) {
    let LockLine { class, struct_name, member, offset, line_size, first_line, .. } = lock;
    let _ = writeln!(
        out,
        "{class} is struct {struct_name}.{member}: byte {offset}, line {first_line} of {line_size} B"
    );
    lock.found_by.iter().for_each(|how| {
        let _ = writeln!(out, "  ({how})");
    });
    if lock.has_profile {
        let _ = writeln!(
            out,
            "  {:>6}  {:<32} {:>8} {:>8} {:>13} {:>9}",
            "offset", "member", "loads", "stores", "on other CPUs", "line lost"
        );
        for member in lock.members.iter().filter(|member| member.samples() > 0 || member.is_lock) {
            let LineMember { name, offset, loads, stores, on_other_cpus, lost, .. } = member;
            let mark = if member.is_lock {
                "  the lock"
            } else if member.is_hot {
                "  hot"
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "  {offset:>6}  {name:<32} {loads:>8} {stores:>8} {on_other_cpus:>13} {lost:>9}{mark}"
            );
        }
    } else {
        let names: Vec<&str> =
            lock.members.iter().filter(|member| !member.is_lock).map(|member| member.name.as_str()).collect();
        let _ = writeln!(
            out,
            "  on its line: {}",
            if names.is_empty() { "nothing else".to_owned() } else { names.join(", ") }
        );
    }
    let contended: Vec<String> = variants
        .iter()
        .zip(&lock.contended)
        .map(|(name, percent)| {
            format!("{name} {}", percent.map_or("-".to_owned(), |percent| format!("{percent:.2}%")))
        })
        .collect();
    let _ = writeln!(out, "  acquisitions that waited: {}", contended.join(", "));
    let hot: Vec<&str> = lock
        .members
        .iter()
        .filter(|member| member.is_hot && !member.is_lock)
        .map(|member| member.name.as_str())
        .collect();
    let text = match lock.contended_line_has_hot_members {
        None => "which members are hot is not known (--profile)".to_owned(),
        Some(true) => format!("waiting CPUs write the line of hot members: {}", hot.join(", ")),
        Some(false) if hot.is_empty() => "no hot member shares its line".to_owned(),
        Some(false) => {
            format!("hot members share its line ({}), but the lock is hardly contended", hot.join(", "))
        }
    };
    let _ = writeln!(out, "  {text}\n");
}

/// Appends classes that were not placed.
pub(crate) fn draw_unplaced(out: &mut String, unplaced: &[UnplacedLock]) {
    for UnplacedLock { class, reason } in unplaced {
        let _ = writeln!(out, "{class}: {reason}");
    }
}
