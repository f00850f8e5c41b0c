//! Files in a folder in which somebody else may write at the same time: an
//! agent, in its workspace, its home and its temporary folder.
//!
//! Whoever writes there can put a symbolic link, a FIFO or a huge file in the
//! place of any name, at any moment. So nothing there is reached by a path of
//! the whole system: a [`Folder`] is a descriptor, names are resolved beneath
//! it by the kernel, no symbolic link is ever followed, what is not a regular
//! file is neither read nor waited for, and every read has a bound.

mod beneath;
mod configured;
mod entries;
mod error;
mod folder;
mod held;
mod kind;
mod make;
mod ownership;
mod read;
mod remove;
pub mod repository;
pub mod way;
mod write;

pub use configured::ConfiguredFolder;
pub use entries::Entry;
pub use error::Error;
pub use folder::{Folder, mode_of_new, open_resolved};
pub use held::PinnedFile;
pub use kind::Kind;
/// What stat(2) says of a file.
pub use nix::sys::stat::FileStat;

#[cfg(test)]
mod tests;
