//! What is printed: measures, figures, and the targets beside those that have one.

use std::fmt;

use crate::parts::Part;

/// A target that was missed. A debug build has none.
const MISSED: &str = if cfg!(debug_assertions) {
    "of a debug build"
} else {
    "FAIL"
};

/// The figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    incomplete: bool,
}

#[derive(Debug)]
struct Row {
    measure: String,
    figure: String,
    target: String,
    verdict: &'static str,
}

/// A unit and how its figures are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Milliseconds,
    /// Of 1024 × 1024 bytes.
    Mebibytes,
    Bytes,
}

impl Unit {
    fn write(self, value: f64) -> String {
        match self {
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Mebibytes => format!("{value:.2} MB"),
            Self::Bytes => format!("{value:.0} B"),
        }
    }

    fn write_target(self, value: f64) -> String {
        match self {
            Self::Milliseconds => format!("{value} ms"),
            Self::Mebibytes => format!("{value} MB"),
            Self::Bytes => format!("{value} B"),
        }
    }
}

impl Table {
    /// A figure without a target.
    pub(crate) fn figure(&mut self, measure: impl Into<String>, unit: Unit, value: f64) {
        self.words(measure, unit.write(value));
    }

    /// A figure in words.
    pub(crate) fn words(&mut self, measure: impl Into<String>, figure: impl Into<String>) {
        self.rows.push(Row {
            measure: measure.into(),
            figure: figure.into(),
            target: String::new(),
            verdict: "",
        });
    }

    /// A figure that must be `at_most` so much, in a release build.
    pub(crate) fn target(
        &mut self,
        measure: impl Into<String>,
        unit: Unit,
        value: f64,
        at_most: f64,
    ) {
        self.rows.push(Row {
            measure: measure.into(),
            figure: unit.write(value),
            target: unit.write_target(at_most),
            verdict: if value <= at_most { "pass" } else { MISSED },
        });
    }

    /// A part that could not be measured.
    pub(crate) fn failed(&mut self, part: Part, error: &anyhow::Error) {
        self.incomplete = true;
        self.words(format!("{part}: not measured"), format!("{error:#}"));
    }

    /// Whether everything that was asked for was measured.
    pub(crate) fn is_complete(&self) -> bool {
        !self.incomplete
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = Row {
            measure: "measure".to_owned(),
            figure: "measured".to_owned(),
            target: "at most".to_owned(),
            verdict: "",
        };
        let widest = |text: fn(&Row) -> &str| {
            let rows = self.rows.iter().filter(|row| !row.target.is_empty());
            let targets = rows.map(|row| text(row).chars().count()).max();
            targets.unwrap_or_default()
        };
        // Figures in words may be long; only those with something behind them are aligned.
        let figures = widest(|row| &row.figure).max(header.figure.len());
        let targets = widest(|row| &row.target).max(header.target.len());
        let all = || std::iter::once(&header).chain(&self.rows);
        let measures = all().map(|row| row.measure.chars().count()).max();
        let measures = measures.unwrap_or_default();
        for row in all() {
            let line = format!(
                "{:<measures$}  {:<figures$}  {:<targets$}  {}",
                row.measure, row.figure, row.target, row.verdict
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_stand_beside_their_figures() {
        let mut table = Table::default();
        table.target("quick", Unit::Milliseconds, 1.5, 12.0);
        table.target("large", Unit::Mebibytes, 15.001, 15.0);
        table.words("words", "a long figure that nothing follows");
        let lines: Vec<String> = table.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines[1], "quick    1.50 ms   12 ms    pass");
        assert_eq!(lines[2], format!("large    15.00 MB  15 MB    {MISSED}"));
        assert_eq!(lines[3], "words    a long figure that nothing follows");
        assert!(table.is_complete());
    }

    #[test]
    fn part_that_failed_says_why() {
        let mut table = Table::default();
        let error = anyhow::anyhow!("no file").context("cannot start");
        table.failed(Part::Spawn, &error);
        assert!(table.to_string().contains("cannot start: no file"));
        assert!(!table.is_complete());
    }
}
