//! Putting into transcripts what they did not get.

use std::collections::{BTreeSet, HashSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;

use super::Recovered;
use super::record::{Extent, Written};
use crate::disk;
use crate::error::Error;
use crate::transcript::Line;

/// Only the owner reads conversations.
const PRIVATE_FILE: u32 = 0o600;

/// Files that are made durable at the same time: they share commits of the file system's journal.
const THREADS: usize = 8;

/// What came after the journal was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Since {
    /// The page cache may be lost, whole files with it.
    Crash,
    /// At most a disk that was pulled out. A file that is gone was removed.
    SameBoot,
    /// The kernel takes for written what it failed to write.
    FailedWrite,
}

/// Puts every extent where it belongs, in order. Not durable yet.
pub(super) fn apply(written: &Written, root: &Path, since: Since) -> Result<Recovered, Error> {
    let mut recovered = Recovered::default();
    for extent in &written.extents {
        let path = root.join(&extent.path);
        if put(&path, extent, since).map_err(Error::io("bring up to date", &path))? {
            recovered.bytes += extent.bytes.len() as u64;
            recovered.transcripts.insert(path);
        }
    }
    Ok(recovered)
}

/// Makes files and their names durable. One that is not there any more has nothing to lose.
pub(super) fn sync(paths: &BTreeSet<PathBuf>, root: &Path) -> Result<(), Error> {
    let all: Vec<&PathBuf> = paths.iter().collect();
    let share = all.len().div_ceil(THREADS).max(1);
    let results: Vec<Result<(), Error>> = match all.len() {
        0 | 1 => all.iter().map(|path| sync_one(path)).collect(),
        _ => thread::scope(|scope| {
            let threads: Vec<_> = all
                .chunks(share)
                .map(|chunk| scope.spawn(|| chunk.iter().try_for_each(|path| sync_one(path))))
                .collect();
            let joined = threads.into_iter();
            joined
                .map(|thread| thread.join().unwrap_or(Err(Error::Interrupted)))
                .collect()
        }),
    };
    results.into_iter().collect::<Result<(), Error>>()?;
    // A new agent's folders are new too.
    let folders = paths.iter().flat_map(|path| path.ancestors().skip(1));
    let folders: BTreeSet<&Path> = folders.filter(|path| path.starts_with(root)).collect();
    let there = folders.into_iter().filter(|folder| folder.is_dir());
    there.into_iter().try_for_each(disk::sync_dir)
}

fn sync_one(path: &Path) -> Result<(), Error> {
    match disk::if_there(File::open(path)).map_err(Error::io("open", path))? {
        Some(file) => file.sync_data().map_err(Error::io("make durable", path)),
        None => Ok(()),
    }
}

/// True when the file did not have it.
fn put(path: &Path, extent: &Extent, since: Since) -> io::Result<bool> {
    let Some(file) = open(path, extent, since)? else {
        return Ok(false);
    };
    let length = file.metadata()?.len();
    let end = extent.offset + extent.bytes.len() as u64;
    let mut there = vec![0; length.min(end).saturating_sub(extent.offset) as usize];
    file.read_exact_at(&mut there, extent.offset)?;
    if there == extent.bytes && since != Since::FailedWrite {
        return Ok(false);
    }
    if length >= extent.offset && is_unfinished(&there, &extent.bytes) {
        file.write_all_at(&extent.bytes, extent.offset)?;
        return Ok(true);
    }
    match since {
        Since::Crash => add_missing(&file, length, &extent.bytes),
        Since::SameBoot | Since::FailedWrite => Ok(false),
    }
}

/// Whether a crash may leave `there` of `bytes`: their beginning, and blocks
/// that were never written. Anything else is somebody's.
fn is_unfinished(there: &[u8], bytes: &[u8]) -> bool {
    let same = there.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    there[same..].iter().all(|byte| *byte == 0)
}

/// None: the file is gone, and nobody wants it back.
fn open(path: &Path, extent: &Extent, since: Since) -> io::Result<Option<File>> {
    // A file of which something was on the disk does not vanish in a crash.
    let may_be_new = since == Since::Crash && extent.offset == 0;
    if may_be_new && let Some(folder) = path.parent() {
        disk::create_private_dir(folder).map_err(|_| io::ErrorKind::NotADirectory)?;
    }
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(may_be_new)
        .truncate(false)
        .mode(PRIVATE_FILE)
        .open(path);
    disk::if_there(opened)
}

/// Somebody wrote to the file since: entries that it has not go to its end.
fn add_missing(file: &File, length: u64, bytes: &[u8]) -> io::Result<bool> {
    let mut all = vec![0; length as usize];
    file.read_exact_at(&mut all, 0)?;
    let there: HashSet<&[u8]> = all.split(|byte| *byte == b'\n').collect();
    let mut missing = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let is_header = matches!(Line::parse(line), Ok(Line::Header(_)));
        if !line.is_empty() && !is_header && !there.contains(line) {
            missing.extend_from_slice(line);
            missing.push(b'\n');
        }
    }
    if missing.is_empty() {
        return Ok(false);
    }
    if all.last().is_some_and(|byte| *byte != b'\n') {
        missing.insert(0, b'\n');
    }
    file.write_all_at(&missing, length)?;
    Ok(true)
}
