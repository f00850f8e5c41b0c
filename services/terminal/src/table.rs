//! Rows in columns, as wide as they are, and on a terminal no wider than that.

use crate::failure::Failure;
use crate::output;
use crate::painted::{Painted, Style};
use crate::width::{columns, cut, pad};

/// The space between two columns.
const GAP: usize = 2;
/// Columns of a terminal to which a column is shortened, if it has more.
const LEAST: usize = 8;

/// What to do about a terminal that is too narrow, by the names of columns, which the
/// first row has.
#[derive(Debug, Default, Clone, Copy)]
pub struct Shape<'a> {
    /// Columns that are left out, the first one first, before the others lose what they say.
    pub optional: &'a [&'a str],
    /// Columns that say nothing with fewer columns of a terminal than that.
    pub least: &'a [(&'a str, usize)],
}

/// The rows, each cell but the last as wide as its column's widest; what is not
/// seen of a cell is written out. Lines end without spaces.
#[must_use]
pub fn render(rows: &[Vec<String>]) -> String {
    let rows = written(rows);
    aligned(&rows, &widths(&rows))
}

/// Writes the rows to standard output, as [`render`] has them; on a terminal no
/// wider than it: longest cells are shortened, and where that is not enough, each
/// row is some lines.
///
/// # Errors
/// When standard output cannot be written.
pub fn print(rows: &[Vec<String>]) -> Result<(), Failure> {
    printed(rows, None)
}

/// The same, where the first row has the names of the columns.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_named(rows: &[Vec<String>], shape: Shape<'_>) -> Result<(), Failure> {
    printed(rows, Some(shape))
}

fn printed(rows: &[Vec<String>], shape: Option<Shape<'_>>) -> Result<(), Failure> {
    match output::room() {
        None => output::stdout(&render(rows)),
        Some(room) => output::stdout(&fitted(rows, shape, room)),
    }
}

/// Writes rows of a name and what is said of it to standard output; what has no room in
/// a line goes on in the next, beside the names.
///
/// # Errors
/// When standard output cannot be written.
pub fn print_pairs(rows: &[Vec<String>]) -> Result<(), Failure> {
    match output::room() {
        None => output::stdout(&render(rows)),
        Some(room) => output::stdout(&pairs(rows, room)),
    }
}

fn written(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let written = |row: &Vec<String>| row.iter().map(|cell| output::line(cell)).collect();
    rows.iter().map(written).collect()
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| columns(cell)).max().unwrap_or(0)
    };
    (0..count).map(width).collect()
}

