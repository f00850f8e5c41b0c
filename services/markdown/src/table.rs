//! Tables that fit the terminal.

use pulldown_cmark::Alignment;

use crate::span::{Line, Span, Style, width_of};
use crate::wrap::wrap;

/// Between two columns.
const SEPARATOR: &str = " │ ";
/// The narrowest a column is made for another one.
const NARROWEST: usize = 4;

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

    /// The lines of the table, whose first row is its head.
    pub(crate) fn lay_out(&self, columns: usize) -> Vec<Line> {
        let widths = self.widths(columns);
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
    fn widths(&self, columns: usize) -> Vec<usize> {
        let count = self.alignments.len();
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widths = cells.flatten().map(|line| width_of(line));
            widths.max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..count).map(widest).collect();
        let room = columns.saturating_sub(crate::span::width(SEPARATOR) * count.saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max().filter(|it| **it > NARROWEST) else {
                break;
            };
            *widest -= 1;
        }
        widths
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

fn aligned(text: Line, width: usize, alignment: Option<&Alignment>, is_last: bool) -> Line {
    let rest = width.saturating_sub(width_of(&text));
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
