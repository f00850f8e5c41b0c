//! Backups of the state: one file that holds what cannot be made anew, taken
//! while the suite runs, and put back whole or not at all.
//!
//! **The file** is a tar archive compressed with zstd, which `tar --zstd -xf`
//! unpacks too: `manifest.json` first, then what it lists in that order, then a
//! zstd frame to be skipped that holds the SHA-256 of everything before it
//! ([`seal`]). So a byte that changed, or an end that is missing, is found before
//! anything is unpacked, and nothing is unpacked that the manifest does not name
//! with its size and its sum.
//!
//! **Consistent** with a gateway that writes: the ledger is copied first and the
//! transcripts after it, because the gateway writes in the other order. So every
//! message that the ledger's copy knows is in a transcript's copy, and what came
//! later is found there by the gateway that starts with it, as after a crash.
//! What was under way is not begun again: the suite that was backed up has gone
//! on with it ([`restored`](openclaw_config::restored)).

mod capture;
mod check;
mod database;
mod error;
mod excess;
#[cfg(fuzzing)]
pub mod fuzz;
mod layout;
mod links;
mod manifest;
mod member;
mod mentions;
mod obeyed;
mod place;
mod restore;
mod rules;
mod seal;
mod swap;
#[cfg(test)]
mod tests;
mod under_way;
mod unfinished;
mod unpack;
mod walk;
mod write;

pub use check::check;
pub use error::Error;
pub use manifest::{LeftOut, Manifest, Workspace};
pub use mentions::Mention;
pub use restore::{Existing, Options, Restored, restore};
pub use unfinished::Unfinished;
pub use write::{Made, Source, backup};
