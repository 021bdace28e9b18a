//! A page on paper, by whatever Chromium this machine has.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;

/// Names under which Chromium goes; `$CHROMIUM` comes first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Prints a page to a PDF file beside it, and says where it is, or how to have it printed without Chromium.
pub fn print(page: &Path) -> Result<String, Error> {
    let Some(browser) = browser() else {
        return Ok(format!(
            "no PDF: there is no Chromium here (in $CHROMIUM, or as {}); open {} in any browser and print it to a file",
            NAMES.join(", "),
            page.display()
        ));
    };
    let pdf = page.with_extension("pdf");
    let whole = std::path::absolute(page).map_err(Error::other)?;
    let profile = page.with_extension("profile");
    let ran = Command::new(&browser)
        .args(["--headless", "--disable-gpu", "--disable-background-networking", "--no-first-run"])
        // A sandbox cannot be had as root; the page is our own and reaches nothing.
        .args(["--no-sandbox", "--no-pdf-header-footer"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", whole.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let _ = std::fs::remove_dir_all(&profile);
    match ran {
        Ok(status) if status.success() && pdf.is_file() => Ok(format!("wrote {}", pdf.display())),
        Ok(status) => Err(Error::other(format!("{} wrote no PDF: {status}", browser.display()))),
        Err(error) => Err(Error::other(format!("cannot run {}: {error}", browser.display()))),
    }
}

fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    let all = || std::env::split_paths(&folders);
    NAMES.iter().find_map(|name| all().map(|folder| folder.join(name)).find(|p| p.is_file()))
}
