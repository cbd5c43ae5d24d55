//! Classes of variants as one table. Runs of a variant are averaged; points match by function.

use super::{LockClass, LockFigures, LockPoint};
use crate::tables::figures::{signed_percent, significant};
use crate::tables::grid::Grid;
use serde::Serialize;
use std::fmt::Write;

/// A function at the same lock in all variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointRow {
    /// The function.
    pub function: String,
    /// Counts by variant; none where the kernel lists it not among its first four.
    pub counts: Vec<Option<f64>>,
}

/// A class in all variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LockRow {
    /// The class.
    pub class: String,
    /// Figures by variant; none where the class is not listed.
    pub figures: Vec<Option<LockFigures>>,
    /// Functions that waited.
    pub waiters: Vec<PointRow>,
    /// Functions that held it meanwhile.
    pub holders: Vec<PointRow>,
}

impl LockRow {
    /// The longest total wait of any variant, by which classes are ordered.
    fn wait(&self) -> f64 {
        self.figures.iter().flatten().map(|figures| figures.wait_total).fold(0.0, f64::max)
    }
}

/// All classes of all variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LockTable {
    /// The variants' names.
    pub variants: Vec<String>,
    /// Texts of each, which were averaged.
    pub runs: Vec<usize>,
    /// The classes, those first for which was waited longest.
    pub classes: Vec<LockRow>,
}

impl LockTable {
    /// Puts variants side by side, each of one or more texts.
    #[must_use]
    pub fn new(variants: &[(String, Vec<Vec<LockClass>>)]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for class in variants.iter().flat_map(|(_, texts)| texts.iter().flatten()) {
            if !names.contains(&class.name.as_str()) {
                names.push(&class.name);
            }
        }
        let averaged = |name: &str| -> Vec<Option<LockClass>> {
            variants.iter().map(|(_, texts)| average(texts, name)).collect()
        };
        let row = |name: &str| {
            let classes = averaged(name);
            let points = |points: fn(&LockClass) -> &Vec<LockPoint>| {
                let lists: Vec<Option<&Vec<LockPoint>>> =
                    classes.iter().map(|class| class.as_ref().map(points)).collect();
                join_points(&lists)
            };
            LockRow {
                class: name.to_owned(),
                figures: classes.iter().map(|class| class.as_ref().map(|class| class.figures)).collect(),
                waiters: points(|class| &class.waiters),
                holders: points(|class| &class.holders),
            }
        };
        let mut classes: Vec<LockRow> = names.iter().map(|name| row(name)).collect();
        classes.sort_by(|left, right| right.wait().total_cmp(&left.wait()));
        Self {
            variants: variants.iter().map(|(name, _)| name.clone()).collect(),
            runs: variants.iter().map(|(_, texts)| texts.len()).collect(),
            classes,
        }
    }

    /// The first classes as text.
    #[must_use]
    pub fn draw(&self, top: usize) -> String {
        let mut out = String::new();
        for row in self.classes.iter().take(top) {
            self.draw_class(&mut out, row);
        }
        if self.classes.len() > top {
            let _ = writeln!(out, "and {} classes more", self.classes.len() - top);
        }
        if self.runs.iter().any(|runs| *runs > 1) {
            let runs: Vec<String> =
                self.variants.iter().zip(&self.runs).map(|(name, runs)| format!("{name} {runs}")).collect();
            let _ = writeln!(out, "means of so many texts: {}", runs.join(", "));
        }
        let _ = writeln!(out, "-: not listed, which is not zero: the kernel lists four points of each kind");
        out
    }

    fn draw_class(&self, out: &mut String, row: &LockRow) {
        let mut grid = Grid::default();
        grid.push(
            [row.class.clone()]
                .into_iter()
                .chain(self.variants.iter().cloned())
                .chain([String::new()])
                .collect(),
        );
        for (name, value) in FIGURES {
            let values: Vec<Option<f64>> =
                row.figures.iter().map(|figures| value(figures.as_ref()?)).collect();
            grid.push(
                [format!("  {name}")]
                    .into_iter()
                    .chain(cells(&values, name.ends_with('%')))
                    .chain([String::new()])
                    .collect(),
            );
        }
        for (title, points) in [("waited in", &row.waiters), ("held by", &row.holders)] {
            for point in points {
                let name = format!("  {title} {}", point.function);
                grid.push(
                    [name].into_iter().chain(cells(&point.counts, false)).chain([String::new()]).collect(),
                );
            }
        }
        grid.plain(out);
        out.push('\n');
    }
}

