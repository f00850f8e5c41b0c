//! Tables that fit the terminal.

use pulldown_cmark::Alignment;

use crate::span::{Line, Span, Style, drawn_width_of, width, width_of};
use crate::wrap::wrap;

/// Between two columns.
const SEPARATOR: &str = " │ ";
/// The narrowest a column is made for another one.
const NARROWEST: usize = 4;
/// Between a name and what is said, where rows are some lines each.
const GAP: usize = 2;
/// Less than that beside a name is no room for what is said.
const BESIDE: usize = 12;

/// A table as it is read.
#[derive(Debug, Default)]
pub(crate) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<Line>>>,
}

impl Table {
    pub(crate) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
        }
    }

    pub(crate) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(crate) fn cell(&mut self, lines: Vec<Line>) {
        if let Some(row) = self.rows.last_mut() {
            row.push(lines);
        }
    }

    /// The lines of the table, whose first row is its head. Where the columns have no
    /// room beside each other, each row is some lines of a name and what it is there.
    pub(crate) fn lay_out(&self, columns: usize) -> Vec<Line> {
        let Some(widths) = self.widths(columns) else {
            return self.pairs(columns);
        };
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            lines.extend(self.row(row, &widths));
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(vec![faint(&rules.join("─┼─"))]);
            }
        }
        lines
    }

    /// As wide as the widest cell, and where that has no room, what is widest gives.
    /// `None`: it has nothing to give.
    fn widths(&self, columns: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widths = cells.flatten().map(|line| width_of(line));
            widths.max().unwrap_or(0).max(1)
        };
        let between = width(SEPARATOR) * count.saturating_sub(1);
        let room = columns.saturating_sub(between + self.undrawn());
        // What a column gives for itself alone is given at once, and nothing where it is no use:
        // whoever wrote the table chose how wide it is.
        let mut widths: Vec<usize> = (0..count).map(|it| widest(it).min(room.max(1))).collect();
        if widths.iter().map(|it| *it.min(&NARROWEST)).sum::<usize>() > room {
            return None;
        }
        while widths.iter().sum::<usize>() > room {
            *widths.iter_mut().max().filter(|it| **it > NARROWEST)? -= 1;
        }
        Some(widths)
    }

    /// Columns that a row takes more where a terminal draws joined pictures beside each
    /// other: cells are aligned for the others.
    fn undrawn(&self) -> usize {
        let undrawn = |line: &Line| width_of(line).saturating_sub(drawn_width_of(line));
        let rows = self.rows.iter();
        let of_rows = rows.map(|row| row.iter().flatten().map(undrawn).sum());
        of_rows.max().unwrap_or(0)
    }

    fn pairs(&self, columns: usize) -> Vec<Line> {
        let Some((heads, rows)) = self.rows.split_first() else {
            return Vec::new();
        };
        if rows.is_empty() {
            let heads = heads.iter().flatten();
            return heads.flat_map(|head| wrap(head, columns)).collect();
        }
        let names = heads.iter().flatten().map(|head| width_of(head));
        let beside = names.max().unwrap_or(0) + GAP;
        let is_beside = columns.saturating_sub(beside) >= BESIDE;
        let mut lines = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                lines.push(Line::new());
            }
            for (column, cell) in row.iter().enumerate() {
                let head = heads.get(column).map(Vec::as_slice).unwrap_or_default();
                match (head.concat(), is_beside) {
                    (head, _) if head.is_empty() => lines.extend(indented(cell, 0, columns)),
                    (_, _) if cell.iter().all(Vec::is_empty) => {}
                    (mut head, true) => {
                        let rest = beside.saturating_sub(width_of(&head));
                        head.push(blank(rest));
                        let mut said = indented(cell, beside, columns);
                        said[0].splice(..1, head);
                        lines.append(&mut said);
                    }
                    (head, false) => {
                        lines.extend(wrap(&head, columns));
                        lines.extend(indented(cell, GAP, columns));
                    }
                }
            }
        }
        lines
    }

    fn row(&self, row: &[Vec<Line>], widths: &[usize]) -> Vec<Line> {
        let cells: Vec<Vec<Line>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| {
                let lines = row.get(column).into_iter().flatten();
                lines.flat_map(|line| wrap(line, *width)).collect()
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        (0..height)
            .map(|at| {
                let mut line = Line::new();
                for (column, cell) in cells.iter().enumerate() {
                    if column > 0 {
                        line.push(faint(SEPARATOR));
                    }
                    let text = cell.get(at).cloned().unwrap_or_default();
                    let alignment = self.alignments.get(column);
                    let is_last = column + 1 == cells.len();
                    line.extend(aligned(text, widths[column], alignment, is_last));
                }
                line
            })
            .collect()
    }
}

