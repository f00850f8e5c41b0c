//! A reply of 16 MB, read and cut into messages.
//!
//! `cargo bench -p openclaw-channel --bench split`
#![allow(clippy::print_stdout, reason = "a benchmark is a program that prints")]

use std::time::Instant;

use openclaw_channel::rich::read;

const BYTES: usize = 16 << 20;
/// Telegram's, as it is set unless somebody says otherwise.
const LIMIT: usize = 4000;

fn main() {
    for (what, piece) in [
        ("words", "word "),
        ("lines", "a line of text\n"),
        ("paragraphs", "A paragraph.\n\n"),
        ("styles", "**bold** *italic* "),
        ("flags", "🇩🇪"),
    ] {
        let markdown = piece.repeat(BYTES / piece.len());
        let begun = Instant::now();
        let rich = read(&markdown);
        let read_in = begun.elapsed();
        let begun = Instant::now();
        let parts = rich.split(LIMIT);
        println!(
            "{what}: read in {read_in:.0?}, {} parts in {:.0?}",
            parts.len(),
            begun.elapsed()
        );
    }
}