/// The name of a figure, and how it is found.
type NamedFigure = (&'static str, fn(&LockFigures) -> Option<f64>);

const FIGURES: [NamedFigure; 12] = [
    ("contentions", |figures| Some(figures.contentions)),
    ("contention bounces", |figures| Some(figures.contention_bounces)),
    ("acquisitions", |figures| Some(figures.acquisitions)),
    ("acquisition bounces", |figures| Some(figures.acquisition_bounces)),
    ("contended, %", LockFigures::contended_percent),
    ("bounced, %", LockFigures::bounced_percent),
    ("wait total, us", |figures| Some(figures.wait_total)),
    ("wait mean, us", LockFigures::wait_mean),
    ("wait max, us", |figures| Some(figures.wait_max)),
    ("hold total, us", |figures| Some(figures.hold_total)),
    ("hold mean, us", LockFigures::hold_mean),
    ("hold max, us", |figures| Some(figures.hold_max)),
];

/// Values, with their change from the first: in percent, of percentages in points.
fn cells(values: &[Option<f64>], is_percent: bool) -> Vec<String> {
    let base = values.first().copied().flatten();
    let cell = |(index, value): (usize, &Option<f64>)| {
        let Some(value) = value else { return "-".to_owned() };
        let shown = if value.fract() == 0.0 && value.abs() < 1e15 {
            format!("{value:.0}")
        } else {
            significant(*value)
        };
        match base.filter(|_| index > 0) {
            Some(base) if is_percent => format!("{shown} ({:+.2})", value - base),
            Some(base) if base != 0.0 => {
                format!("{shown} ({})", signed_percent(Some(100.0 * (value / base - 1.0))))
            }
            _ => shown,
        }
    };
    values.iter().enumerate().map(cell).collect()
}

/// The class over all texts of a variant that list it: least, largest and mean figures.
fn average(texts: &[Vec<LockClass>], name: &str) -> Option<LockClass> {
    let found: Vec<&LockClass> =
        texts.iter().filter_map(|classes| classes.iter().find(|class| class.name == name)).collect();
    let count = found.len() as f64;
    let first = *found.first()?;
    if found.len() == 1 {
        return Some(first.clone());
    }
    let mean = |figure: fn(&LockFigures) -> f64| {
        found.iter().map(|class| figure(&class.figures)).sum::<f64>() / count
    };
    let least = |figure: fn(&LockFigures) -> f64| {
        found.iter().map(|class| figure(&class.figures)).fold(f64::MAX, f64::min)
    };
    let largest = |figure: fn(&LockFigures) -> f64| {
        found.iter().map(|class| figure(&class.figures)).fold(0.0, f64::max)
    };
    let figures = LockFigures {
        contention_bounces: mean(|figures| figures.contention_bounces),
        contentions: mean(|figures| figures.contentions),
        wait_min: least(|figures| figures.wait_min),
        wait_max: largest(|figures| figures.wait_max),
        wait_total: mean(|figures| figures.wait_total),
        acquisition_bounces: mean(|figures| figures.acquisition_bounces),
        acquisitions: mean(|figures| figures.acquisitions),
        hold_min: least(|figures| figures.hold_min),
        hold_max: largest(|figures| figures.hold_max),
        hold_total: mean(|figures| figures.hold_total),
    };
    let points = |points: fn(&LockClass) -> &Vec<LockPoint>| {
        let mut sums: Vec<LockPoint> = Vec::new();
        for point in found.iter().flat_map(|class| points(class)) {
            match sums.iter_mut().find(|known| known.function == point.function) {
                Some(known) => known.count += point.count / count,
                None => sums.push(LockPoint { function: point.function.clone(), count: point.count / count }),
            }
        }
        sums
    };
    let (waiters, holders) = (points(|class| &class.waiters), points(|class| &class.holders));
    Some(LockClass { name: name.to_owned(), figures, waiters, holders })
}

/// Points of all variants by function, those first that count most.
fn join_points(lists: &[Option<&Vec<LockPoint>>]) -> Vec<PointRow> {
    let mut rows: Vec<PointRow> = Vec::new();
    for (index, point) in lists.iter().enumerate().flat_map(|(index, list)| {
        list.iter().flat_map(move |list| list.iter().map(move |point| (index, point)))
    }) {
        let at = match rows.iter().position(|row| row.function == point.function) {
            Some(at) => at,
            None => {
                rows.push(PointRow { function: point.function.clone(), counts: vec![None; lists.len()] });
                rows.len() - 1
            }
        };
        if let Some(count) = rows.get_mut(at).and_then(|row| row.counts.get_mut(index)) {
            *count = Some(point.count);
        }
    }
    let most = |row: &PointRow| row.counts.iter().flatten().copied().fold(0.0, f64::max);
    rows.sort_by(|left, right| {
        most(right).total_cmp(&most(left)).then_with(|| left.function.cmp(&right.function))
    });
    rows
}
