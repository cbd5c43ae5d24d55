//! What was built against what a plan predicts for that build.

use crate::prediction;
use anyhow::{Context, Result};
use fieldline_check::PredictionVerdict;
use fieldline_layout::Layout;
use fieldline_plan::StructPlan;

/// One struct of one build.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Whether the layout is the predicted one.
    pub verdict: PredictionVerdict,
    /// Bytes predicted.
    pub size: u64,
    /// Bytes without the patch, where that was looked at.
    pub before: Option<u64>,
}

/// Compares the layouts of a struct's name in a build with the prediction: for another build than the plan's, out of the
/// layouts without the patch. Several structs may have the name: the plan's is one that has its members.
pub fn judge(of: &StructPlan, declared: Option<&[Layout]>, built: &[Layout]) -> Result<Vec<Judged>> {
    let declared = declared.and_then(|all| like(of, all));
    let predicted = match declared {
        Some(declared) => prediction::of_build(of, declared, like(of, built))
            .with_context(|| format!("struct {}: a union has no order", of.name))?,
        None => prediction::of_plan(of, like(of, built)),
    };
    let own = built.iter().filter(|built| has_members(&predicted, built));
    let mut judged: Vec<&Layout> = own.collect();
    if judged.is_empty() {
        judged.extend(built.first());
    }
    let judged = judged.into_iter().map(|built| Judged {
        verdict: PredictionVerdict::new(&predicted, built),
        size: predicted.size,
        before: declared.map(|layout| layout.size),
    });
    Ok(judged.collect())
}

/// The definition that has most members of the plan's, the one most units share first.
fn like<'l>(of: &StructPlan, layouts: &'l [Layout]) -> Option<&'l Layout> {
    let known = |layout: &Layout| {
        let names = layout.members.iter().filter_map(|member| member.name.as_deref());
        names.filter(|name| of.declared.members.iter().any(|own| own.name.as_deref() == Some(name))).count()
    };
    layouts.iter().rev().max_by_key(|layout| known(layout))
}

fn has_members(predicted: &Layout, built: &Layout) -> bool {
    let names = |layout: &Layout| {
        let mut names: Vec<Option<String>> =
            layout.members.iter().map(|member| member.name.clone()).collect();
        names.sort();
        names
    };
    names(predicted) == names(built)
}
