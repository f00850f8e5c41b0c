//! An answer out of memory.

use std::io;

use openclaw_turn::Passage;

use crate::emitter::Emitter;

/// Passages quoted; the hits come best first.
const MAX_PASSAGES: usize = 5;

/// Lines quoted of one passage.
const MAX_LINES: usize = 12;

/// Emits the best passages, each with its place, and how to connect a model.
pub(super) fn passages(hits: &[Passage], hint: &str, out: &Emitter) -> io::Result<()> {
    if hits.is_empty() {
        out.text(
            "I found nothing about that in your memory files, and no model is connected to ask. \
             `/remember …` notes something, `/help` lists what I can do.\n\n",
        )?;
    } else {
        out.text("No model is connected; this is what your memory says:\n\n")?;
    }
    for hit in hits.iter().take(MAX_PASSAGES) {
        out.text(&passage(hit))?;
    }
    if !hint.is_empty() {
        out.text(&format!("{hint}\n"))?;
    }
    Ok(())
}

/// A passage with its place.
pub(super) fn passage(hit: &Passage) -> String {
    let mut text = format!("{}:{}-{}\n", hit.path, hit.start_line, hit.end_line);
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
