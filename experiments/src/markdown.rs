//! The little Markdown our errata pages use, as HTML: headings, paragraphs, lists, tables, code, bold.

use crate::Paper;

/// Markdown to HTML. Headings are lowered by `depth` levels.
pub fn html(markdown: &str, depth: usize) -> String {
    let mut out = String::new();
    let mut open: Option<Block> = None;
    for line in markdown.lines() {
        let line = line.trim_end();
        let kind = Block::of(line);
        let continues = match (&open, &kind) {
            (Some(Block::List), Block::Text) if line.starts_with("  ") => true,
            (Some(a), b) => a == b && *b != Block::Heading,
            (None, _) => false,
        };
        if !continues {
            close(&mut out, open.take());
        }
        match kind {
            Block::Blank => continue,
            Block::Heading => {
                let level = line.chars().take_while(|c| *c == '#').count();
                let text = inline(line.trim_start_matches('#').trim());
                let level = (level + depth).min(6);
                out.push_str(&format!("<h{level}>{text}</h{level}>\n"));
                continue;
            }
            Block::Table => {
                let cells = row(line);
                if cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))) {
                    continue;
                }
                let tag = if continues { "td" } else { "th" };
                if !continues {
                    out.push_str("<div class=\"scroll\"><table>\n");
                }
                let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", inline(cell)));
                out.push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
            }
            Block::List => {
                out.push_str(if continues { "</li>\n<li>" } else { "<ul>\n<li>" });
                out.push_str(&inline(line.trim_start_matches(['*', '-']).trim()));
            }
            Block::Text if continues => {
                out.push(' ');
                out.push_str(&inline(line.trim()));
                continue;
            }
            Block::Text => out.push_str(&format!("<p>{}", inline(line.trim()))),
        }
        if !continues {
            open = Some(kind);
        }
    }
    close(&mut out, open);
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Blank,
    Heading,
    Table,
    List,
    Text,
}

impl Block {
    fn of(line: &str) -> Self {
        match line.chars().next() {
            None => Self::Blank,
            Some('#') => Self::Heading,
            Some('|') => Self::Table,
            Some('*' | '-') if line[1..].starts_with(' ') => Self::List,
            Some(_) => Self::Text,
        }
    }
}

fn close(out: &mut String, block: Option<Block>) {
    out.push_str(match block {
        Some(Block::Table) => "</table></div>\n",
        Some(Block::List) => "</li></ul>\n",
        Some(Block::Text) => "</p>\n",
        _ => "",
    });
}

/// The cells of a table row; `\|` is a bar inside a cell.
fn row(line: &str) -> Vec<String> {
    let line = line.trim().replace("\\|", "\u{0}");
    let inner = line.trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(|cell| cell.replace('\u{0}', "|").trim().to_owned()).collect()
}

/// One line: escaped, then `code` and **bold**, and papers by title and year rather than by key.
pub fn inline(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in escape(text).split('`').enumerate() {
        if at % 2 == 1 {
            out.push_str(&format!("<code>{part}</code>"));
            continue;
        }
        let part = by_title(part);
        for (at, part) in part.split("**").enumerate() {
            if at % 2 == 1 {
                out.push_str(&format!("<strong>{part}</strong>"));
            } else {
                out.push_str(part);
            }
        }
    }
    out
}

/// A text with papers by title and year rather than by key.
pub fn by_title(text: &str) -> String {
    let papers = Paper::ALL.iter().filter(|paper| **paper != Paper::Ours);
    papers.fold(text.to_owned(), |text, paper| text.replace(paper.key(), paper.short()))
}

/// Text made safe inside HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_we_write_is_understood() {
        let page = "# A <b>\n\ntwo\nlines of `x < y` and **bold** by ST20\n\n* one\n  more\n* two\n\n\
                    | a | b |\n|---|---|\n| 1\\|2 | 3 |\nend";
        let expected = "<h3>A &lt;b&gt;</h3>\n<p>two lines of <code>x &lt; y</code> and \
                        <strong>bold</strong> by IoT Networks (2020)</p>\n<ul>\n<li>one more</li>\n<li>two</li></ul>\n\
                        <div class=\"scroll\"><table>\n<tr><th>a</th><th>b</th></tr>\n\
                        <tr><td>1|2</td><td>3</td></tr>\n</table></div>\n<p>end</p>\n";
        assert_eq!(html(page, 2), expected);
    }
}
