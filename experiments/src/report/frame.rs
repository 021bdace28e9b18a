//! What every page of the report has: its head, the way to the others, contents at the side, and the filter.

use std::fmt::Write;

use crate::markdown::{escape, inline};
use crate::record::Judged;
use crate::{Kind, Verdict};

/// Another page of the report.
pub(super) struct Link {
    file: String,
    name: String,
}

impl Link {
    /// The page in that file.
    pub(super) fn new(file: impl Into<String>, name: impl Into<String>) -> Self {
        Self { file: file.into(), name: name.into() }
    }
}

/// A page being written.
pub(super) struct Page {
    title: String,
    contents: String,
    body: String,
}

/// A verdict in few words.
pub(super) fn verdict(slug: &str) -> &'static str {
    match slug {
        "reproduced" => "reproduced",
        "only-with-printed-formula" => "only with the printed formula",
        "not-reproducible" => "not reproducible",
        "ill-defined" => "ill-defined",
        _ => "false",
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Paper => "the paper's",
        Kind::Ours => "ours",
        Kind::Arithmetic => "arithmetic",
    }
}

impl Page {
    /// An empty page with a heading.
    pub(super) fn new(title: &str) -> Self {
        let body = format!("<h1>{}</h1>\n", inline(title));
        Self { title: title.into(), contents: String::new(), body }
    }

    /// Adds HTML.
    pub(super) fn push(&mut self, html: &str) {
        self.body.push_str(html);
    }

    /// Adds a line to the contents at the side, with a dot per claim.
    pub(super) fn contents(&mut self, id: &str, title: &str, claims: &[&Judged]) {
        let (name, rest) = title.split_once(": ").unwrap_or((title, ""));
        let _ = write!(self.contents, "<li><a href=\"#{id}\"><b>{name}</b>");
        if !rest.is_empty() {
            let _ = write!(self.contents, " <span>{rest}</span>");
        }
        self.contents.push_str("</a>");
        if !claims.is_empty() {
            self.contents.push_str("<i class=\"dots\" aria-hidden=\"true\">");
            for claim in claims {
                let _ = write!(self.contents, "<i class=\"v-{}\"></i>", claim.verdict);
            }
            self.contents.push_str("</i>");
        }
        self.contents.push_str("</li>\n");
    }

    /// Adds a filter of these claims by verdict and by who says them. It is made of style alone.
    pub(super) fn filter(&mut self, claims: &[&Judged]) {
        let count = |wanted: &dyn Fn(&Judged) -> bool| claims.iter().filter(|c| wanted(c)).count();
        let mut options = vec![("v-all".to_owned(), "all", claims.len())];
        for slug in Verdict::SLUGS {
            options.push((format!("v-{slug}"), verdict(slug), count(&|c| c.verdict == slug)));
        }
        self.choice("Verdict", "verdict", &options);
        let mut options = vec![("k-all".to_owned(), "anybody's", claims.len())];
        for who in Kind::ALL {
            options.push((format!("k-{}", who.slug()), kind(who), count(&|c| c.kind == who)));
        }
        self.choice("Who says it", "kind", &options);
    }

    fn choice(&mut self, legend: &str, name: &str, options: &[(String, &str, usize)]) {
        let _ = write!(self.body, "<fieldset class=\"filter\"><legend>{legend}</legend>");
        for (at, (id, words, count)) in options.iter().enumerate() {
            let checked = if at == 0 { " checked" } else { "" };
            let disabled = if *count == 0 { " disabled" } else { "" };
            let _ = write!(
                self.body,
                "<input type=\"radio\" name=\"{name}\" id=\"{id}\" autocomplete=\"off\"{checked}{disabled}><label for=\"{id}\">{words} <small>{count}</small></label>"
            );
        }
        self.body.push_str("</fieldset>\n");
    }

    /// The whole page, in the file `own` among `links`.
    pub(super) fn html(&self, own: &str, links: &[Link]) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}: Undertone</title>\n<style>{STYLE}{}</style></head><body>\n\
             <header><nav class=\"pages\" aria-label=\"Pages\">",
            escape(&self.title),
            hiding()
        );
        for link in links {
            let here = if link.file == own { " aria-current=\"page\"" } else { "" };
            let _ = write!(page, "<a href=\"{}\"{here}>{}</a>", link.file, escape(&link.name));
        }
        page.push_str("</nav></header>\n");
        if self.contents.is_empty() {
            let _ = writeln!(page, "<main>{}</main>", self.body);
        } else {
            let _ = write!(
                page,
                "<div class=\"sides\"><nav class=\"contents\" aria-label=\"Contents\"><ol>\n{}</ol></nav>\n<main>{}</main></div>\n",
                self.contents, self.body
            );
        }
        let _ = writeln!(page, "<script>{SCRIPT}</script></body></html>");
        page
    }
}

/// The rules that hide what a chosen filter leaves out.
fn hiding() -> String {
    let mut style = String::from("@supports not selector(:has(a)){.filter{display:none}}\n");
    let verdicts = Verdict::SLUGS.iter().map(|slug| format!("v-{slug}"));
    for id in verdicts.chain(Kind::ALL.iter().map(|who| format!("k-{}", who.slug()))) {
        let chosen = format!("body:has(#{id}:checked)");
        let _ = writeln!(
            style,
            "{chosen} .claim:not(.{id}),{chosen} .experiment:not(:has(.claim.{id})),{chosen} .errata{{display:none}}"
        );
    }
    style
}

const STYLE: &str = include_str!("style.css");

/// A link to a filter chooses it, and a narrow screen shows which page this is. Without a script the link still leads
/// to the filter.
const SCRIPT: &str = "function choose(){const named=document.getElementById(decodeURIComponent(location.hash.slice(1)));if(named&&named.type==='radio')named.checked=true}choose();addEventListener('hashchange',choose);document.querySelector('[aria-current]').scrollIntoView({block:'nearest',inline:'center'})";
