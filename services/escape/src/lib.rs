//! Text that is not ours, on its way to a person: what a model, a tool, a
//! provider or another program said. Shown as it is, it could move the cursor,
//! fill the clipboard, show words in another order than they have, or hide
//! some; so everything that is not seen, or acts on a terminal, is written out.
//!
//! Three forms, by where the text stands: [`line()`] among other words,
//! [`block`] by itself where each character counts (a command that somebody
//! decides about), [`prose`] for what is written to be read (a reply). [`json`]
//! does the same for a JSON document, without changing what it says.

mod columns;
mod cut;
mod forms;
mod lines;
mod scripts;
mod unseen;

pub use columns::{columns, columns_at_least, columns_at_most};
pub use cut::{cut, line_within};
pub use forms::{Prose, block, first_unseen, json, line, prose};
pub use lines::{is_line_end, with_line_ends};
pub use unseen::is_hidden;
