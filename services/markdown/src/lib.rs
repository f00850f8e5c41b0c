//! Markdown as a terminal shows it: headings, lists, tables, quotes, links and
//! highlighted code, each line no wider than the terminal, also while the text is
//! still being written.
//!
//! The text is somebody else's. All of it goes through `openclaw_escape`, so that
//! the only escape sequences that come out are those written here: styles (SGR)
//! and links (OSC 8), whose targets are addresses of the web or of mail alone.

mod block;
mod code;
mod inline;
mod prefix;
mod span;
mod stream;
mod table;
mod wrap;

pub use span::width;
pub use stream::{Draft, Stream};

/// The whole of `text` at `columns`, with a line end after each line.
#[must_use]
pub fn render(text: &str, columns: usize) -> String {
    let mut stream = Stream::new(columns);
    let mut rendered = stream.push(text);
    rendered.push_str(&stream.finish());
    rendered
}
