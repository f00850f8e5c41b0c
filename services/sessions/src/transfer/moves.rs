//! Putting transcripts into place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::error::Error;

/// Moves files from the first to the second path of each pair, which must be
/// on one file system; durable when this returns. A file is never replaced.
/// After an error none is moved.
pub fn move_in(moves: &[(PathBuf, PathBuf)]) -> Result<(), Error> {
    for (at, (from, to)) in moves.iter().enumerate() {
        if let Err(error) = move_one(from, to) {
            // Best effort: the error that counts is the one returned.
            let _ = move_out(&moves[..at]);
            return Err(error);
        }
    }
    let folders: BTreeSet<&Path> = moves.iter().filter_map(|(_, to)| to.parent()).collect();
    folders.into_iter().try_for_each(disk::sync_dir)
}

/// Moves them back.
pub fn move_out(moves: &[(PathBuf, PathBuf)]) -> Result<(), Error> {
    let back = moves
        .iter()
        .map(|(from, to)| fs::rename(to, from).map_err(Error::io("move back", to)));
    back.fold(Ok(()), Result::and)
}

fn move_one(from: &Path, to: &Path) -> Result<(), Error> {
    if let Some(folder) = to.parent() {
        disk::create_private_dir(folder)?;
    }
    // A link fails when the name is taken, which a rename does not.
    fs::hard_link(from, to).map_err(Error::io("create", to))?;
    disk::make_private(to)?;
    fs::remove_file(from).map_err(Error::io("remove", from))
}
