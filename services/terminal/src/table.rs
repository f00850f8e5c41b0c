//! Rows in columns.

use crate::output;

/// The space between two columns.
const GAP: usize = 2;

/// The rows, each cell but the last as wide as its column's widest; what is not
/// seen of a cell is written out. Lines end without spaces.
pub fn render(rows: &[Vec<String>]) -> String {
    let written = |row: &Vec<String>| row.iter().map(|cell| output::line(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(written).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(|column| width(&rows, column)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}", width = width + GAP));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn width(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter()
        .filter_map(|row| row.get(column))
        .map(|cell| cell.chars().count())
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let rows: Vec<Vec<String>> = vec![row(&["KEY", "N"]), row(&["äöü-long", "1"]), row(&["x"])];
        assert_eq!(render(&rows), "KEY       N\näöü-long  1\nx\n");
        let rows: Vec<Vec<String>> = vec![row(&["a\u{1b}b", "1"]), row(&["c\nd", "2"])];
        assert_eq!(render(&rows), "a\\x1bb  1\nc⏎d     2\n");
    }
}