fn faint(text: &str) -> Span {
    Span::new(text, &Style::faint())
}

fn blank(columns: usize) -> Span {
    Span::new(&" ".repeat(columns), &Style::default())
}

/// The lines of a cell, at least one, each behind `indent` blanks.
fn indented(cell: &[Line], indent: usize, columns: usize) -> Vec<Line> {
    let room = columns.saturating_sub(indent);
    let lines = cell.iter().flat_map(|line| wrap(line, room));
    let indented = lines.map(|line| [vec![blank(indent)], line].concat());
    let lines: Vec<Line> = indented.collect();
    if lines.is_empty() {
        return vec![vec![blank(indent)]];
    }
    lines
}

fn aligned(text: Line, width: usize, alignment: Option<&Alignment>, is_last: bool) -> Line {
    let rest = width.saturating_sub(drawn_width_of(&text));
    let before = match alignment {
        Some(Alignment::Right) => rest,
        Some(Alignment::Center) => rest / 2,
        _ => 0,
    };
    let mut line = vec![blank(before)];
    line.extend(text);
    // Nothing stands behind the last column.
    line.push(blank(if is_last { 0 } else { rest - before }));
    line
}

#[cfg(test)]
mod tests {
    use crate::render;

    const TABLE: &str = "| Plant | Days to harvest | Where |\n|---|---|---|\n| Beans | 60 | the **long** bed |\n| Peas | | pots |\n";

    fn plain(columns: usize) -> Vec<String> {
        let rendered = render(TABLE, columns);
        let mut text = String::new();
        for part in rendered.split("\u{1b}[") {
            let style = part
                .find('m')
                .filter(|_| !text.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()));
            text.push_str(&part[style.map_or(0, |at| at + 1)..]);
        }
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    #[test]
    fn table_without_room_is_rows_of_names_and_what_they_are() {
        assert_eq!(
            plain(14),
            [
                "Plant",
                "  Beans",
                "Days to",
                "harvest",
                "  60",
                "Where",
                "  the long bed",
                "",
                "Plant",
                "  Peas",
                "Where",
                "  pots",
            ]
        );
    }

    /// Whoever writes an answer chooses how wide its tables are, and how deep its quotes.
    #[test]
    fn table_and_quotes_cost_no_more_than_they_show() {
        let row = |cell: &str, count: usize| format!("|{}\n", format!("{cell}|").repeat(count));
        let many = row(&"x".repeat(400), 2000) + &row("-", 2000) + &row("y", 2000);
        let wide = row(&"z".repeat(1_000_000), 2) + &row("-", 2) + &row("y", 2);
        let deep = format!("{}a\n{}", "> ".repeat(2000), "b c\n".repeat(2000));
        for text in [many, wide, deep] {
            let rendered = render(&text, 80);
            assert!(rendered.len() < 64 * text.len(), "{}", rendered.len());
        }
    }

    #[test]
    fn table_is_never_wider_than_the_terminal() {
        for columns in 8..60 {
            for line in plain(columns) {
                assert!(crate::width(&line) <= columns, "{columns}: {line}");
            }
        }
    }
}
