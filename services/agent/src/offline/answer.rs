//! An answer out of memory.

use std::io;

use openclaw_turn::{Hint, Passage};

use super::hint::whole;
use super::language::Language;
use crate::emitter::Emitter;

/// Passages an answer has; the best come first.
const MAX_PASSAGES: usize = 3;

/// Lines quoted of one passage that a search found.
const MAX_LINES: usize = 12;

/// Answers the message `text` out of memory: gives the lines that answer, or
/// says that there are none; and how to connect a model.
pub(super) fn answer(text: &str, hits: &[Passage], hint: &Hint, out: &Emitter) -> io::Result<()> {
    let found = hits.iter().map(|hit| hit.snippet.as_str());
    let language = Language::of([text].into_iter().chain(found));
    if hits.is_empty() {
        out.text(language.nothing())?;
    } else {
        let lines: Vec<String> = hits
            .iter()
            .take(MAX_PASSAGES)
            .map(|hit| line(hit, language))
            .collect();
        out.text(&lines.join("\n\n"))?;
    }
    out.text(&format!("\n\n{}\n", whole(hint, language)))
}

/// What answers, in words, and its source after it.
fn line(hit: &Passage, language: Language) -> String {
    let answer = if hit.answer.is_empty() {
        &hit.snippet
    } else {
        &hit.answer
    };
    let said = match hit.role.as_str() {
        "user" => language.you_said().to_owned(),
        "assistant" => language.i_said().to_owned(),
        _ => language.place(&hit.path),
    };
    let above = subject(hit, answer).map_or_else(String::new, |above| format!("{above}: "));
    format!(
        "{said}{above}{}\n({})",
        plain(answer, &hit.context),
        place(hit)
    )
}

/// The heading that says what a line is about, where that is not said by the
/// line itself or by the file's name.
fn subject<'a>(hit: &'a Passage, answer: &str) -> Option<&'a str> {
    let stem = hit.path.rsplit('/').next().unwrap_or_default();
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let known = |above: &str| {
        let lower = above.to_lowercase();
        lower.is_empty()
            || above.contains('|')
            || above.contains('/')
            || lower == stem.to_lowercase()
            || answer.to_lowercase().contains(&lower)
    };
    let above = hit.context.iter().rev().map(|above| above.trim());
    above.into_iter().find(|above| !known(above))
}

/// A passage as it reads without the marks of Markdown; a row of a table with
/// the names of its columns.
fn plain(answer: &str, context: &[String]) -> String {
    let columns = context.iter().rev().find(|above| above.contains('|'));
    if let Some(columns) = columns
        && answer.trim_start().starts_with('|')
    {
        return row(answer, columns);
    }
    let lines = answer.lines().map(|line| {
        let line = line
            .trim_start()
            .trim_start_matches(['#', '>'])
            .trim_start();
        let item = ["- [ ] ", "- [x] ", "- ", "* ", "+ "];
        let item = item.iter().find_map(|mark| line.strip_prefix(mark));
        without_time(item.unwrap_or(line)).replace("**", "")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Without the time that `/remember` puts before a note.
fn without_time(line: &str) -> &str {
    let Some((time, rest)) = line.split_once(' ') else {
        return line;
    };
    let is_time = time.len() == 5
        && time.as_bytes()[2] == b':'
        && time
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b':');
    if is_time { rest } else { line }
}

fn row(answer: &str, columns: &str) -> String {
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let (names, values) = (cells(columns), cells(answer));
    let pairs = values
        .iter()
        .enumerate()
        .filter(|(_, value)| !value.is_empty());
    let pairs = pairs.map(|(index, value)| match names.get(index) {
        Some(name) if index > 0 && !name.is_empty() => format!("{name}: {value}"),
        _ => value.clone(),
    });
    pairs.collect::<Vec<_>>().join(", ")
}

fn place(hit: &Passage) -> String {
    if hit.start_line == hit.end_line {
        format!("{}:{}", hit.path, hit.start_line)
    } else {
        format!("{}:{}-{}", hit.path, hit.start_line, hit.end_line)
    }
}

/// A passage that a search found, with its place.
pub(super) fn passage(hit: &Passage) -> String {
    let role = if hit.role.is_empty() {
        String::new()
    } else {
        format!(" ({})", hit.role)
    };
    let mut text = format!("{}{role}\n", place(hit));
    let snippet = hit.snippet.trim_end();
    for line in snippet.lines().take(MAX_LINES) {
        text.push_str(&format!("> {line}\n"));
    }
    let more = snippet.lines().count().saturating_sub(MAX_LINES);
    if more > 0 {
        text.push_str(&format!("> … {more} more lines\n"));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(answer: &str, context: &[&str]) -> Passage {
        Passage {
            path: "memory/papers.md".to_owned(),
            start_line: 3,
            end_line: 3,
            snippet: "not this".to_owned(),
            role: "note".to_owned(),
            context: context.iter().map(|above| (*above).to_owned()).collect(),
            answer: answer.to_owned(),
        }
    }

    #[test]
    fn answer_is_the_line_in_words_with_its_source_after_it() {
        let item = hit("- Expires: 2031-04-12", &["Passport", "papers"]);
        assert_eq!(
            line(&item, Language::English),
            "In memory/papers.md: Passport: Expires: 2031-04-12\n(memory/papers.md:3)"
        );
        let note = hit("- 09:05 the key is under the pot", &["2026-11-22"]);
        assert!(line(&note, Language::German).contains("the key is under the pot\n("));
        assert!(!line(&note, Language::German).contains("09:05"));
        let told = Passage {
            role: "user".to_owned(),
            ..hit("I am called Ada.", &[])
        };
        assert!(line(&told, Language::English).starts_with("You said: I am called Ada."));
    }

    #[test]
    fn answer_of_a_table_names_its_columns() {
        let row = hit("| Ada | 12 | |", &["Phones", "Who | Number | Note"]);
        assert!(line(&row, Language::French).contains("Phones: Ada, Number: 12\n"));
    }
}
