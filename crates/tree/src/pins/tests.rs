use super::*;
use fieldline_layout::constraint::{CachelineRequestKind, PinnedMember};
use fieldline_layout::{Member, testing};

fn layout() -> Layout {
    let places = [
        ("load", 0, 8),
        ("nr_running", 8, 8),
        ("avg", 16, 60),
        ("curr", 80, 8),
        ("", 88, 8),
        ("tail", 96, 8),
    ];
    let mut members: Vec<Member> =
        places.iter().map(|(name, offset, size)| testing::member(name, *offset, *size, 8)).collect();
    members[4].members = vec![testing::member("inner", 0, 8, 8)];
    testing::layout("queue", 104, members)
}

fn requests(text: &str) -> Result<PlacementRequests> {
    let mut requests = PlacementRequests::default();
    parse::parse("pins.toml", text)?.add_to(&mut requests, &layout(), 64)?;
    Ok(requests)
}

fn refused(text: &str) -> String {
    requests(text).unwrap_err().to_string()
}

#[test]
fn pins_become_requests_with_their_place() {
    let text = "# ours\n[queue]\nkeep = [\"tail\"]\nfirst = [\"load\", \"curr\"]\nsame-line = [\n  [\"nr_running\", \"curr\"],\n]\n\
                apart = [[\"load\", \"inner\"]]\ngroup = [[\"avg\", \"tail\"]]\n";
    let found = requests(text).unwrap();
    assert_eq!(found.keep, [PinnedMember { member: 5, reason: "keep tail (pins.toml:3)".to_owned() }]);
    assert_eq!(found.first.iter().map(|pin| pin.member).collect::<Vec<_>>(), [0, 3]);
    let lines: Vec<(CachelineRequestKind, Vec<usize>, &str)> = found
        .line_requests
        .iter()
        .map(|request| (request.kind, request.members.clone(), request.reason.as_str()))
        .collect();
    let wanted = [
        (CachelineRequestKind::Same, vec![1, 3], "same-line nr_running, curr (pins.toml:6)"),
        (CachelineRequestKind::Separate, vec![0, 4], "apart load, inner (pins.toml:8)"),
        (CachelineRequestKind::Group, vec![2, 5], "group avg, tail (pins.toml:9)"),
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn other_structs_have_no_say() {
    assert_eq!(requests("[other]\nfirst = [\"x\"]\n").unwrap(), PlacementRequests::default());
    assert!(requests("[\"struct queue\"]\nfirst = [\"load\"]\n").unwrap().first.len() == 1);
}

#[test]
fn what_does_not_exist_is_refused_with_its_place_and_what_is_near() {
    let message = refused("\n[queue]\nkeep = [\"load\",\n \"nr_runing\"]\n");
    assert_eq!(message, "pins.toml:4: struct queue has no member 'nr_runing'; did you mean 'nr_running'?");
    assert_eq!(
        refused("[queue]\nfrist = [\"load\"]\n"),
        "pins.toml:2: there is no pin 'frist'; did you mean 'first'?"
    );
    let file = parse::parse("pins.toml", "\n[queu]\nkeep = [\"load\"]\n").unwrap();
    let message = file.check_structs(&["queue", "other"], |_| Ok(false)).unwrap_err().to_string();
    assert_eq!(message, "pins.toml:2: there is no struct 'queu'; did you mean 'queue'?");
    assert!(file.check_structs(&["queue"], |name| Ok(name == "queu")).is_ok());
}

#[test]
fn broken_files_are_refused_with_the_line() {
    assert!(refused("[queue\n").starts_with("pins.toml:1: "));
    assert!(refused("[queue]\nkeep = 1\n").starts_with("pins.toml:2: 'keep' takes a list of members"));
    assert!(refused("[queue]\nkeep = []\n").contains("'keep' takes a list"));
    assert!(
        refused("[queue]\n\nsame-line = [\"load\", \"curr\"]\n")
            .starts_with("pins.toml:3: 'same-line' takes lists")
    );
    assert!(refused("[queue]\napart = [[\"load\"]]\n").contains("two or more"));
    assert!(refused("queue = 1\n").contains("is no struct"));
    assert!(refused("[queue]\nkeep = [\"load\"]\n[\"struct queue\"]\nkeep = [\"avg\"]\n").contains("twice"));
}

#[test]
fn contradictions_are_refused() {
    let cases = [
        ("first = [\"load\", \"load\"]", "stands here twice"),
        ("first = [\"load\"]\nlast = [\"load\"]", "'load' is pinned last, and first in line 2"),
        ("same-line = [[\"avg\", \"load\"]]", "take 68 bytes, more than a cacheline of 64"),
        (
            "same-line = [[\"load\", \"curr\"]]\napart = [[\"load\", \"curr\"]]",
            "line 2 wants them on one cacheline",
        ),
        (
            "same-line = [[\"load\", \"curr\"], [\"tail\", \"inner\"], [\"curr\", \"tail\"]]\napart = [[\"load\", \"inner\"]]",
            "lie apart",
        ),
        ("group = [[\"load\", \"curr\"]]\napart = [[\"load\", \"curr\"]]", "lie apart"),
        ("group = [[\"load\", \"curr\"], [\"curr\", \"tail\"]]", "is in the group of line 2 too"),
    ];
    for (text, wanted) in cases {
        let message = refused(&format!("[queue]\n{text}\n"));
        assert!(message.contains(wanted), "{message}");
        assert!(message.starts_with("pins.toml:"), "{message}");
    }
    assert!(
        requests("[queue]\ngroup = [[\"avg\", \"load\"]]\napart = [[\"avg\", \"load\"]]\n").is_ok(),
        "two lines"
    );
}

#[test]
fn what_moves_as_one_cannot_lie_apart() {
    let mut unnamed_layout = layout();
    unnamed_layout.members[0].line = Some(7);
    unnamed_layout.members[1].line = Some(7);
    let file = parse::parse("pins.toml", "[queue]\napart = [[\"load\", \"nr_running\"]]\n").unwrap();
    let message =
        file.add_to(&mut PlacementRequests::default(), &unnamed_layout, 64).unwrap_err().to_string();
    assert!(message.contains("'load', 'nr_running' move as one"), "{message}");
}

#[test]
fn what_the_source_keeps_in_front_cannot_be_passed() {
    use fieldline_layout::constraint::MemberNote;
    let note = |region| MemberNote { region: Some(region), ..MemberNote::default() };
    let notes: Vec<MemberNote> = [0, 1, 1, 2, 3, 3].map(note).to_vec();
    let add = |text: &str| {
        let mut requests = PlacementRequests { notes: notes.clone(), ..PlacementRequests::default() };
        parse::parse("pins.toml", text).unwrap().add_to(&mut requests, &layout(), 64)
    };
    let message = add("[queue]\nfirst = [\"avg\"]\n").unwrap_err().to_string();
    assert!(message.contains("'avg' can't be first: the source keeps 'load' before it"), "{message}");
    let message = add("[queue]\nlast = [\"curr\"]\n").unwrap_err().to_string();
    assert!(message.contains("'curr' can't be last: the source keeps"), "{message}");
    assert!(add("[queue]\nfirst = [\"load\"]\nlast = [\"tail\"]\n").is_ok());
}
