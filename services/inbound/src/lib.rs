//! What comes in on channels: who may talk, what they may, and which agent answers; and what a
//! reply that goes out asks for. Nothing here reads or writes (but for `media`, which looks at
//! files of the workspace that a reply names): settings and facts go in, a verdict comes out.

mod approvers;
mod binding;
mod code;
mod code_block;
mod decision;
mod directives;
mod facts;
mod foreign;
#[cfg(fuzzing)]
pub mod fuzz;
mod media;
mod message_text;
mod peer;
mod rules;
mod words;

pub use approvers::{QuestionTargets, asked};
pub use binding::agent_of;
pub use code::{CODE_LENGTH, code};
pub use decision::{buttons, decision_of, said_by, with_command};
pub use directives::{AskedFor, asked_for};
pub use facts::Facts;
pub use foreign::{name, one_line, quoted, quoted_whole, speaker};
pub use media::{WithFiles, mime_type, names_files, with_files};
pub use message_text::{MessageText, SaidAs};
pub use peer::{bare, has_everybody, is_listed, names};
pub use rules::{PairedPeople, Verdict, is_owner, judge, listing, unanswered_groups};
pub use words::{about, attachment_at, command, said};
