//! First screens of the structs of the demo at several widths, as texts that a change has to change too; and bounds that
//! hold for any struct.
//!
//! `FIELDLINE_WRITE_SCREENS=1 cargo test -p fieldline-cli screens` writes the texts anew.

use super::accesses::ReportedStruct;
use super::plan::PlanScreen;
use super::text::columns;
use super::{FIRST_ROWS, FURTHER_ROWS, Screen, coverage};
use crate::input::recordings::{RecordingInputs, attribute};
use crate::planning::PlanInputs;
use crate::report::color::Palette;
use crate::report::profile::heat::TypeHeat;
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_plan::{Plan, PlanOptions};
use fieldline_tree::limits::SourceInput;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const TYPES: [&str; 5] = ["tx_class", "tx_flow", "tx_cpu", "packet", "tx_flight"];
const WIDTHS: [usize; 3] = [80, 100, 200];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The demo's profile and the plan of its structs, with cross-validation.
fn demo() -> &'static (AccessProfile, Plan) {
    static DEMO: OnceLock<(AccessProfile, Plan)> = OnceLock::new();
    DEMO.get_or_init(|| {
        let folder = root().join("fixtures/demo");
        let (program, tree) = (folder.join("shaper"), folder.join("tree"));
        let recorded = RecordingInputs {
            programs: vec![program.clone()],
            perf: vec![folder.join("shaper.perf.data")],
            ..RecordingInputs::default()
        };
        let profile = attribute(&recorded, |attributed| attributed.profile()).unwrap();
        let types = TYPES.map(str::to_owned);
        let tree = Some(tree.as_path());
        let source = SourceInput { tree, code: None, kept: None, allowed: None, progress: &|_| () };
        let inputs =
            PlanInputs { types: &types, program: &program, source, pins: None, profile: Some(&profile) };
        let limited = inputs.limit_structs(None).unwrap();
        let options = PlanOptions { resamples: 2, ..PlanOptions::default() };
        let options = inputs.add_builds(options, &[]).unwrap();
        let mut plan = fieldline_plan::plan(&profile, &limited.requests(), &options);
        limited.annotate(&mut plan, &inputs).unwrap();
        (profile, plan)
    })
}

fn screen(width: usize) -> Screen {
    Screen { width, paint: Palette::new(false), reserved: 0 }
}

fn plan_text(plan: &Plan, profile: Option<&AccessProfile>, width: usize) -> String {
    let next = ["fieldline", "patch", "--plan", "plan.json", "--tree", "tree", "-o", "patches"];
    let (mut out, screen) = (String::new(), screen(width));
    let text = PlanScreen { plan, profile, next: &next.map(str::to_owned), parts: &[] };
    text.draw(&mut out, screen, screen.rows(), screen.rows());
    out
}

fn report_text(profile: &AccessProfile, types: &[&TypeProfile], width: usize) -> String {
    let screen = screen(width);
    let mut head = screen.rows();
    coverage::draw(&mut head, profile);
    screen.assemble((head, screen.rows()), types, |rows, part, most| {
        let layout = part.layout.as_ref();
        let heat = TypeHeat::new(profile, part, layout);
        ReportedStruct { heat: &heat, profile: part, layout, line: 64, who: "CPUs" }.draw(rows, most);
    })
}

fn check_bounds(text: &str, structs: usize, width: usize) {
    let most = FIRST_ROWS + FURTHER_ROWS * (structs - 1);
    assert!(text.lines().count() <= most, "{} rows for {structs} structs:\n{text}", text.lines().count());
    text.lines().for_each(|row| assert!(columns(row) <= width, "{} of {width} columns: {row}", columns(row)));
}

fn with_structs(plan: &Plan, names: &[&str]) -> Plan {
    let structs = plan.structs.iter().filter(|part| names.contains(&part.name.as_str())).cloned().collect();
    Plan { structs, ..plan.clone() }
}

