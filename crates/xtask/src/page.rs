//! The pages of `report`, `propose` and `diff` in a real browser: they open from a file, all can be chosen by mouse and
//! keyboard, nothing is complained of, and rules of accessibility hold.

mod axe;
mod browser;
mod checks;
mod inputs;

use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result, bail};
use browser::Browser;
use inputs::PageFile;
use std::fs;
use std::path::{Path, PathBuf};

/// Most bytes of a page.
const MOST_BYTES: u64 = 1 << 20;
/// Most milliseconds from navigation to what is drawn.
const MOST_MILLISECONDS: f64 = 1000.0;
/// Widths of windows in pixels.
const WIDTHS: [u32; 3] = [400, 1280, 2560];
const SCHEMES: [&str; 2] = ["light", "dark"];

/// Height of windows in pixels; for a picture, all of a page fits.
const HEIGHT: u32 = 900;
const PICTURE: (u32, u32) = (1120, 3000);
/// The legend and both orders, with a margin.
const DRAWING: &str = "(() => { const [first, last] = ['.legend', '#boards'].map((part) => \
    document.querySelector(part).getBoundingClientRect()); \
    return new DOMRect(last.left - 12, first.top - 4, last.width + 24, last.bottom - first.top + 8); })()";
const WHOLE: &str = "document.documentElement.getBoundingClientRect()";

/// `cargo xtask page [--picture FILE]`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let out = shell::root().join("target/page");
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let profile = shell::temporary("browser");
    let mut browser = Browser::start(&profile)?;
    let result = match args {
        [] => check_all(&mut browser, &out),
        [option, file] if option == "--picture" => picture(&mut browser, &out, Path::new(file)),
        _ => bail!("usage: cargo xtask page [--picture FILE]"),
    };
    drop(browser);
    fs::remove_dir_all(&profile).with_context(|| profile.display().to_string())?;
    result
}

fn check_all(browser: &mut Browser, out: &Path) -> Result<bool> {
    let axe = axe::source()?;
    let mut holds = true;
    for page in inputs::write_all(out)? {
        let mut faults = check_size_and_time(browser, &page)?;
        faults.extend(checks::check(browser, &page)?);
        for width in WIDTHS {
            for scheme in SCHEMES {
                faults.extend(inspect(browser, &page, &axe, (width, scheme, out))?);
            }
        }
        print_line!("test page {} ... {}", page.name, if faults.is_empty() { "ok" } else { "FAILED" });
        faults.iter().for_each(|fault| print_line!("  {fault}"));
        holds &= faults.is_empty();
    }
    print_line!("pictures are in {}", out.display());
    Ok(holds)
}

fn check_size_and_time(browser: &mut Browser, page: &PageFile) -> Result<Vec<String>> {
    let bytes = fs::metadata(&page.path)?.len();
    browser.resize((1280, HEIGHT), "light")?;
    let milliseconds = browser.open(&page.address(""))?;
    print_line!("{}: {bytes} bytes, drawn after {milliseconds:.0} ms", page.name);
    let mut faults = Vec::new();
    faults.extend((bytes > MOST_BYTES).then(|| format!("more than {MOST_BYTES} bytes")));
    faults.extend((milliseconds > MOST_MILLISECONDS).then(|| format!("more than {MOST_MILLISECONDS} ms")));
    Ok(faults)
}

/// A page at a width and in a colour scheme: nothing sticks out, rules of accessibility hold, a picture to look at.
fn inspect(
    browser: &mut Browser,
    page: &PageFile,
    axe: &str,
    (width, scheme, out): (u32, &str, &Path),
) -> Result<Vec<String>> {
    browser.resize((width, HEIGHT), scheme)?;
    browser.open(&page.address(if page.is_full { "s=0&m=0" } else { "" }))?;
    let place = format!("{width} px, {scheme}");
    let mut faults = Vec::new();
    let wide = browser.evaluate("document.documentElement.scrollWidth - window.innerWidth")?;
    faults.extend((wide.as_i64() > Some(0)).then(|| format!("{place}: {wide} px wider than the window")));
    let violations = axe::violations(browser, axe)?;
    faults.extend(violations.into_iter().map(|violation| format!("{place}: {violation}")));
    faults.extend(browser.take_complaints()?.into_iter().map(|complaint| format!("{place}: {complaint}")));
    browser.screenshot(&out.join(format!("{}-{width}-{scheme}.png", page.name)), WHOLE, true)?;
    Ok(faults)
}

/// A picture of the demo's first struct for the README.
fn picture(browser: &mut Browser, out: &Path, file: &Path) -> Result<bool> {
    let page = PageFile { name: "demo", path: inputs::demo(out)?, is_full: true };
    browser.resize(PICTURE, "light")?;
    browser.open(&page.address("s=0"))?;
    browser.point(".board.left .moved")?;
    browser.screenshot(file, DRAWING, false)?;
    print_line!("{}: {} bytes", file.display(), fs::metadata(file)?.len());
    Ok(true)
}

impl PageFile {
    /// Its address, with what is chosen.
    pub(super) fn address(&self, chosen: &str) -> String {
        let path: PathBuf = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        format!("file://{}#{chosen}", path.display())
    }
}
