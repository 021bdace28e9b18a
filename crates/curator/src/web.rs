//! The pages' files, embedded: no build step, and nothing is loaded from anywhere else.
//!
//! The client library for browsers is served as the modules it is written in, each at `/assets/` and its path in
//! `bindings/js`, so that their imports of each other hold.

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
    "ledger.js", SCRIPT, "web/ledger.js";
    "page.js", SCRIPT, "web/page.js";
    "plan.js", SCRIPT, "web/plan.js";
    "chart.js", SCRIPT, "web/chart.js";
    "dashboard.js", SCRIPT, "web/dashboard.js";
    "survey-form.js", SCRIPT, "web/survey-form.js";
    "survey-view.js", SCRIPT, "web/survey-view.js";
    "respond.js", SCRIPT, "web/respond.js";
    "icon.svg", PICTURE, "web/icon.svg";
    "uplot.js", SCRIPT, "web/vendor/uplot.js";
    "uplot.css", CSS, "web/vendor/uplot.css";
    "uplot-license.txt", TEXT, "web/vendor/uplot-license.txt";
    // The modules of bindings/js, by links to them that `cargo package` follows.
    "undertone.js", SCRIPT, "web/undertone.js";
    "kernel.js", SCRIPT, "web/kernel.js";
    "kernel/alphabet.js", SCRIPT, "web/kernel/alphabet.js";
    "kernel/blocks.js", SCRIPT, "web/kernel/blocks.js";
    "kernel/bytes.js", SCRIPT, "web/kernel/bytes.js";
    "kernel/certificate.js", SCRIPT, "web/kernel/certificate.js";
    "kernel/codec.js", SCRIPT, "web/kernel/codec.js";
    "kernel/document.js", SCRIPT, "web/kernel/document.js";
    "kernel/errors.js", SCRIPT, "web/kernel/errors.js";
    "kernel/exact.js", SCRIPT, "web/kernel/exact.js";
    "kernel/field.js", SCRIPT, "web/kernel/field.js";
    "kernel/frame.js", SCRIPT, "web/kernel/frame.js";
    "kernel/geometry.js", SCRIPT, "web/kernel/geometry.js";
    "kernel/incidence.js", SCRIPT, "web/kernel/incidence.js";
    "kernel/json.js", SCRIPT, "web/kernel/json.js";
    "kernel/ledger.js", SCRIPT, "web/kernel/ledger.js";
    "kernel/likelihood.js", SCRIPT, "web/kernel/likelihood.js";
    "kernel/listed.js", SCRIPT, "web/kernel/listed.js";
    "kernel/plan/belief.js", SCRIPT, "web/kernel/plan/belief.js";
    "kernel/plan/bound.js", SCRIPT, "web/kernel/plan/bound.js";
    "kernel/plan/codec.js", SCRIPT, "web/kernel/plan/codec.js";
    "kernel/plan/component.js", SCRIPT, "web/kernel/plan/component.js";
    "kernel/plan/document.js", SCRIPT, "web/kernel/plan/document.js";
    "kernel/plan/draft.js", SCRIPT, "web/kernel/plan/draft.js";
    "kernel/plan/enumeration.js", SCRIPT, "web/kernel/plan/enumeration.js";
    "kernel/plan/law.js", SCRIPT, "web/kernel/plan/law.js";
    "kernel/plan/magnitude.js", SCRIPT, "web/kernel/plan/magnitude.js";
    "kernel/plan/model.js", SCRIPT, "web/kernel/plan/model.js";
    "kernel/plan/person.js", SCRIPT, "web/kernel/plan/person.js";
    "kernel/plan/plan.js", SCRIPT, "web/kernel/plan/plan.js";
    "kernel/plan/response.js", SCRIPT, "web/kernel/plan/response.js";
    "kernel/plan/tree.js", SCRIPT, "web/kernel/plan/tree.js";
    "kernel/policy.js", SCRIPT, "web/kernel/policy.js";
    "kernel/radon.js", SCRIPT, "web/kernel/radon.js";
    "kernel/report.js", SCRIPT, "web/kernel/report.js";
    "kernel/sequence.js", SCRIPT, "web/kernel/sequence.js";
    "kernel/worst.js", SCRIPT, "web/kernel/worst.js";
    "device.js", SCRIPT, "web/device.js";
    "device/budget.js", SCRIPT, "web/device/budget.js";
    "device/day.js", SCRIPT, "web/device/day.js";
    "device/file.js", SCRIPT, "web/device/file.js";
    "device/ledger.js", SCRIPT, "web/device/ledger.js";
    "device/moving.js", SCRIPT, "web/device/moving.js";
    "device/state.js", SCRIPT, "web/device/state.js";
    "client.js", SCRIPT, "web/client.js";
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
        for (page, content) in own(HTML).chain(own(SCRIPT)) {
            let absolute = content.split("/assets/").skip(1);
            let named =
                absolute.map(|part| part.split(['"', '\'', '`']).next().unwrap().to_owned());
            for name in named.chain(imports(page)) {
                assert!(asset(&name).is_some(), "{page} asks for {name}");
                asked += 1;
            }
        }
        assert!(asked > 40, "{asked}");
        assert!(asset("../lib.rs").is_none() && asset("").is_none());
        assert!(asset("kernel/../page.js").is_none() && asset("kernel").is_none());
    }

    /// The modules a script imports, by their names: relative paths, as a browser resolves them.
    fn imports(script: &str) -> Vec<String> {
        let folder = script.rsplit_once('/').map_or("", |(folder, _)| folder);
        let resolve = |path: &str| {
            let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
            for part in path.split('/') {
                match part {
                    "." => {}
                    ".." => assert!(parts.pop().is_some(), "{script} imports {path}"),
                    name => parts.push(name),
                }
            }
            parts.join("/")
        };
        let after = text(script).split("from \"").skip(1);
        let paths = after.map(|part| part.split('"').next().unwrap());
        paths.filter(|path| path.starts_with('.')).map(resolve).collect()
    }

    /// A browser learns of a module when it has read the one that imports it. The respondents' page names all it needs, so
    /// that they are fetched side by side and not one layer of imports after the other.
    #[test]
    fn the_respondents_page_names_every_module_it_loads() {
        let mut loaded = vec!["respond.js".to_owned()];
        let mut next = 0;
        while let Some(script) = loaded.get(next) {
            for name in imports(script) {
                if !loaded.contains(&name) {
                    loaded.push(name);
                }
            }
            next += 1;
        }
        loaded.sort_unstable();
        let page = text("respond.html");
        let link = "<link rel=\"modulepreload\" href=\"/assets/";
        let links = page.split(link).skip(1).map(|part| part.split('"').next().unwrap());
        let mut named: Vec<&str> = links.chain(["respond.js"]).collect();
        named.sort_unstable();
        assert_eq!(named, loaded);
        assert!(loaded.len() > 20, "{loaded:?}");
    }
}
