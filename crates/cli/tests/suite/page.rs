//! Pages: one file that loads nothing, in which names are text, with what the plan says.

use fieldline_testing::has_programs;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    path.to_str().unwrap().to_owned()
}

/// A folder to work in, with the profile and the plan of the built-in example.
struct Example {
    folder: tempfile::TempDir,
}

/// The profile and the plan of the example, made once for all tests.
static FILES: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let example = Example { folder: tempfile::tempdir().unwrap() };
    let (program, recording) = (fixture("demo/shaper"), fixture("demo/shaper.perf.data"));
    example.run(&["profile", "--program", &program, "--perf", &recording, "-o", "profile.json"]);
    let tree = fixture("demo/tree");
    let known = ["--profile", "profile.json", "--program", &program, "--tree", &tree, "-o", "plan.json"];
    example.run(&[&["plan", "tx_class", "tx_flow"], known.as_slice()].concat());
    ["profile.json", "plan.json"].map(|name| std::fs::read(example.path(name)).unwrap())
});

impl Example {
    fn new() -> Self {
        let example = Self { folder: tempfile::tempdir().unwrap() };
        for (name, bytes) in ["profile.json", "plan.json"].iter().zip(FILES.iter()) {
            std::fs::write(example.path(name), bytes).unwrap();
        }
        example
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exit code and standard error.
    fn try_run(&self, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
        let output = command.current_dir(self.folder.path()).args(args).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn run(&self, args: &[&str]) {
        let (code, err) = self.try_run(args);
        assert_eq!(code, 0, "{args:?}: {err}");
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    fn write(&self, name: &str, document: &Value) {
        std::fs::write(self.path(name), document.to_string()).unwrap();
    }

    /// The page of the profile with the plan.
    fn page(&self, more: &[&str]) -> String {
        let report = ["report", "--profile", "profile.json", "--html", "page.html"];
        self.run(&[report.as_slice(), more].concat());
        std::fs::read_to_string(self.path("page.html")).unwrap()
    }
}

/// The data in a page.
fn data(html: &str) -> Value {
    let text = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(text).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

#[test]
fn a_page_is_one_file_that_loads_nothing() {
    let html = Example::new().page(&["--plan", "plan.json"]);
    assert!(html.contains("default-src 'none'"));
    for loading in
        [" src=", "url(", "@import", "fetch(", "XMLHttpRequest", "import(", "WebSocket", "<iframe", "<object"]
    {
        assert!(!html.contains(loading), "{loading}");
    }
    let links = html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let leaving: Vec<&str> = links.filter(|link| !link.starts_with('#') && *link != "data:,").collect();
    assert_eq!(leaving, [] as [&str; 0]);
}

#[test]
fn names_are_text_wherever_they_stand() {
    let example = Example::new();
    let hostile = "</script><script>x</script><!--<img src=x onerror=x>";
    let mut profile = example.json("profile.json");
    for names in ["functions", "blind_spots"] {
        profile[names].as_array_mut().unwrap().iter_mut().for_each(|name| *name = json!(hostile));
    }
    profile["blind_spots"] = json!([hostile]);
    profile["coverage"][0]["event"] = json!(hostile);
    profile["recordings"][0]["command"] = json!(hostile);
    let changed = &mut profile["types"][0];
    changed["name"] = json!(hostile);
    changed["layout"]["name"] = json!(hostile);
    changed["layout"]["file"] = json!(hostile);
    changed["layout"]["members"][0]["name"] = json!(hostile);
    changed["layout"]["members"][0]["type_name"] = json!(hostile);
    example.write("profile.json", &profile);
    let html = example.page(&[]);
    assert_eq!(html.matches("<script").count(), 2, "the data and the script");
    assert!(!html.contains("<img") && !html.contains("<!--"));
    let structs = data(&html);
    let shown = list(&structs["structs"]).iter().find(|shown| shown["name"] == hostile).unwrap();
    assert_eq!(shown["members"][0]["name"], hostile);
    assert!(list(&structs["functions"]).contains(&json!(hostile)));
}

#[test]
fn every_run_and_any_number_of_threads_write_the_same_page() {
    let example = Example::new();
    let pages = ["1", "2", "2"].map(|threads| example.page(&["--plan", "plan.json", "--threads", threads]));
    assert!(pages[0] == pages[1] && pages[1] == pages[2]);
}

#[test]
fn the_proposed_order_is_drawn_as_the_plan_has_it() {
    let example = Example::new();
    let page = data(&example.page(&["--plan", "plan.json"]));
    for planned in list(&example.json("plan.json")["structs"]) {
        let shown = list(&page["structs"]).iter().find(|shown| shown["name"] == planned["name"]).unwrap();
        let order = &shown["orders"][number(&shown["shown"]) as usize];
        let drawn: Vec<(u64, u64)> = list(&order["places"][0]["members"])
            .iter()
            .map(|place| (number(&place[0]), number(&place[1]) / 8))
            .collect();
        let chosen = list(&planned["chosen"]["members"]).iter();
        let chosen: Vec<(u64, u64)> =
            chosen.map(|member| (number(&member["index"]), number(&member["offset"]))).collect();
        assert_eq!(drawn, chosen);
        let moved: Vec<u64> = list(&planned["moved"]).iter().map(|member| number(&member["index"])).collect();
        assert_eq!(list(&order["moved"]).iter().map(number).collect::<Vec<_>>(), moved);
        assert!(moved.iter().all(|index| !list(&shown["members"][*index as usize]["why"]).is_empty()));
    }
}

#[test]
fn members_and_gaps_fill_each_drawing() {
    let page = data(&Example::new().page(&["--plan", "plan.json"]));
    for shown in list(&page["structs"]) {
        let samples: u64 =
            list(&shown["touches"]).iter().map(|touch| number(&touch[3]) + number(&touch[4])).sum();
        assert_eq!(samples, number(&shown["samples"]));
        for places in list(&shown["orders"]).iter().flat_map(|order| list(&order["places"])) {
            let bits = |key: &str| list(&places[key]).iter().map(|place| number(&place[2])).sum::<u64>();
            assert_eq!(bits("members") + bits("gaps"), 8 * number(&places["size"]), "{}", shown["name"]);
        }
    }
}

#[test]
fn members_under_a_condition_say_which() {
    let example = Example::new();
    let conditions: usize = list(&example.json("plan.json")["structs"])
        .iter()
        .map(|planned| planned["conditions"].as_array().map_or(0, Vec::len))
        .sum();
    assert!(conditions > 0, "the example has members under #if");
    let page = data(&example.page(&["--plan", "plan.json"]));
    let members = list(&page["structs"]).iter().flat_map(|shown| list(&shown["members"]));
    assert_eq!(members.filter(|member| member.get("conditions").is_some()).count(), conditions);
}

/// Builds of the example: with other settings, and with pointers of four bytes.
const OTHER_BUILDS: [(&str, &[&str]); 2] = [("debug.o", &[]), ("small.o", &["-m32"])];

/// Compiles them into the folder; their names, with commas between.
fn compile_other_builds(example: &Example) -> String {
    let settings = "#define CONFIG_SHAPER_BANDWIDTH 1\n#define CONFIG_SHAPER_DEBUG 1\n";
    std::fs::write(example.path("settings.h"), settings).unwrap();
    let (tree, settings) = (fixture("demo/tree"), example.path("settings.h"));
    for (name, more) in OTHER_BUILDS {
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=gnu11", "-g", "-Iinclude", "-include"]).arg(&settings).args(more).current_dir(&tree);
        let output = gcc.args(["-c", "shaper/setup.c", "-o"]).arg(example.path(name)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    OTHER_BUILDS.map(|(name, _)| name).join(",")
}

/// Offset and name of each member that is drawn, in order of place.
fn drawn(shown: &Value, places: &Value) -> Vec<(u64, String)> {
    let name =
        |place: &Value| shown["members"][number(&place[0]) as usize]["name"].as_str().unwrap().to_owned();
    list(&places["members"]).iter().map(|place| (number(&place[1]), name(place))).collect()
}

#[test]
fn other_builds_are_drawn_with_every_order() {
    if !cfg!(target_arch = "x86_64") || !has_programs(&["gcc"]) {
        return;
    }
    let example = Example::new();
    let also = compile_other_builds(&example);
    let program = fixture("demo/shaper");
    let known = ["--profile", "profile.json", "--program", &program, "--also", &also, "-o", "plan.json"];
    example.run(&[&["plan", "tx_class", "tx_flow"], known.as_slice()].concat());
    let page = data(&example.page(&["--plan", "plan.json", "--also", &also]));
    for planned in list(&example.json("plan.json")["structs"]) {
        let shown = list(&page["structs"]).iter().find(|shown| shown["name"] == planned["name"]).unwrap();
        for (name, _) in OTHER_BUILDS {
            let is_it = |build: &Value| build["label"].as_str().unwrap().ends_with(name);
            let build = list(&shown["builds"]).iter().position(is_it).unwrap();
            assert_eq!(shown["builds"][build]["drawn"], true, "{}", shown["builds"][build]);
            let places = |order: usize| {
                let of_order = list(&shown["orders"][order]["places"]).iter();
                of_order.clone().find(|places| number(&places["build"]) == build as u64).unwrap()
            };
            // As declared, it is what that compiler made of it.
            let mut layout = Command::new(env!("CARGO_BIN_EXE_fieldline"));
            layout.args(["layout", shown["name"].as_str().unwrap(), "--format", "json", "--vmlinux"]);
            let output = layout.arg(example.path(name)).output().unwrap();
            let compiled: Value = serde_json::from_slice(&output.stdout).unwrap();
            let compiled = list(&compiled["layouts"][0]["members"]);
            let declared = drawn(shown, places(0));
            assert_eq!(declared.len(), compiled.len(), "{name}");
            for ((offset, label), member) in declared.iter().zip(compiled) {
                let is_named = member["name"].as_str().is_none_or(|name| name == label);
                assert!(is_named && *offset == number(&member["bit_offset"]), "{name}: {label}: {member}");
            }
            // Each candidate takes the bytes that the plan says.
            for (order, candidate) in (1..).zip(list(&planned["candidates"])) {
                let is_it = |size: &&Value| size["build"] == name;
                let size = list(&candidate["sizes"]).iter().find(is_it).unwrap();
                assert_eq!(places(order)["size"], size["after"], "{name}, candidate {order}");
                assert_eq!(places(0)["size"], size["before"], "{name}");
                assert_eq!(drawn(shown, places(order)).len(), drawn(shown, places(0)).len());
            }
        }
        let debug =
            list(&shown["builds"]).iter().find(|build| build["label"].as_str().unwrap().ends_with("debug.o"));
        let absent = list(&debug.unwrap()["absent"]).iter().map(number);
        let absent: Vec<&Value> = absent.map(|index| &shown["members"][index as usize]["name"]).collect();
        assert!(absent.contains(&&json!("bytes")) || absent.contains(&&json!("acked")), "{absent:?}");
    }
    // Without its file, what the plan says of a build is all there is.
    let page = data(&example.page(&["--plan", "plan.json"]));
    let builds = list(&page["structs"]).iter().flat_map(|shown| list(&shown["builds"]));
    let undrawn: Vec<&Value> = builds.filter(|build| build["drawn"] == false).collect();
    assert_eq!(undrawn.len(), 4, "{undrawn:?}");
    let (code, err) =
        example.try_run(&["report", "--profile", "profile.json", "--html", "x", "--also", "absent.o"]);
    assert!(code == 2 && err.contains("absent.o"), "{err}");
}

#[test]
fn a_profile_of_nothing_makes_a_page_that_says_so() {
    let example = Example::new();
    let empty = json!({"format": "fieldline-profile", "version": 1, "recordings": [], "coverage": [], "blind_spots": [],
        "types": [], "functions": [], "windows": []});
    example.write("profile.json", &empty);
    let html = example.page(&[]);
    assert!(html.contains("There is no struct to show"));
    assert_eq!(data(&html)["structs"], json!([]));
}

#[test]
fn a_plan_that_does_not_fit_is_refused_and_nothing_is_written() {
    let example = Example::new();
    let plan = example.json("plan.json");
    let report = ["report", "--profile", "profile.json", "--plan", "other.json", "--html", "page.html"];
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut other = plan.clone();
        change(&mut other["structs"][0]);
        example.write("other.json", &other);
        let (code, err) = example.try_run(&report);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("other.json"), "{err}");
        assert!(!example.path("page.html").exists());
    };
    refused(&|plan| plan["fingerprint"] = json!(1));
    refused(&|plan| plan["candidates"][0]["order"] = json!([0, 0]));
    refused(&|plan| plan["chosen"]["members"][0]["offset"] = json!(4096));
    let (code, err) = example.try_run(&["report", "--profile", "profile.json", "--html", "absent/page.html"]);
    assert!(code == 2 && err.contains("absent"), "{err}");
}

#[test]
fn propose_writes_a_page_with_its_patches() {
    let example = Example::new();
    let (program, recording, tree) =
        (fixture("demo/shaper"), fixture("demo/shaper.perf.data"), fixture("demo/tree"));
    let inputs =
        ["--program", &program, "--perf", &recording, "--tree", &tree, "--confidence", "0", "-o", "out"];
    // The program itself stands for a build of another place.
    let other = std::fs::copy(&program, example.path("other")).map(|_| ["--also", "other"]).unwrap();
    example.run(&[&["propose", "tx_class"], inputs.as_slice(), &other].concat());
    let html = std::fs::read_to_string(example.path("out/report.html")).unwrap();
    let page = data(&html);
    let build = list(&page["structs"][0]["builds"]).iter().find(|build| build["label"] == "other").unwrap();
    assert_eq!(build["drawn"], true);
    assert!(example.path("out/report.md").exists());
    assert!(html.contains("Copy the patch 0001-"), "the patch");
    assert!(html.contains("Copy the commit message"), "the message");
    assert!(html.contains("+++ b/include/shaper.h"));
}

#[test]
fn two_files_and_a_check_are_drawn_side_by_side() {
    let example = Example::new();
    let program = fixture("demo/shaper");
    example.run(&["baseline", "tx_class", "tx_flow", "--program", &program, "-o", "old.json"]);
    let mut kept = example.json("old.json");
    // Before, the first member was not there.
    let changed = &mut kept["types"][0];
    changed["members"].as_array_mut().unwrap().remove(0);
    let name = changed["name"].clone();
    example.write("old.json", &kept);
    example.run(&["diff", "old.json", &program, "tx_class", "tx_flow", "--html", "diff.html"]);
    let html = std::fs::read_to_string(example.path("diff.html")).unwrap();
    let page = data(&html);
    let [shown] = list(&page["structs"]) else { panic!("one struct differs") };
    assert_eq!(shown["name"], name);
    let ids: Vec<&Value> = list(&shown["orders"]).iter().map(|order| &order["id"]).collect();
    assert_eq!(ids, ["before", "now"]);
    assert!(shown["members"][0]["change"].as_str().unwrap().starts_with("added"), "{}", shown["members"][0]);

    let config = format!(
        "types = ['tx_class', 'tx_flow']\nprofile = 'profile.json'\n[target.main]\nfile = '{program}'\nagainst = 'old.json'\n"
    );
    std::fs::write(example.path("fieldline.toml"), config).unwrap();
    let (code, err) = example.try_run(&["check", "--html", "check.html"]);
    assert!(code <= 1, "{err}");
    let html = std::fs::read_to_string(example.path("check.html")).unwrap();
    let page = data(&html);
    assert_eq!(list(&page["structs"]).len(), 2);
    // The profile is of the later layout, which both structs have.
    assert!(list(&page["structs"]).iter().all(|shown| number(&shown["samples"]) > 0));
}
