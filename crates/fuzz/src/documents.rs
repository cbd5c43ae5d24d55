//! Files between stages: plans and profiles.

use fieldline_access::AccessProfile;
use fieldline_check::change::TypeChange;
use fieldline_check::prediction::PredictionVerdict;
use fieldline_layout::Layout;
use fieldline_layout::constraint::{Constraints, PlacementRequests, constraints};
use fieldline_plan::cost::VisitModel;
use fieldline_plan::placement::{MemberAddition, rank_positions};
use fieldline_plan::simulate::{
    Population, Rearrangement, SimulatedMachine, SimulatedStruct, TraceAccess, TraceObject, sample_trace,
    simulate,
};
use fieldline_plan::{Plan, PlanOptions, PlanRequest, count_samples};

/// Longer declarations are not searched: a search takes a while by design.
const SEARCHED: usize = 6;

/// A plan: what `simulate` and `verify` do with it.
pub fn plan(bytes: &[u8]) {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    let _ = plan.check_format();
    let structs = |side: fn(&fieldline_plan::StructPlan) -> Rearrangement| -> Vec<Rearrangement> {
        plan.structs.iter().map(side).collect()
    };
    let objects: Vec<TraceObject> = (0..)
        .zip(&plan.structs)
        .map(|(index, plan)| TraceObject {
            base: 0x1000 + 0x10_0000 * index as u64,
            size: plan.declared.size,
            struct_index: index,
        })
        .collect();
    let accesses = (0..64u64).map(|at| TraceAccess {
        cpu: at as usize % 2,
        address: 0x1000 + at % 4 * 0x10_0000 + at * 24,
        size: 8,
        is_store: at % 3 == 0,
    });
    let machine =
        SimulatedMachine { cpus: 2, line: 64, sizes: [1 << 12, 1 << 13, 1 << 14], gap: 10, block: 16 };
    for side in [structs(Rearrangement::declared), structs(Rearrangement::chosen)] {
        let _ = simulate(&machine, &objects, &side, || accesses.clone());
    }
    for item in &plan.structs {
        let _ = (item.order(), item.changes());
    }
    let _ = serde_json::to_vec(&plan);
}

/// A profile: what `plan`, `place`, `merge`, `check` and `simulate` do with it.
pub fn profile(bytes: &[u8]) {
    let Ok(profile) = serde_json::from_slice::<AccessProfile>(bytes) else { return };
    let mut sum = profile.clone();
    if profile.check_same_program(&sum).is_ok() {
        sum.merge(profile.clone());
    }
    for item in &profile.types {
        if let Some(layout) = &item.layout {
            of_struct(&profile, layout);
        }
    }
    let _ = serde_json::to_vec(&sum);
}

fn of_struct(profile: &AccessProfile, layout: &Layout) {
    let _ = count_samples(profile, layout);
    add(profile, layout);
    let requests = PlacementRequests::default();
    let Ok(units) = constraints(layout, &requests) else { return };
    visits(profile, layout, &units);
    if layout.members.len() <= SEARCHED {
        let plan = fieldline_plan::plan(
            profile,
            &[PlanRequest { layout, requests: &requests }],
            &PlanOptions::default(),
        );
        for item in &plan.structs {
            if let Ok(predicted) = item.predicted(layout) {
                let _ = PredictionVerdict::new(&predicted, layout).holds();
                let _ = TypeChange::between(layout, &predicted, &[64, 128]);
            }
        }
    }
}

fn add(profile: &AccessProfile, layout: &Layout) {
    let Some(member) = layout.members.first() else { return };
    let addition = MemberAddition {
        layout,
        requests: &PlacementRequests::default(),
        guards: &[],
        member,
        declaration: "int new",
        align_limit: 8,
        with: &[0],
        is_cold: false,
    };
    let _ = serde_json::to_vec(&rank_positions(&addition, Some(profile), &PlanOptions::default()));
}

fn visits(profile: &AccessProfile, layout: &Layout, units: &Constraints) {
    let model = VisitModel::new(profile, layout, units, 64);
    let _ = (model.is_sufficient(), model.lines_per_visit(64));
    let subjects: [SimulatedStruct<'_>; 1] = [(&model, layout)];
    let _ = sample_trace(profile, &subjects, Population { objects: 16, visits: 64 });
}
