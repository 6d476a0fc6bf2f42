//! A page as HTML: one document that needs nothing beside it.

use std::fmt::Write as _;

use super::page::{Block, Page, Table};
use super::plot::style_of_shades;

const STYLE: &str = include_str!("page.css");

/// Rows of a table that are shown at once; longer ones open on a click, and in print.
const SHOWN: usize = 40;

/// The whole document.
///
/// Its policy forbids whatever it might load or run: a label that got through the escaping could
/// still do nothing.
pub(super) fn document(page: &Page) -> String {
    let title = escape(&page.title);
    let mut out = String::new();
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n",
        style_of_shades()
    );
    for sentence in &page.head {
        let _ = writeln!(out, "<p>{}</p>", escape(sentence));
    }
    for section in &page.sections {
        let _ = writeln!(out, "<section>\n<h2>{}</h2>", escape(&section.title));
        for block in &section.blocks {
            write_block(block, &mut out);
        }
        out.push_str("</section>\n");
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn write_block(block: &Block, out: &mut String) {
    match block {
        Block::Text(text) => {
            let _ = writeln!(out, "<p>{}</p>", escape(text));
        }
        Block::Plots { caption, svgs } => {
            let caption = escape(caption);
            let class = if svgs.len() > 1 { "plots several" } else { "plots" };
            let _ = writeln!(
                out,
                "<figure>\n<figcaption>{caption}</figcaption>\n\
                 <div class=\"{class}\" role=\"img\" aria-label=\"{caption}\">"
            );
            // Drawn by the plotting crate, which escapes texts itself; a test looks at it.
            svgs.iter().for_each(|svg| out.push_str(&svg.0));
            let _ = writeln!(out, "</div>\n</figure>");
        }
        Block::Table(table) => write_table(table, out),
    }
}

fn write_table(table: &Table, out: &mut String) {
    let open = if table.rows.len() <= SHOWN { " open" } else { "" };
    let rows = match table.rows.len() {
        1 => "1 row".to_owned(),
        many => format!("{many} rows"),
    };
    let _ = write!(
        out,
        "<details{open}>\n<summary>{} ({rows})</summary>\n<div class=\"scroll\"><table>\n<thead><tr>",
        escape(&table.caption)
    );
    let last = table.head.len().saturating_sub(1);
    let class = |index: usize| {
        let words = index < table.words || (table.words_last && index == last);
        if words { "" } else { " class=\"n\"" }
    };
    for (index, cell) in table.head.iter().enumerate() {
        let _ = write!(out, "<th{}>{}</th>", class(index), escape(cell));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class(index), escape(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n</details>\n");
}

/// Text as text: labels and paths come from users. Control characters, which HTML cannot hold, are
/// shown as Rust writes them.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page::Section;

    #[test]
    fn nothing_that_users_say_is_markup() {
        let evil = "<script>alert('x')</script>\"&\u{1b}";
        let shown = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;\\u{1b}";
        let mut section = Section::new(evil);
        section.text(evil);
        let mut table = Table::new(evil, 1, &[evil]);
        table.push(vec![evil.to_owned()]);
        section.table(table);
        let page =
            Page { title: evil.to_owned(), head: vec![evil.to_owned()], sections: vec![section] };
        let text = document(&page);
        assert!(!text.contains("<script"));
        // Title twice, a sentence, a heading, a paragraph, and three in the table.
        assert_eq!(text.matches(shown).count(), 8, "{text}");
    }
}
