//! Chromium without a window, by the DevTools protocol over pipes.

use crate::tools::shell;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program, of Debian's package of that name.
const PROGRAM: &str = "chromium";
/// Its pipes are 3 and 4, which ours become.
const SCRIPT: &str = "exec 3<&0 4>&1 </dev/null >/dev/null 2>&1; exec \"$@\"";

/// A browser with one page.
pub(super) struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    session: String,
    /// Complaints of the page: errors, exceptions, and requests that leave the file.
    complaints: Vec<String>,
}

impl Browser {
    /// Installs Chromium if it is not there, and starts it with an empty page.
    pub(super) fn start(profile: &Path) -> Result<Self> {
        shell::require_files(&[
            (PROGRAM, PROGRAM),
            ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", "fonts-dejavu-core"),
        ])?;
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh", PROGRAM, "--headless", "--no-sandbox", "--remote-debugging-pipe"]);
        command.args(["--disable-gpu", "--disable-extensions", "--no-first-run", "--disable-dev-shm-usage"]);
        command.args([
            "--disable-background-networking",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context(PROGRAM)?;
        let to = child.stdin.take().context("no pipe to the browser")?;
        let from = BufReader::new(child.stdout.take().context("no pipe from the browser")?);
        let mut browser = Self { child, to, from, calls: 0, session: String::new(), complaints: Vec::new() };
        browser.attach()?;
        Ok(browser)
    }

    fn attach(&mut self) -> Result<()> {
        let made = self.call("Target.createTarget", &json!({"url": "about:blank"}))?;
        let target = json!({"targetId": made["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", &target)?;
        self.session = attached["sessionId"].as_str().context("no session")?.to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(())
    }

    /// Calls a method of the protocol and waits for its result.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(message.to_string().as_bytes())?;
        self.to.write_all(&[0])?;
        self.to.flush()?;
        loop {
            let mut answer = self.read()?;
            if answer["id"] == json!(id) {
                if let Some(error) = answer.get("error") {
                    bail!("{method}: {error}");
                }
                return Ok(answer["result"].take());
            }
            self.note(&answer);
        }
    }

    fn read(&mut self) -> Result<Value> {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes)?;
        match bytes.pop() {
            Some(0) => Ok(serde_json::from_slice(&bytes)?),
            _ => bail!("{PROGRAM} ended"),
        }
    }

    /// Keeps what an event complains of.
    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        let complaint = match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => params["exceptionDetails"].to_string(),
            "Runtime.consoleAPICalled"
                if ["error", "warning"].iter().any(|kind| params["type"] == **kind) =>
            {
                params["args"].to_string()
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => params["entry"].to_string(),
            "Network.requestWillBeSent" if is_remote(&params["request"]["url"]) => {
                format!("a request of {}", params["request"]["url"])
            }
            _ => return,
        };
        self.complaints.push(complaint);
    }

    /// Complaints of the page since the last call.
    pub(super) fn take_complaints(&mut self) -> Result<Vec<String>> {
        self.evaluate("0")?;
        Ok(std::mem::take(&mut self.complaints))
    }

    /// The value of an expression; of a promise, what it comes to.
    pub(super) fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.call("Runtime.evaluate", &params)?;
        if let Some(thrown) = result.get("exceptionDetails") {
            bail!("{expression}: {thrown}");
        }
        Ok(result["result"]["value"].take())
    }

    /// Opens an address, and waits until the page says that it is drawn. Returns the milliseconds from the
    /// navigation to there.
    pub(super) fn open(&mut self, address: &str) -> Result<f64> {
        // Another address of the same file would be a jump within it.
        self.call("Page.navigate", &json!({"url": "about:blank"}))?;
        let result = self.call("Page.navigate", &json!({"url": address}))?;
        if let Some(error) = result.get("errorText") {
            bail!("{address}: {error}");
        }
        let ready = "new Promise((done) => { const ask = () => document.readyState === 'complete' && \
                     location.href !== 'about:blank' ? requestAnimationFrame(() => done(performance.now())) : \
                     setTimeout(ask, 5); ask(); })";
        for _ in 0..40 {
            // The page may be replaced while it is asked.
            if let Ok(value) = self.evaluate(ready)
                && let Some(milliseconds) = value.as_f64()
            {
                return Ok(milliseconds);
            }
        }
        bail!("{address}: never ready")
    }

    /// A window of a size in pixels, in a colour scheme.
    pub(super) fn resize(&mut self, (width, height): (u32, u32), scheme: &str) -> Result<()> {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}))?;
        Ok(())
    }

    /// Presses and releases the mouse in the middle of the first element that fits a selector.
    pub(super) fn click(&mut self, selector: &str) -> Result<()> {
        let (x, y) = self.middle(selector)?;
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event)?;
        }
        Ok(())
    }

    /// Points at the first element that fits a selector.
    pub(super) fn point(&mut self, selector: &str) -> Result<()> {
        let (x, y) = self.middle(selector)?;
        self.call("Input.dispatchMouseEvent", &json!({"type": "mouseMoved", "x": x, "y": y})).map(|_| ())
    }

    fn middle(&mut self, selector: &str) -> Result<(f64, f64)> {
        let place = self.evaluate(&format!(
            "(() => {{ const found = document.querySelector({}); if (!found) return null; \
             found.scrollIntoView({{block: 'center'}}); const box = found.getBoundingClientRect(); \
             return [box.left + box.width / 2, box.top + box.height / 2]; }})()",
            json!(selector)
        ))?;
        let number = |at: usize| place[at].as_f64().with_context(|| format!("nothing fits {selector}"));
        Ok((number(0)?, number(1)?))
    }

    /// Presses and releases a key.
    pub(super) fn press(&mut self, key: &str) -> Result<()> {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                &json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": key_code(key)}),
            )?;
        }
        Ok(())
    }

    /// A picture of a rectangle that an expression gives; `is_long` if it doesn't fit the window.
    pub(super) fn screenshot(&mut self, to: &Path, rectangle: &str, is_long: bool) -> Result<()> {
        let place = self.evaluate(&format!(
            "(() => {{ const box = {rectangle}; return {{x: box.left + scrollX, \
             y: box.top + scrollY, width: box.width, height: box.height, scale: 1}}; }})()"
        ))?;
        let params = json!({"format": "png", "captureBeyondViewport": is_long, "clip": place});
        let picture = self.call("Page.captureScreenshot", &params)?;
        let text = picture["data"].as_str().context("no picture")?;
        std::fs::write(to, decode_base64(text)?).with_context(|| to.display().to_string())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends with its pipes; whether it did is nobody's concern.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_remote(url: &Value) -> bool {
    let text = url.as_str().unwrap_or_default();
    !["file:", "data:", "about:", "blob:"].iter().any(|own| text.starts_with(own))
}

/// Numbers of keys (UI Events, legacy key codes).
fn key_code(key: &str) -> u32 {
    match key {
        "Tab" => 9,
        "Enter" => 13,
        "Escape" => 27,
        "End" => 35,
        "Home" => 36,
        "ArrowLeft" => 37,
        "ArrowUp" => 38,
        "ArrowRight" => 39,
        "ArrowDown" => 40,
        _ => 0,
    }
}

/// Bytes of base64 (RFC 4648, 4).
fn decode_base64(text: &str) -> Result<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => bail!("no base64"),
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decode_base64("Zm9vYg==").unwrap(), b"foob");
        assert!(decode_base64("a-b").is_err());
    }
}
