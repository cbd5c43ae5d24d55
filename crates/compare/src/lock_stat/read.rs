//! The text of /proc/lock_stat.
//!
//! Names hold blanks and parentheses, so numbers are counted from the right. Behind a class stand two lists of points
//! below dashes: who waited, then who held the lock.

use super::{LockClass, LockFigures, LockPoint};
use crate::readers::{Line, ReadError, lines, number};

/// Numbers of a class: with averages of times, and without as older kernels print them.
const WITH_AVERAGES: usize = 12;
const WITHOUT: usize = 10;

/// Reads all classes.
///
/// # Errors
///
/// There is no head of the table, or a class without numbers.
pub fn read_lock_stat(text: &str) -> Result<Vec<LockClass>, ReadError> {
    let all = lines(text);
    let is_head = |line: &&Line<'_>| line.text.contains("class name") && line.text.contains("con-bounces");
    let Some(head) = all.iter().find(is_head) else {
        let first = all.iter().find(|line| !line.text.trim().is_empty());
        return Err(first.map_or(ReadError::Empty, |line| ReadError::Unknown {
            first: line.text.trim().chars().take(80).collect(),
        }));
    };
    let columns = if head.text.contains("-avg") { WITH_AVERAGES } else { WITHOUT };
    let mut classes: Vec<LockClass> = Vec::new();
    // Lists that began since the class: the first are its waiters.
    let mut lists = 0;
    for line in all.iter().skip_while(|line| line.number <= head.number) {
        let text = line.text.trim();
        if text.is_empty() || text.bytes().all(|byte| byte == b'.') {
            continue;
        }
        if text.bytes().all(|byte| byte == b'-') {
            lists += 1;
            continue;
        }
        if let Some(point) = point(text) {
            if let Some(class) = classes.last_mut() {
                let list = if lists < 2 { &mut class.waiters } else { &mut class.holders };
                add_point(list, point);
            }
            continue;
        }
        // Whatever is no class and no point is another text that follows.
        if let Some(class) = class(text, columns) {
            classes.push(class);
            lists = 0;
        } else if text.contains("class name") {
            lists = 0;
        } else if text.contains("->") || text.starts_with('&') {
            return Err(ReadError::broken(
                line.number,
                format!("a lock's class has {columns} numbers: {text}"),
            ));
        }
    }
    if classes.is_empty() {
        return Err(ReadError::broken(head.number, "no lock's class stands below the head"));
    }
    Ok(classes)
}

fn add_point(list: &mut Vec<LockPoint>, point: LockPoint) {
    match list.iter_mut().find(|known| known.function == point.function) {
        Some(known) => known.count += point.count,
        None => list.push(point),
    }
}

/// `&rq->__lock: 791277 791690 0.12 …`
fn class(text: &str, columns: usize) -> Option<LockClass> {
    let mut rest = text;
    let mut figures = Vec::new();
    for _ in 0..columns {
        let (before, word) = rest.trim_end().rsplit_once(char::is_whitespace)?;
        figures.push(number(word)?);
        rest = before;
    }
    figures.reverse();
    let name = rest.trim().strip_suffix(':')?.to_owned();
    if columns == WITH_AVERAGES {
        // Averages follow from the totals.
        figures.remove(11);
        figures.remove(5);
    }
    let figures = match figures.as_slice() {
        [
            bounces,
            contentions,
            wait_min,
            wait_max,
            wait_total,
            acq_bounces,
            acquisitions,
            hold_min,
            hold_max,
            hold_total,
        ] => LockFigures {
            contention_bounces: *bounces,
            contentions: *contentions,
            wait_min: *wait_min,
            wait_max: *wait_max,
            wait_total: *wait_total,
            acquisition_bounces: *acq_bounces,
            acquisitions: *acquisitions,
            hold_min: *hold_min,
            hold_max: *hold_max,
            hold_total: *hold_total,
        },
        _ => return None,
    };
    (!name.is_empty()).then(|| LockClass { name, figures, ..LockClass::default() })
}

/// `&rq->__lock 263343 [<00000000516703f0>] __schedule+0x72/0xaa0`
fn point(text: &str) -> Option<LockPoint> {
    let (left, right) = text.rsplit_once("[<")?;
    let (_, symbol) = right.split_once(">]")?;
    let count = number(left.split_whitespace().last()?)?;
    let symbol = symbol.trim();
    let function = symbol.split("+0x").next().unwrap_or(symbol).trim();
    (!function.is_empty()).then(|| LockPoint { function: function.to_owned(), count })
}
