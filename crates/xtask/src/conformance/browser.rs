//! As much of WebDriver as driving one Chromium needs: <https://www.w3.org/TR/webdriver2/>, over plain HTTP to
//! chromedriver, and through it the few commands of the DevTools protocol that WebDriver has no words for.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Result;
use crate::process::Running;

/// Starting a browser on a busy machine takes its time.
const TIMEOUT: Duration = Duration::from_secs(90);
const BODY_BYTES_MAX: usize = 64 << 20;

/// A browser with one window.
pub(super) struct Browser {
    _driver: Running,
    address: SocketAddr,
    session: String,
}

impl Browser {
    /// Starts one that keeps what it must keep in `folder`.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let mut driver = Running::start("chromedriver", Command::new("chromedriver").arg("--port=0"))?;
        let port: u16 = driver.wait_for("port", TIMEOUT, |line| {
            line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
        })?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut args: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ]
        .map(str::to_owned)
        .to_vec();
        args.push(format!("--user-data-dir={}", folder.display()));
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": args},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let answer = call(address, "POST", "/session", Some(&capabilities))?;
        let session = answer["sessionId"].as_str().ok_or("no session")?.to_owned();
        Ok(Self { _driver: driver, address, session })
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value> {
        call(self.address, "POST", &format!("/session/{}/{path}", self.session), Some(body))
    }

    /// Opens a page and waits until it is there.
    pub(super) fn open(&self, url: &str) -> Result<()> {
        self.post("url", &json!({"url": url})).map(drop)
    }

    /// Runs the body of a function in the page and answers what it returns.
    pub(super) fn run(&self, script: &str) -> Result<Value> {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The same for a function that is done when it calls its last argument.
    pub(super) fn run_async(&self, script: &str) -> Result<Value> {
        self.post("execute/async", &json!({"script": script, "args": []}))
    }

    /// What the page logged to the console since the last call, violations of its policy included.
    pub(super) fn console(&self) -> Result<Vec<String>> {
        let entries = self.post("se/log", &json!({"type": "browser"}))?;
        let entries = entries.as_array().cloned().unwrap_or_default();
        Ok(entries.iter().map(|entry| format!("{}: {}", entry["level"], entry["message"])).collect())
    }

    /// Makes the window so wide, as a phone where `is_phone`, and the reader's liking light or dark.
    pub(super) fn look_as(&self, width: u32, is_phone: bool, scheme: &str) -> Result<()> {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": is_phone});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics)?;
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &media).map(drop)
    }

    /// Writes a picture of the whole page.
    pub(super) fn picture(&self, file: &Path) -> Result<()> {
        let answer = self.devtools("Page.captureScreenshot", &json!({"captureBeyondViewport": true}))?;
        let data = answer["data"].as_str().ok_or("no picture")?;
        fs::write(file, from_base64(data)?)?;
        Ok(())
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Result<Value> {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // chromedriver ends the browser with the session; where that fails its own end does.
        let _ = call(self.address, "DELETE", &format!("/session/{}", self.session), None);
    }
}

/// One request on a connection of its own; answers what is under `value`.
fn call(address: SocketAddr, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), None);
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse::<usize>()?);
        }
        line.clear();
    }
    let length = length.filter(|length| *length <= BODY_BYTES_MAX).ok_or("an answer of unknown length")?;
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    let answer: Value = serde_json::from_slice(&bytes)?;
    let value = &answer["value"];
    if let Some(error) = value["error"].as_str() {
        return Err(format!("{method} {path}: {error}: {}", value["message"]).into());
    }
    Ok(value.clone())
}

/// RFC 4648, section 4
fn from_base64(text: &str) -> Result<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err("no base64".into()),
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff)?);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// See section 10 of [RFC4648].
    #[test]
    fn base64_is_read_as_its_document_has_it() {
        for (text, plain) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(from_base64(text).unwrap(), plain.as_bytes());
        }
    }
}
