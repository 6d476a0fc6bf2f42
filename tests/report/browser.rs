//! A page in a headless Chromium: what it logs, and where its parts stand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::common::tool::{Finished, Running};

/// More than a browser takes to start on a machine that has other things to do.
const DEADLINE: Duration = Duration::from_secs(120);

/// A browser, started anew for each look.
pub(crate) struct Browser {
    dir: tempfile::TempDir,
    /// Where screenshots stay, for people to look at.
    shots: PathBuf,
}

impl Browser {
    /// The browser, or the reason why there is none.
    pub(crate) fn new() -> Result<Self, String> {
        Command::new("chromium")
            .arg("--version")
            .output()
            .map_err(|error| format!("needs chromium: {error}"))?;
        let shots = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report");
        fs::create_dir_all(&shots).map_err(|error| error.to_string())?;
        Ok(Self { dir: tempfile::tempdir().unwrap(), shots })
    }

    /// Opens a page and waits until the browser has ended.
    fn open(&self, page: &Path, arguments: &[&str]) -> Finished {
        let mut command = Command::new("chromium");
        let home = self.dir.path();
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--disable-background-networking", "--hide-scrollbars"])
            // What browsers ask for on their own account finds no host.
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg("--enable-logging=stderr")
            .arg(format!("--user-data-dir={}", home.join("profile").display()))
            .args(arguments)
            .arg(format!("file://{}", page.display()))
            .env("HOME", home);
        Running::start(command).finish_within(DEADLINE).expect(0)
    }

    /// What the page makes the browser write to its console.
    pub(crate) fn console(&self, page: &Path) -> Vec<String> {
        let finished = self.open(page, &["--dump-dom"]);
        assert!(finished.stdout.contains("<h1>"), "{finished}");
        let lines = finished.stderr.lines().filter(|line| line.contains("CONSOLE"));
        lines.map(str::to_owned).collect()
    }

    /// Draws the page; the picture stays in the target directory.
    pub(crate) fn shoot(&self, page: &Path, name: &str, size: &str, arguments: &[&str]) {
        let path = self.shots.join(name);
        let _ = fs::remove_file(&path);
        let shot = if name.ends_with(".pdf") { "print-to-pdf" } else { "screenshot" };
        let mut all = vec![format!("--{shot}={}", path.display()), format!("--window-size={size}")];
        all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self.open(page, &all.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(fs::metadata(&path).unwrap().len() > 5000, "{name} is empty");
    }

    /// What a script finds in a copy of the page that may run one.
    pub(crate) fn measure(&self, page: &Path, size: &str, arguments: &[&str]) -> Value {
        let text = fs::read_to_string(page).unwrap();
        let policy = "default-src 'none'; style-src 'unsafe-inline'";
        assert!(text.contains(policy));
        let text = text
            .replace(policy, &format!("{policy}; script-src 'unsafe-inline'"))
            .replace("</body>", &format!("<script>{}</script></body>", include_str!("measure.js")));
        let copy = self.dir.path().join("measured.html");
        fs::write(&copy, text).unwrap();
        let mut all = vec!["--dump-dom".to_owned(), format!("--window-size={size}")];
        all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let finished = self.open(&copy, &all.iter().map(String::as_str).collect::<Vec<_>>());
        let found = finished.stdout.split("<pre id=\"measured\">").nth(1);
        let found = found.unwrap_or_else(|| panic!("no measures in {finished}"));
        let found = found.split("</pre>").next().unwrap();
        let plain = found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&plain).unwrap()
    }
}
