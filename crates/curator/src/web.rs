//! The pages' files, embedded: no build step, and nothing is loaded from anywhere else.

/// An embedded file.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its contents.
    pub bytes: &'static [u8],
    /// Its content type.
    pub kind: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! embed {
    ($($name:literal, $kind:expr, $file:literal;)*) => {
        /// Every file: its name, its type, its contents.
        const FILES: &[(&str, &str, &[u8])] = &[$(($name, $kind, include_bytes!($file))),*];
    };
}

embed! {
    "index.html", HTML, "web/index.html";
    "respond.html", HTML, "web/respond.html";
    "style.css", CSS, "web/style.css";
    "page.js", SCRIPT, "web/page.js";
    "plan.js", SCRIPT, "web/plan.js";
    "chart.js", SCRIPT, "web/chart.js";
    "dashboard.js", SCRIPT, "web/dashboard.js";
    "survey-form.js", SCRIPT, "web/survey-form.js";
    "survey-view.js", SCRIPT, "web/survey-view.js";
    "respond.js", SCRIPT, "web/respond.js";
    "icon.svg", PICTURE, "web/icon.svg";
    "undertone.js", SCRIPT, "web/undertone.js";
    "uplot.js", SCRIPT, "web/vendor/uplot.js";
    "uplot.css", CSS, "web/vendor/uplot.css";
    "uplot-license.txt", TEXT, "web/vendor/uplot-license.txt";
}

/// The file of this name.
pub fn asset(path: &str) -> Option<Asset> {
    let found = FILES.iter().find(|(name, ..)| *name == path);
    found.map(|&(_, kind, bytes)| Asset { bytes, kind })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    fn text(name: &str) -> &'static str {
        std::str::from_utf8(asset(name).unwrap().bytes).unwrap()
    }

    fn own(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
        let mine =
            move |&&(name, k, _): &&(&str, &str, &[u8])| k == kind && !name.starts_with("uplot");
        FILES.iter().filter(mine).map(|&(name, ..)| (name, text(name)))
    }

    #[test]
    fn vendored_files_are_unchanged() {
        let table = include_str!("web/vendor/README.md");
        let mut checked = 0;
        for row in table.lines().filter(|line| line.starts_with("| uplot")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let (name, sum) = (cells[1], cells[4]);
            let digest = Sha256::digest(asset(name).unwrap().bytes);
            assert_eq!(undertone_wire::hex::encode(&digest), sum, "{name}");
            checked += 1;
        }
        assert_eq!(checked, 3);
        assert!(text("uplot-license.txt").contains("MIT"));
    }

    /// The pages' policy forbids inline scripts and styles; nothing relies on them.
    #[test]
    fn pages_hold_nothing_inline() {
        let mut pages = 0;
        for (name, page) in own(HTML) {
            pages += 1;
            for forbidden in
                [" style=", "<style", " onclick=", " onload=", "javascript:", "http://"]
            {
                assert!(!page.contains(forbidden), "{name} holds {forbidden}");
            }
            let scripts = page.matches("<script").count();
            assert_eq!(scripts, page.matches("<script type=\"module\" src=\"/assets/").count());
            assert!(page.contains("<html lang=\"en\">") && page.contains("name=\"viewport\""));
        }
        assert_eq!(pages, 2);
        for (name, script) in own(SCRIPT) {
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "sendBeacon",
                "setAttribute(\"style",
            ] {
                assert!(!script.contains(forbidden), "{name} holds {forbidden}");
            }
        }
    }

    #[test]
    fn everything_that_is_asked_for_is_there() {
        let mut asked = 0;
        let mut check = |page: &str, name: &str| {
            assert!(asset(name).is_some(), "{page} asks for {name}");
            asked += 1;
        };
        for (page, content) in own(HTML).chain(own(SCRIPT)) {
            for part in content.split("/assets/").skip(1) {
                check(page, part.split(['"', '\'', '`']).next().unwrap());
            }
            for part in content.split("from \"./").skip(1) {
                check(page, part.split('"').next().unwrap());
            }
        }
        assert!(asked > 8, "{asked}");
        assert!(asset("../lib.rs").is_none() && asset("").is_none());
    }
}
