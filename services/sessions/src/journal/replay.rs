//! Putting into transcripts what they did not get.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;

use super::Recovered;
use super::record::{Extent, Written};
use crate::disk;
use crate::error::Error;

/// Only the owner reads conversations.
const PRIVATE_FILE: u32 = 0o600;

/// Files that are made durable at the same time: they share commits of the
/// file system's journal.
const THREADS: usize = 8;

/// Puts every extent where it belongs, in order. Not durable yet.
pub(super) fn apply(written: &Written, root: &Path) -> Result<Recovered, Error> {
    let mut recovered = Recovered::default();
    for extent in &written.extents {
        let path = root.join(&extent.path);
        if put(&path, extent).map_err(Error::io("bring up to date", &path))? {
            recovered.bytes += extent.bytes.len() as u64;
            recovered.transcripts.insert(path);
        }
    }
    Ok(recovered)
}

/// Makes files and their names durable. One that is not there any more has
/// nothing to lose.
pub(super) fn sync(paths: &BTreeSet<PathBuf>) -> Result<(), Error> {
    let paths: Vec<&PathBuf> = paths.iter().collect();
    let share = paths.len().div_ceil(THREADS).max(1);
    let results: Vec<Result<(), Error>> = thread::scope(|scope| {
        let threads: Vec<_> = paths
            .chunks(share)
            .map(|chunk| scope.spawn(|| chunk.iter().try_for_each(|path| sync_one(path))))
            .collect();
        let joined = threads.into_iter();
        joined
            .map(|thread| thread.join().unwrap_or(Err(Error::Interrupted)))
            .collect()
    });
    results.into_iter().collect::<Result<(), Error>>()?;
    let folders: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    let there = folders.into_iter().filter(|folder| folder.is_dir());
    there.into_iter().try_for_each(disk::sync_dir)
}

fn sync_one(path: &Path) -> Result<(), Error> {
    match File::open(path) {
        Ok(file) => file.sync_data().map_err(Error::io("make durable", path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("open", path)(error)),
    }
}

/// True when the file did not have it.
fn put(path: &Path, extent: &Extent) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        disk::create_private_dir(folder).map_err(|_| io::ErrorKind::NotADirectory)?;
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE_FILE)
        .open(path)?;
    let length = file.metadata()?.len();
    // What should be before it is gone, which a crash does not do; entries are
    // whole lines, and are not lost with it.
    let offset = extent.offset.min(length);
    let mut there = vec![0; extent.bytes.len()];
    if length >= offset + extent.bytes.len() as u64 {
        file.read_exact_at(&mut there, offset)?;
        if there == extent.bytes {
            return Ok(false);
        }
    }
    file.write_all_at(&extent.bytes, offset)?;
    Ok(true)
}