/// Compares a text with the one that is kept.
fn check_kept(name: &str, text: &str) {
    let path = root().join("crates/cli/tests/screens").join(name);
    if std::env::var_os("FIELDLINE_WRITE_SCREENS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == text, "{} differs:\n{text}", path.display());
}

#[test]
fn screens_of_plans_are_as_kept() {
    let (profile, plan) = demo();
    for width in WIDTHS {
        let mut text = String::new();
        for name in TYPES {
            let own = plan_text(&with_structs(plan, &[name]), Some(profile), width);
            check_bounds(&own, 1, width);
            text.push_str(&own);
        }
        check_kept(&format!("plan-{width}.txt"), &text);
        let all = plan_text(plan, Some(profile), width);
        check_bounds(&all, TYPES.len(), width);
        check_kept(&format!("plans-{width}.txt"), &all);
        check_bounds(&plan_text(&with_structs(plan, &TYPES[..2]), Some(profile), width), 2, width);
    }
}

#[test]
fn screens_of_reports_are_as_kept() {
    let (profile, _) = demo();
    let types: Vec<&TypeProfile> = TYPES.map(|name| profile.find_type(name).unwrap()).to_vec();
    for width in WIDTHS {
        let mut text = String::new();
        for part in &types {
            let own = report_text(profile, &[part], width);
            check_bounds(&own, 1, width);
            text.push_str(&own);
        }
        check_kept(&format!("report-{width}.txt"), &text);
        check_bounds(&report_text(profile, &types, width), types.len(), width);
    }
}

/// A struct of many members with names of some length, all of them moved to the opposite end.
fn large(members: usize, name: &str) -> (AccessProfile, Plan) {
    let member = |at: usize, place: usize| json!({"index": at, "name": format!("{name}{at}"), "type_name": "long", "offset": 8 * place, "size": 8, "line": 0});
    let order = |place: &dyn Fn(usize) -> usize| {
        let mut all: Vec<Value> = (0..members).map(|at| member(at, place(at))).collect();
        all.sort_by_key(|member| member["offset"].as_u64());
        json!({"size": 8 * members, "members": all})
    };
    let moved = (0..members).map(|at| {
        json!({"index": at, "name": format!("{name}{at}"), "from": 8 * at, "to": 8 * (members - 1 - at), "loads": at,
            "stores": 1, "share": 0.1, "functions": [name, name, name], "with": [name, "b"], "reason": name})
    });
    let comment = json!({"file": format!("{name}.h"), "line": 4, "text": name});
    let forecast = |line: u64| {
        json!({"line": line, "build_line": line, "together": {"before": 2.5, "after": 1.5},
            "alone": {"before": 2.5, "after": 1.5}, "bound": 1.0})
    };
    let text = json!({"format": "fieldline-plan", "version": 1, "lines": [64, 128], "build_line": 64, "structs": [{
        "name": name, "fingerprint": 0, "outcome": "moved", "samples": 5, "needed": 0,
        "declared": order(&|at| at), "chosen": order(&|at| members - 1 - at),
        "moved": moved.collect::<Vec<_>>(), "forecasts": [forecast(64), forecast(128)],
        "sizes": [{"build_line": 64, "before": 8 * members, "after": 8 * members}],
        "comments": vec![comment; 20], "grows": vec![name; 20], "notes": vec![name; 20]}]});
    let access = |at: usize| {
        json!({"ip": at, "function": 0, "offset": 8 * at, "size": 8, "loads": {"samples": 1 + at, "period": 1},
            "stores": {"samples": 0, "period": 0}, "latency": 3})
    };
    let sampled = json!({"name": name, "size": 8 * members, "fingerprint": 0,
        "accesses": (0..members).map(access).collect::<Vec<_>>(), "cpus": []});
    let mut profile = AccessProfile::empty();
    profile.functions = vec![name.to_owned()];
    profile.types = vec![serde_json::from_value(sampled).unwrap()];
    (profile, serde_json::from_value(text).unwrap())
}

#[test]
fn no_name_and_no_number_of_members_breaks_the_bounds() {
    let template = "std::_Rb_tree<std::pair<unsigned long, tx::Class>, ".repeat(4);
    for name in ["m", &template, "\u{4e2d}\u{6587}\u{1b}[31m"] {
        for members in [1, 9, 400] {
            let (profile, plan) = large(members, name);
            for width in [40, 80, 100, 151, 200, 400] {
                check_bounds(&plan_text(&plan, Some(&profile), width), 1, width);
                check_bounds(&plan_text(&plan, None, width), 1, width);
                check_bounds(&report_text(&profile, &[&profile.types[0]], width), 1, width);
            }
        }
    }
}
