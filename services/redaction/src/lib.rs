//! Words that are looked for in texts and in the texts of JSON documents, and covered
//! there.
//!
//! Each letter gives way to stars of as many bytes, where it stands: lines keep
//! their place and their length, and they stay the JSON that they were. What an
//! entry is (ids, roles, times, names of tools and models) stays.

mod entry;
pub mod line;
mod literals;
mod pieces;
mod text;
mod words;

pub use entry::{Entry, Time};
pub use pieces::{Piece, pieces};
pub use words::{LIMIT, NotWords, Words};

impl Words {
    /// How often the words are in `text`, which may be a JSON document.
    pub fn count(&self, text: &str) -> usize {
        line::found(text.as_bytes(), self).count()
    }

    /// `text` with stars in their place; None when they are not in it.
    pub fn cover(&self, text: &str) -> Option<String> {
        let mut bytes = text.as_bytes().to_vec();
        (line::cover(&mut bytes, self) > 0).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }
}