fn aligned(rows: &[Vec<String>], widths: &[usize]) -> String {
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths);
        let line: String = cells
            .map(|(cell, width)| pad(&cut(cell, *width), width + GAP))
            .collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn fitted(rows: &[Vec<String>], shape: Option<Shape<'_>>, room: usize) -> String {
    let whole = rows;
    let mut rows = rows.to_vec();
    let named = shape.unwrap_or_default();
    let mut optional = named.optional.iter();
    loop {
        let shown = written(&rows);
        let widths = widths(&shown);
        if total(&widths) <= room {
            return aligned(&shown, &widths);
        }
        if shape.is_some() && leave_out_the_empty(&mut rows) {
            continue;
        }
        let least = least(&shown, &widths, named);
        if total(&least) <= room {
            return aligned(&shown, &shortened(&widths, &least, room));
        }
        match optional.next() {
            Some(name) => leave_out(&mut rows, name),
            // There is room for all of them below one another.
            None => return blocks(whole, shape.is_some(), room),
        }
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn least(rows: &[Vec<String>], widths: &[usize], shape: Shape<'_>) -> Vec<usize> {
    let head = rows.first().map(Vec::as_slice).unwrap_or_default();
    let least = |(column, width): (usize, &usize)| {
        let stated = shape.least.iter();
        let stated = stated.filter(|(name, _)| head.get(column).is_some_and(|it| it == name));
        let least = stated.map(|(_, least)| *least).next().unwrap_or(LEAST);
        least.min(*width)
    };
    widths.iter().enumerate().map(least).collect()
}

/// The widths with which the row fits `room`: the widest lose first.
fn shortened(widths: &[usize], least: &[usize], room: usize) -> Vec<usize> {
    let capped = |cap: usize| -> Vec<usize> {
        let pairs = widths.iter().zip(least);
        pairs
            .map(|(width, least)| (*width).min(cap.max(*least)))
            .collect()
    };
    let mut cap = widths.iter().copied().max().unwrap_or(0);
    while cap > 0 && total(&capped(cap)) > room {
        cap -= 1;
    }
    let mut fits = capped(cap);
    // What is left over because several would have it: the first of them.
    let mut left = room.saturating_sub(total(&fits));
    for (fits, width) in fits.iter_mut().zip(widths) {
        if left > 0 && *fits < *width {
            *fits += 1;
            left -= 1;
        }
    }
    fits
}

fn leave_out(rows: &mut [Vec<String>], name: &str) {
    let head = rows.first().map(Vec::as_slice).unwrap_or_default();
    if let Some(column) = head.iter().position(|it| it == name) {
        leave_out_at(rows, column);
    }
}

/// Leaves out a column that has nothing but its name; whether there is one.
fn leave_out_the_empty(rows: &mut [Vec<String>]) -> bool {
    let count = rows.first().map_or(0, Vec::len);
    let says_nothing = |row: &Vec<String>, at: usize| row.get(at).is_none_or(|it| is_nothing(it));
    let is_empty = |at: &usize| rows.iter().skip(1).all(|row| says_nothing(row, *at));
    let found = (0..count).find(is_empty);
    if let Some(column) = found {
        leave_out_at(rows, column);
    }
    found.is_some()
}

fn is_nothing(cell: &str) -> bool {
    matches!(cell, "" | "-")
}

fn leave_out_at(rows: &mut [Vec<String>], column: usize) {
    for row in rows.iter_mut().filter(|row| row.len() > column) {
        row.remove(column);
    }
}

/// Each row as lines of a name and what it is there; without names, what a row is about
/// with the rest below it.
fn blocks(rows: &[Vec<String>], is_named: bool, room: usize) -> String {
    let (heads, rows) = match rows.split_first() {
        Some((heads, rows)) if is_named => (heads.as_slice(), rows),
        _ => (&[][..], rows),
    };
    let blocks: Vec<String> = rows.iter().map(|row| block(heads, row, room)).collect();
    blocks.join("\n")
}

fn block(heads: &[String], row: &[String], room: usize) -> String {
    let width = heads.iter().map(|head| columns(head)).max().unwrap_or(0) + GAP;
    let mut text = Painted::within(room);
    for (column, cell) in row.iter().enumerate() {
        if is_nothing(cell) {
            continue;
        }
        match heads.get(column) {
            Some(head) => text.entry((Style::Plain, head), width, (Style::Plain, cell)),
            None if column == 0 => text.entry((Style::Plain, ""), 0, (Style::Plain, cell)),
            None => text.entry((Style::Plain, ""), GAP, (Style::Plain, cell)),
        };
    }
    text.text().to_owned()
}

fn pairs(rows: &[Vec<String>], room: usize) -> String {
    let width = widths(&written(rows))
        .first()
        .map_or(0, |width| width + GAP);
    let mut text = Painted::within(room);
    for row in rows {
        let name = row.first().map(String::as_str).unwrap_or_default();
        let said = row.get(1..).unwrap_or_default().join("  ");
        text.entry((Style::Plain, name), width, (Style::Plain, &said));
    }
    text.text().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn columns_line_up() {
        let rows = [row(&["KEY", "N"]), row(&["äöü-long", "1"]), row(&["x"])];
        assert_eq!(render(&rows), "KEY       N\näöü-long  1\nx\n");
        let rows = [row(&["a\u{1b}b", "1"]), row(&["c\nd", "2"])];
        assert_eq!(render(&rows), "a\\x1bb  1\nc⏎d     2\n");
        let rows = [row(&["日本", "1"]), row(&["e\u{301}🦞", "2"])];
        assert_eq!(render(&rows), "日本  1\ne\u{301}🦞   2\n");
    }

    #[test]
    fn table_fits_by_its_longest_cells_alone() {
        let rows = [
            row(&["RUN", "STATE", "REASON"]),
            row(&["0123456789ab", "failed", "the provider refused the request"]),
        ];
        let text = fitted(&rows, None, 40);
        let expected = "RUN           STATE   REASON\n\
                        0123456789ab  failed  the provider refu…\n";
        assert_eq!(text, expected);
        assert_eq!(fitted(&rows, None, 54), render(&rows));
        let text = fitted(&rows, None, 30);
        assert!(text.contains("012345678…  failed  the provi…"), "{text}");
        let kept = Shape {
            least: &[("RUN", 12)],
            ..Shape::default()
        };
        let text = fitted(&rows, Some(kept), 30);
        assert!(text.contains("0123456789ab  failed  the pro…"), "{text}");
    }

    #[test]
    fn table_leaves_out_what_it_may_before_rows_become_lines() {
        let rows = [
            row(&["STARTED", "CPU", "RUN"]),
            row(&["11-25 16:33:22", "0.12 s", "0123456789ab"]),
        ];
        let shape = Shape {
            optional: &["CPU"],
            least: &[("STARTED", 14), ("RUN", 12)],
        };
        let text = fitted(&rows, Some(shape), 30);
        assert_eq!(text, "STARTED         RUN\n11-25 16:33:22  0123456789ab\n");
        let text = fitted(&rows, Some(shape), 26);
        let expected = "STARTED  11-25 16:33:22\nCPU      0.12 s\nRUN      0123456789ab\n";
        assert_eq!(text, expected);
        let text = fitted(&rows, Some(shape), 20);
        let expected = "STARTED\n  11-25 16:33:22\nCPU      0.12 s\nRUN\n  0123456789ab\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn table_leaves_out_what_says_nothing_first() {
        let rows = [
            row(&["RUN", "COST", "REASON", "STATE"]),
            row(&["0123456789ab", "-", "", "done"]),
        ];
        let text = fitted(&rows, Some(Shape::default()), 20);
        assert_eq!(text, "RUN           STATE\n0123456789ab  done\n");
    }

    #[test]
    fn table_writes_what_is_not_seen_once() {
        let rows = [
            row(&["a", "b"]),
            row(&["one\ntwo", "three four five six seven"]),
        ];
        let text = fitted(&rows, None, 10);
        assert!(text.contains("one⏎two"), "{text}");
    }

    #[test]
    fn table_is_never_wider_than_its_room() {
        let cells = [
            "agent:main:日本語",
            "-",
            "2 min 5 s ago",
            "/home/somebody/.openclaw/x",
            "🦞",
        ];
        let rows = [
            row(&["SESSION", "N", "UPDATED", "ID", "LABEL"]),
            row(&cells),
        ];
        for room in 4..100 {
            for shape in [None, Some(Shape::default())] {
                let text = fitted(&rows, shape, room);
                assert!(
                    text.lines().all(|line| columns(line) <= room),
                    "{room}\n{text}"
                );
            }
        }
    }

    #[test]
    fn pairs_go_on_beside_the_names() {
        let rows = [
            row(&["state", "failed"]),
            row(&["reason", "the provider refused the request"]),
        ];
        let text = pairs(&rows, 26);
        let expected =
            "state   failed\nreason  the provider\n        refused the\n        request\n";
        assert_eq!(text, expected);
    }
}
