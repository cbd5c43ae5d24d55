//! Files between stages: plans and profiles.

use fieldline_access::AccessProfile;
use fieldline_check::change::TypeChange;
use fieldline_check::prediction::PredictionVerdict;
use fieldline_layout::Layout;
use fieldline_layout::constraint::{Constraints, PlacementRequests, constraints};
use fieldline_plan::cost::VisitModel;
use fieldline_plan::placement::{MemberAddition, rank_positions};
use fieldline_plan::simulate::{
    Population, Rearrangement, SimulatedMachine, SimulatedStruct, TraceAccess, TraceAccesses, TraceObject,
    sample_trace, simulate,
};
use fieldline_plan::{Plan, PlanOptions, PlanRequest, count_samples};

/// Most members of a struct that is planned: the search takes long by design.
const SEARCHED: usize = 6;

/// A plan, as `simulate` and `verify` read it.
pub fn plan(bytes: &[u8]) {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    let _ = plan.check_format();
    let objects = (0..).zip(&plan.structs).map(|(struct_index, plan)| TraceObject {
        base: 0x1000 + 0x10_0000 * struct_index as u64,
        size: plan.declared.size,
        struct_index,
    });
    let objects: Vec<TraceObject> = objects.collect();
    let accesses = (0..64u64).map(|number| {
        let (cpu, address) = (number as usize % 2, 0x1000 + number % 4 * 0x10_0000 + number * 24);
        TraceAccess { cpu, address, size: 8, is_store: number % 3 == 0 }
    });
    let accesses: Vec<TraceAccess> = accesses.collect();
    let sizes = [1 << 12, 1 << 13, 1 << 14];
    let machine = SimulatedMachine { cpus: 2, line: 64, sizes, gap: 10, block: 16 };
    for order in [Rearrangement::declared, Rearrangement::chosen] {
        let structs: Vec<Rearrangement> = plan.structs.iter().map(order).collect();
        let _ = simulate(&machine, &objects, &structs, &[], &TraceAccesses::Listed(accesses.iter()));
    }
    for item in &plan.structs {
        let _ = (item.order(), item.changes());
    }
    let _ = serde_json::to_vec(&plan);
}

/// A profile, as `plan`, `place`, `merge`, `check` and `simulate` read it.
pub fn profile(bytes: &[u8]) {
    let Ok(profile) = serde_json::from_slice::<AccessProfile>(bytes) else { return };
    let mut sum = profile.clone();
    if profile.check_same_program(&sum).is_ok() {
        sum.merge(profile.clone());
    }
    for item in &profile.types {
        if let Some(layout) = &item.layout {
            plan_struct(&profile, layout);
        }
    }
    let _ = serde_json::to_vec(&sum);
}

fn plan_struct(profile: &AccessProfile, layout: &Layout) {
    let _ = count_samples(profile, layout);
    add_member(profile, layout);
    let requests = PlacementRequests::default();
    let Ok(units) = constraints(layout, &requests) else { return };
    visits(profile, layout, &units);
    if layout.members.len() <= SEARCHED {
        let subjects = [PlanRequest { layout, requests: &requests }];
        let plan = fieldline_plan::plan(profile, &subjects, &PlanOptions::default());
        for item in &plan.structs {
            if let Ok(predicted) = item.predicted(layout) {
                let _ = PredictionVerdict::new(&predicted, layout).holds();
                let _ = TypeChange::between(layout, &predicted, &[64, 128]);
            }
        }
    }
}

fn add_member(profile: &AccessProfile, layout: &Layout) {
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
