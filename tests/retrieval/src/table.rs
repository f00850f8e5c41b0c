//! The figures of an evaluation, for people and for programs.

use serde_json::json;

use crate::measure::{Interval, Report, Scores};
use crate::set::Settings;

/// As a table.
pub(super) fn text(report: &Report, embedder: &str, sets: &[&str]) -> String {
    let mut rows = vec![
        ["", "questions", "R@5", "R@10", "nDCG@10", "MRR@10"].map(str::to_owned),
        row("all", &report.all),
    ];
    rows.extend(
        report
            .categories
            .iter()
            .map(|(name, scores)| row(name, scores)),
    );
    let mut text = format!("{}: {}\n", embedder, sets.join(", "));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..6).filter_map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str(&format!(
        "search p50 {:.2} ms, p99 {:.2} ms; 95 % bootstrap intervals\n",
        report.p50_ms, report.p99_ms
    ));
    text
}

fn row(name: &str, scores: &Scores) -> [String; 6] {
    let cell = |interval: Interval| {
        let Interval { mean, low, high } = interval;
        format!("{mean:.1} [{low:.1}, {high:.1}]")
    };
    [
        name.to_owned(),
        scores.questions.to_string(),
        cell(scores.recall_at_5),
        cell(scores.recall_at_10),
        cell(scores.ndcg_at_10),
        cell(scores.mrr_at_10),
    ]
}

/// As one JSON document.
pub(super) fn json(
    report: &Report,
    embedder: &str,
    sets: &[&str],
) -> Result<String, serde_json::Error> {
    let mut document = json!({ "embedder": embedder, "sets": sets });
    if let (Some(document), serde_json::Value::Object(report)) =
        (document.as_object_mut(), serde_json::to_value(report)?)
    {
        document.extend(report);
    }
    serde_json::to_string_pretty(&document)
}

/// The weights with which each conversation was asked.
pub(crate) fn folds(names: &[&str], each: &[Settings]) -> String {
    let mut text = String::from("weights, each fitted to the other conversations:\n");
    for (name, settings) in names.iter().zip(each) {
        let weights = settings.ranking.said.each();
        let weights = weights.map(|(list, weight)| format!("{list} {weight:.2}"));
        text.push_str(&format!("{name}: {}\n", weights.join(", ")));
    }
    text
}
