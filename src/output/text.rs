//! Pieces of text for people: labels cut to a width, columns that line up.

use super::row::escape;

/// At most `width` characters, shortened in the middle, where paths of one machine differ least.
/// Control characters are escaped: a label is a path, and a path may hold anything.
#[must_use]
pub fn shorten(label: &str, width: usize) -> String {
    let chars: Vec<char> = escape(label).chars().collect();
    if chars.len() <= width {
        return chars.into_iter().collect();
    }
    let kept = width.saturating_sub(3);
    let (front, back) = (kept / 2, kept - kept / 2);
    let ends = [&chars[..front], &['.'; 3][..width.min(3)], &chars[chars.len() - back..]];
    ends.concat().into_iter().collect()
}

/// Rows under a head, lined up: the first column to the left, the others to the right.
#[must_use]
pub fn lined_up(head: &[&str], rows: Vec<Vec<String>>, color: bool) -> String {
    let mut grid = Grid::new(1, head);
    rows.into_iter().for_each(|row| grid.push(row));
    grid.render(color, false)
}

/// Lines up rows under a head: the first `left` columns to the left, numbers to the right.
pub(super) struct Grid {
    left: usize,
    /// Whether the last column holds words, and goes to the left too.
    words_last: bool,
    rows: Vec<Vec<String>>,
}

impl Grid {
    pub(super) fn new(left: usize, head: &[&str]) -> Self {
        Self {
            left,
            words_last: false,
            rows: vec![head.iter().map(|word| (*word).to_owned()).collect()],
        }
    }

    /// The last column holds words.
    pub(super) fn with_words_last(mut self) -> Self {
        self.words_last = true;
        self
    }

    pub(super) fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.rows[0].len());
        self.rows.push(row);
    }

    /// The lines; the first and, with `bold_last`, the last are bold if `color`.
    pub(super) fn render(&self, color: bool, bold_last: bool) -> String {
        let mut widths = vec![0; self.rows[0].len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let last = self.rows.len() - 1;
        let mut out = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let line = self.line(row, &widths);
            let bold = color && (index == 0 || (bold_last && index == last));
            out.push_str(&if bold { format!("\x1b[1m{line}\x1b[0m\n") } else { line + "\n" });
        }
        out
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells: Vec<_> = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(index, (cell, &width))| {
                if index < self.left || (self.words_last && index + 1 == row.len()) {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        cells.join("  ").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_cut_in_the_middle() {
        assert_eq!(shorten("/mnt/disk1", 10), "/mnt/disk1");
        assert_eq!(shorten("/mnt/abcdefgh/disk12", 13), "/mnt/...isk12");
        assert_eq!(shorten("/mnt/abc", 2), "..");
        assert_eq!(shorten("a\nb", 20), "a\\nb");
    }

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::new(1, &["disk", "ops"]);
        grid.push(vec!["a".into(), "12345".into()]);
        assert_eq!(grid.render(false, true), "disk    ops\na     12345\n");
        assert_eq!(grid.render(true, false), "\x1b[1mdisk    ops\x1b[0m\na     12345\n");
    }
}
