//! Choices that a reader makes on a page, and their results.

use crate::page::browser::Browser;
use crate::page::inputs::PageFile;
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Faults of a page, a line each.
pub(super) fn check(browser: &mut Browser, page: &PageFile) -> Result<Vec<String>> {
    let mut checks = Checks { browser, faults: Vec::new() };
    checks.expect("no markup of names is taken for markup", "window.hostile === undefined")?;
    checks.expect("it has a heading", "document.querySelector('h1').textContent.length > 0")?;
    if page.is_full {
        checks.lines()?;
        checks.colours()?;
        checks.member_by_mouse()?;
        checks.member_by_keyboard()?;
        checks.function()?;
        checks.orders()?;
        checks.structs()?;
        checks.builds()?;
        checks.copies()?;
        checks.address(page)?;
    }
    let complaints = checks.browser.take_complaints()?;
    checks.faults.extend(complaints);
    Ok(checks.faults)
}

struct Checks<'b> {
    browser: &'b mut Browser,
    faults: Vec<String>,
}

impl Checks<'_> {
    /// A fault unless an expression is true.
    fn expect(&mut self, what: &str, expression: &str) -> Result<()> {
        let value = self.browser.evaluate(expression).with_context(|| what.to_owned())?;
        if value != json!(true) {
            self.faults.push(format!("not so: {what} ({expression} is {value})"));
        }
        Ok(())
    }

    fn list(&mut self, expression: &str) -> Result<Vec<String>> {
        let value = self.browser.evaluate(expression)?;
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        Ok(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Chooses an option as a keyboard does.
    fn select(&mut self, id: &str, value: &str) -> Result<()> {
        let script = format!(
            "(() => {{ const found = document.getElementById({}); found.value = {}; \
             found.dispatchEvent(new Event('change')); }})()",
            json!(id),
            json!(value)
        );
        self.browser.evaluate(&script).map(|_| ())
    }

    fn options(&mut self, id: &str) -> Result<Vec<String>> {
        self.list(&format!("[...document.querySelectorAll('#{id} option')].map((option) => option.value)"))
    }

    fn lines(&mut self) -> Result<()> {
        for size in
            self.list("[...document.querySelectorAll('input[name=line]')].map((radio) => radio.value)")?
        {
            self.browser.click(&format!("label:has(input[name=line][value=\"{size}\"])"))?;
            self.expect(
                &format!("lines of {size} are chosen"),
                &format!("document.querySelector('input[name=line]:checked').value === '{size}'"),
            )?;
            self.expect("lines are drawn", "document.querySelectorAll('.board.left .row').length > 0")?;
        }
        self.expect("pairs stand in the address", "location.hash.includes('l=pairs')")
    }

    fn colours(&mut self) -> Result<()> {
        for name in self.options("choose-colour")? {
            self.select("choose-colour", &name)?;
            self.expect(
                &format!("colour by {name}"),
                "document.querySelectorAll('.board .strip i').length > 0",
            )?;
            self.expect("the legend has steps", "document.querySelectorAll('.legend li').length > 3")?;
        }
        Ok(())
    }

    fn member_by_mouse(&mut self) -> Result<()> {
        self.browser.click(".board.left [data-member]")?;
        self.expect("a click shows a member", "document.querySelector('.detail h3').textContent.length > 0")?;
        self.expect("it stands in the address", "/m=\\d/.test(location.hash)")?;
        self.expect("samples are told", "document.querySelector('.detail').textContent.includes('samples')")?;
        self.browser.click(".detail .close")?;
        self.expect("it can be closed", "document.querySelector('.detail') === null")?;
        if self.browser.evaluate("document.querySelector('.board.right .moved') !== null")? == json!(true) {
            self.browser.point(".board.right .moved")?;
            self.expect("a moved member is linked", "document.querySelectorAll('.links path').length === 1")?;
            self.expect(
                "both its places are marked",
                "document.querySelectorAll('.board .linked').length >= 2",
            )?;
        }
        Ok(())
    }

    fn member_by_keyboard(&mut self) -> Result<()> {
        self.browser.evaluate("document.querySelector('.board.left [tabindex=\"0\"]').focus()")?;
        self.browser.press("Home")?;
        let first = self.browser.evaluate("document.activeElement.dataset.begin")?;
        self.browser.press("ArrowRight")?;
        self.expect("an arrow goes on", &format!("document.activeElement.dataset.begin !== {first}"))?;
        self.browser.press("ArrowLeft")?;
        self.expect("and back", &format!("document.activeElement.dataset.begin === {first}"))?;
        self.browser.press("ArrowDown")?;
        self.browser.press("Enter")?;
        self.expect("Enter shows a member", "document.querySelector('.detail h3') !== null")?;
        self.expect("the focus stays", "document.activeElement.closest('.board') !== null")?;
        self.browser.press("Escape")?;
        self.expect("Escape closes it", "document.querySelector('.detail') === null")?;
        self.expect(
            "one cell of a board is in the order of Tab",
            "document.querySelectorAll('.board.left [tabindex=\"0\"]').length === 1",
        )
    }

    fn function(&mut self) -> Result<()> {
        let Some(name) = self.options("choose-function")?.into_iter().find(|name| !name.is_empty()) else {
            return Ok(());
        };
        self.select("choose-function", &name)?;
        self.expect(
            "lines of a function light up",
            "document.querySelectorAll('.board.left .lit').length > 0",
        )?;
        self.expect(
            "in each order",
            "[...document.querySelectorAll('.board')].every((board) => board.querySelector('.lit'))",
        )?;
        self.browser.click("#title-functions ~ .scroll button.function[aria-pressed=true]")?;
        self.expect("a second click ends that", "document.querySelector('.lit') === null")
    }

    fn orders(&mut self) -> Result<()> {
        for id in self.options("choose-order")? {
            self.select("choose-order", &id)?;
            let boards = if id == "declared" { 1 } else { 2 };
            self.expect(
                &format!("order {id}"),
                &format!("document.querySelectorAll('.board').length === {boards}"),
            )?;
        }
        Ok(())
    }

    fn structs(&mut self) -> Result<()> {
        let links =
            self.list("[...document.querySelectorAll('#structs a')].map((link) => link.dataset.struct)")?;
        for index in links.iter().rev().filter(|_| links.len() > 1) {
            self.browser.click(&format!("#structs a[data-struct=\"{index}\"]"))?;
            self.expect(
                &format!("struct {index} is shown alone"),
                &format!(
                    "[...document.querySelectorAll('section.struct')].filter((part) => !part.hidden).map((part) => \
                     part.dataset.struct).join() === '{index}'"
                ),
            )?;
        }
        Ok(())
    }

    fn builds(&mut self) -> Result<()> {
        for build in self.options("choose-build")? {
            self.select("choose-build", &build)?;
            self.expect(
                &format!("build {build}"),
                "document.querySelectorAll('.board [data-member]').length > 0",
            )?;
            self.expect(
                "it stands in the address",
                &format!("location.hash.includes('b={build}') || {build} === 0"),
            )?;
        }
        self.other_build()
    }

    /// The last build that was given by a file: its own members are drawn, and it is told from the recorded one.
    fn other_build(&mut self) -> Result<()> {
        let data = "JSON.parse(document.getElementById('data').textContent)";
        let builds = self.browser.evaluate(&format!("{data}.structs[0].builds"))?;
        let builds = builds.as_array().map_or(&[][..], Vec::as_slice);
        let is_other = |build: &Value| build["drawn"] == json!(true) && build["absent"].is_array();
        let Some(build) = builds.iter().rposition(is_other) else { return Ok(()) };
        // Folded lines draw no members.
        let all = "document.getElementById('choose-all').click()";
        self.browser.evaluate(all)?;
        self.select("choose-build", &build.to_string())?;
        self.expect(
            "what it lacks is told",
            "document.querySelector('.note').textContent.includes('without ')",
        )?;
        let absent = builds.get(build).and_then(|build| build["absent"][0].as_u64()).unwrap_or_default();
        self.expect(
            "what it lacks isn't drawn",
            &format!("document.querySelector('.board [data-member=\"{absent}\"]') === null"),
        )?;
        self.select("choose-build", "0")?;
        self.expect(
            "in the recorded one it is drawn as conditional",
            &format!(
                "document.querySelector('.board [data-member=\"{absent}\"]').classList.contains('guarded')"
            ),
        )?;
        self.browser.evaluate(all).map(|_| ())
    }

    fn copies(&mut self) -> Result<()> {
        self.browser.click(".copies button")?;
        let said = "new Promise((done) => setTimeout(() => done(document.getElementById('status').textContent), 200))";
        let said = self.browser.evaluate(said)?;
        if !said.as_str().is_some_and(|text| text.starts_with("Copied")) {
            self.faults.push(format!("copying says {said}"));
        }
        Ok(())
    }

    /// An address shows what was chosen when it was taken.
    fn address(&mut self, page: &PageFile) -> Result<()> {
        self.browser.click("label:has(input[name=line][value=pairs])")?;
        self.browser.click(".board.left [data-member]")?;
        let hash = self.browser.evaluate("location.hash.slice(1)")?;
        let drawn = "document.getElementById('layouts').innerHTML";
        let before = self.browser.evaluate(drawn)?;
        self.browser.open(&page.address(hash.as_str().unwrap_or_default()))?;
        let after = self.browser.evaluate(drawn)?;
        if before != after {
            self.faults.push(format!("the address {hash} shows something else than was chosen"));
        }
        Ok(())
    }
}
