//! Texts of /proc/lock_stat: locks by class, of several variants side by side.
//!
//! * `read`: the text (Documentation/locking/lockstat.rst of the kernel); `member`: the member that a class names.
//! * `table`: classes of variants as one table.

mod member;
mod read;
mod table;

pub use member::LockMember;
pub use read::read_lock_stat;
pub use table::{LockRow, LockTable, PointRow};

use serde::Serialize;

/// Figures of a class. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LockFigures {
    /// Contentions that involved another CPU's data.
    pub contention_bounces: f64,
    /// Acquisitions that had to wait.
    pub contentions: f64,
    /// The shortest wait.
    pub wait_min: f64,
    /// The longest wait.
    pub wait_max: f64,
    /// All waits.
    pub wait_total: f64,
    /// Acquisitions that involved another CPU's data.
    pub acquisition_bounces: f64,
    /// All acquisitions.
    pub acquisitions: f64,
    /// The shortest time held.
    pub hold_min: f64,
    /// The longest time held.
    pub hold_max: f64,
    /// All time held.
    pub hold_total: f64,
}

impl LockFigures {
    /// Percent of the acquisitions that had to wait.
    #[must_use]
    pub fn contended_percent(&self) -> Option<f64> {
        ratio(100.0 * self.contentions, self.acquisitions)
    }

    /// Percent of the acquisitions that found the lock's data with another CPU.
    #[must_use]
    pub fn bounced_percent(&self) -> Option<f64> {
        ratio(100.0 * self.acquisition_bounces, self.acquisitions)
    }

    /// The mean wait of those that waited.
    #[must_use]
    pub fn wait_mean(&self) -> Option<f64> {
        ratio(self.wait_total, self.contentions)
    }

    /// The mean time held.
    #[must_use]
    pub fn hold_mean(&self) -> Option<f64> {
        ratio(self.hold_total, self.acquisitions)
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    Some(part / whole).filter(|ratio| ratio.is_finite())
}

/// A function that waited for a lock, or held it while others waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LockPoint {
    /// The function, without the offset.
    pub function: String,
    /// How often.
    pub count: f64,
}

/// A class of locks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LockClass {
    /// As the kernel names it, such as `&rq->__lock`.
    pub name: String,
    /// Its figures.
    pub figures: LockFigures,
    /// Functions that waited.
    pub waiters: Vec<LockPoint>,
    /// Functions that held it meanwhile.
    pub holders: Vec<LockPoint>,
}
