//! Files that go with a message: those that it names, and what the clipboard has.

pub mod attachment;
mod clipboard;
mod content;
mod named;

pub use clipboard::picture;
pub use content::Content;
pub use named::named;
