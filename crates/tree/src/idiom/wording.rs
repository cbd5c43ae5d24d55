//! Which groups are marked, what they are called, and what comments say of them.

use crate::idiom::options::GroupName;
use fieldline_plan::StructPlan;
use fieldline_plan::result::{Group, GroupKind};

/// Least share of the visits to a group that must touch several of its members: otherwise a line is merely filled.
const LEAST_TOGETHER: f64 = 0.5;
/// Columns of a comment's text: a line of 80 less a tab and the marks.
const COLUMNS: usize = 66;

/// Groups that mean something, with their index: they are touched together, and the order brought their members onto
/// one line.
pub(super) fn meant_groups(plan: &StructPlan) -> Vec<(usize, &Group)> {
    let moves = |index: &usize| {
        plan.moved.iter().any(|moved| moved.index == *index && moved.loads.saturating_add(moved.stores) > 0)
    };
    let means = |group: &Group| {
        let is_used = group.kind != GroupKind::Cold && group.members.len() > 1;
        is_used && group.gathered && group.together >= LEAST_TOGETHER && group.members.iter().any(moves)
    };
    plan.groups.iter().enumerate().filter(|(_, group)| means(group)).collect()
}

/// The word that a group is called by: of the user, its purpose, or the function that touches it most.
pub(super) fn group_word(group: &Group, names: &[GroupName]) -> String {
    let function = || group.functions.first().map(|(name, _)| name.trim_start_matches('_').to_owned());
    let word = group.purpose.clone().or_else(function).unwrap_or_else(|| "members".to_owned());
    let plain: String =
        word.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    names.iter().find(|name| name.from == plain).map_or(plain, |name| name.to.clone())
}

/// `Throttle: used by tg_unthrottle_up() and tg_throttle_down(), 5 loads per store`. As many functions are named as fit
/// a line: those that gave the group its name, or else those that touch it most.
pub(super) fn group_comment(group: &Group, names: &[GroupName]) -> String {
    let word = group_word(group, names);
    let is_named = group.purpose.is_some() || names.iter().any(|name| name.to == word);
    let head =
        if is_named { format!("{}: used by", capitalised(&word)) } else { "Used together by".to_owned() };
    let stem = group.purpose.as_deref().unwrap_or_default();
    // A name that ends the comment would become code.
    let is_plain =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(&byte));
    let namesakes = group.functions.iter().filter(|(name, _)| name.contains(stem) && is_plain(name));
    let functions: Vec<String> = namesakes.map(|(name, _)| format!("{name}()")).collect();
    let text = |count: usize| {
        let listed = functions.get(..count).unwrap_or_default().join(" and ");
        let listed = if listed.is_empty() { "no known function".to_owned() } else { listed };
        format!("{head} {listed}, {}", describe_ratio(group.stores))
    };
    let two = text(functions.len().min(2));
    if two.len() <= COLUMNS { two } else { text(functions.len().min(1)) }
}

/// Loads and stores, by the share of stores.
pub(super) fn describe_ratio(stores: f64) -> String {
    match stores {
        none if none < 0.001 => "loads only".to_owned(),
        share if share > 0.5 => format!("{:.0}% stores", 100.0 * share),
        share => {
            let loads = (1.0 - share) / share;
            let shown = if loads < 10.0 { format!("{loads:.1}") } else { format!("{loads:.0}") };
            format!("{} loads per store", shown.trim_end_matches(".0"))
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut text = word.to_owned();
    text.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(purpose: Option<&str>, functions: &[&str], stores: f64) -> Group {
        let functions: Vec<_> = functions.iter().map(|name| serde_json::json!([name, 0.2])).collect();
        let text = serde_json::json!({"kind": "hot-written", "members": [0, 1], "bytes": 64, "first_offset": 0,
            "visits": 1.0, "stores": stores, "alignment": "none", "why": "", "purpose": purpose,
            "functions": functions});
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn comments_say_what_uses_a_group_and_how() {
        let throttle = group(Some("throttle"), &["q_unthrottle_up", "q_throttle_down", "x"], 0.2);
        let text = "Throttle: used by q_unthrottle_up(), 4 loads per store";
        assert_eq!(group_comment(&throttle, &[]), text, "two functions don't fit");
        let both = group(Some("walk"), &["most", "walk_up", "walk_down"], 0.2);
        assert_eq!(group_comment(&both, &[]), "Walk: used by walk_up() and walk_down(), 4 loads per store");
        let read = group(None, &["__walk"], 0.0);
        assert_eq!(group_comment(&read, &[]), "Used together by __walk(), loads only");
        assert_eq!(group_word(&read, &[]), "walk");
        let names = [GroupName { from: "throttle".to_owned(), to: "bandwidth".to_owned() }];
        assert!(group_comment(&throttle, &names).starts_with("Bandwidth: used by q_unthrottle_up()"));
        let hostile = group(None, &["x*/ int y; /*"], 0.2);
        assert_eq!(group_comment(&hostile, &[]), "Used together by no known function, 4 loads per store");
        assert_eq!(describe_ratio(0.75), "75% stores");
        assert_eq!(describe_ratio(0.02), "49 loads per store");
    }
}
