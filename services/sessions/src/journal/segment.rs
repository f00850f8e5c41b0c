//! One of the journal's files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::record::{self, Extent, HEAD, Written};
use super::replay::{self, Since};
use crate::disk;
use crate::error::Error;

/// Bytes by which the file grows at first, and at most: each time to twice what
/// it was. A growth costs a commit of the file system's journal, and its bytes.
const FIRST_GROWTH: u64 = 16 * 1024;
const LARGEST_GROWTH: u64 = 256 * 1024;

/// Bytes of one write of a growth. The kernel keeps what is written at once as
/// one piece, and counts and may write the whole of it for each later record.
const PIECE: usize = 4096;

#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: Option<File>,
    /// Tells its records from those that were there before.
    generation: u64,
    /// Where the next record goes; 0 when there is none.
    end: u64,
    /// How much of the file has blocks.
    allocated: u64,
    /// Transcripts whose end is durable here and perhaps not in themselves.
    behind: BTreeSet<PathBuf>,
    /// The kernel forgets what it could not write back, so that it has to be
    /// written again before the next try.
    is_forgotten: bool,
}

impl Segment {
    /// The file at `path`, which may not be there, and what it holds.
    pub(super) fn find(path: &Path, root: &Path) -> Result<(Self, Option<Written>), Error> {
        let mut segment = Self {
            path: path.to_owned(),
            file: None,
            generation: 0,
            end: 0,
            allocated: 0,
            behind: BTreeSet::new(),
            is_forgotten: false,
        };
        let written = Written::read(path)?;
        if let Some(written) = &written {
            let paths = written.extents.iter().map(|extent| root.join(&extent.path));
            segment.behind = paths.collect();
            segment.generation = written.generation;
            segment.end = written.end;
            segment.open()?;
        }
        Ok((segment, written))
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn length(&self) -> u64 {
        self.end
    }

    pub(super) fn is_empty(&self) -> bool {
        self.end == 0
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        self.behind.contains(path)
    }

    /// An empty segment's next records are newer than those of `generation`.
    pub(super) fn continue_after(&mut self, generation: u64) {
        self.generation = self.generation.max(generation + 1);
    }

    /// Makes one record durable. After an error nothing of it is there.
    pub(super) fn write<'a>(
        &mut self,
        extents: &[Extent],
        boot_id: &str,
        paths: impl Iterator<Item = &'a Path>,
    ) -> Result<(), Error> {
        let mut bytes = Vec::new();
        if self.end == 0 {
            record::begin(&mut bytes, boot_id, self.generation);
        }
        record::append(&mut bytes, self.generation, extents);
        let end = self.end + bytes.len() as u64;
        self.open()?;
        let Some(file) = &self.file else {
            return Err(Error::Interrupted);
        };
        let grown = grown(self.allocated, end);
        let written = zero(file, self.allocated, grown)
            .and_then(|()| file.write_all_at(&bytes, self.end))
            .and_then(|()| file.sync_data());
        if let Err(error) = written {
            // Best effort: whoever asked is not told that it is durable.
            let _ = file.write_all_at(&[0; record::PREFIX], self.record_start());
            return Err(Error::io("write", &self.path)(error));
        }
        self.allocated = grown;
        self.end = end;
        self.behind.extend(paths.map(Path::to_owned));
        Ok(())
    }

    /// What makes the transcripts follow, without this.
    pub(super) fn work(&self, root: &Path) -> Result<Following, Error> {
        let file = self.file.as_ref().map(File::try_clone).transpose();
        Ok(Following {
            path: self.path.clone(),
            root: root.to_owned(),
            file: file.map_err(Error::io("open", &self.path))?,
            generation: self.generation,
            behind: self.behind.clone(),
            is_forgotten: self.is_forgotten,
        })
    }

    /// Its transcripts have followed, or could not.
    pub(super) fn followed(&mut self, done: &Result<(), Error>) {
        self.is_forgotten = done.is_err();
        if done.is_ok() {
            self.end = 0;
            self.generation += 1;
            self.behind.clear();
        }
    }

    /// Makes the transcripts follow, and waits for it.
    pub(super) fn settle(&mut self, root: &Path) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let done = self.work(root)?.run();
        self.followed(&done);
        done
    }

    /// Removes the file of an empty segment.
    pub(super) fn remove(&mut self) -> Result<(), Error> {
        self.file = None;
        self.allocated = 0;
        let removed = disk::if_there(fs::remove_file(&self.path));
        removed.map(drop).map_err(Error::io("remove", &self.path))
    }

    fn record_start(&self) -> u64 {
        self.end.max(HEAD as u64)
    }

    fn open(&mut self) -> Result<(), Error> {
        if self.file.is_none() {
            let file = disk::open_private(&self.path)?;
            let length = file.metadata().map(|metadata| metadata.len());
            self.allocated = length.map_err(Error::io("read", &self.path))?;
            self.file = Some(file);
        }
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    #[cfg(test)]
    pub(super) fn break_file(&mut self, file: File) {
        self.file = Some(file);
    }
}

/// How long a file of `length` bytes is to be for a record that ends at `end`.
fn grown(length: u64, end: u64) -> u64 {
    if end <= length {
        return length;
    }
    let growth = length.clamp(FIRST_GROWTH, LARGEST_GROWTH);
    end.max(length + growth).next_multiple_of(FIRST_GROWTH)
}

fn zero(file: &File, from: u64, to: u64) -> io::Result<()> {
    let mut at = from;
    while at < to {
        let length = (to - at).min(PIECE as u64);
        file.write_all_at(&[0; PIECE][..length as usize], at)?;
        at += length;
    }
    Ok(())
}

/// What is left to do for a segment's transcripts.
pub(super) struct Following {
    path: PathBuf,
    root: PathBuf,
    file: Option<File>,
    generation: u64,
    behind: BTreeSet<PathBuf>,
    is_forgotten: bool,
}

impl Following {
    pub(super) fn run(self) -> Result<(), Error> {
        if self.is_forgotten
            && let Some(written) = Written::read(&self.path)?
        {
            replay::apply(&written, &self.root, Since::FailedWrite)?;
        }
        replay::sync(&self.behind, &self.root)?;
        let Some(file) = self.file else {
            return Ok(());
        };
        let mut head = Vec::new();
        record::begin(&mut head, "", self.generation + 1);
        // Durably: what is removed after this must not come back.
        file.write_all_at(&head, 0)
            .and_then(|()| file.sync_data())
            .map_err(Error::io("empty", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_grows_to_twice_its_length_and_by_no_more_than_the_largest_growth() {
        assert_eq!(grown(0, 900), FIRST_GROWTH);
        assert_eq!(grown(FIRST_GROWTH, 900), FIRST_GROWTH);
        assert_eq!(grown(FIRST_GROWTH, FIRST_GROWTH + 1), 2 * FIRST_GROWTH);
        let large = 4 * LARGEST_GROWTH;
        assert_eq!(grown(large, large + 1), large + LARGEST_GROWTH);
        assert_eq!(grown(0, 10 * LARGEST_GROWTH), 10 * LARGEST_GROWTH);
    }

    #[test]
    fn segment_that_is_empty_goes_on_after_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0.journal");
        let (mut segment, written) = Segment::find(&path, dir.path()).unwrap();
        assert!(written.is_none() && segment.is_empty());
        segment.continue_after(7);
        assert_eq!(segment.generation(), 8);
        segment.continue_after(3);
        assert_eq!(segment.generation(), 8, "it never goes back");
        let one = dir.path().join("a.jsonl");
        let extent = Extent::new(Path::new("a.jsonl"), 0, b"{}\n".to_vec());
        segment
            .write(&[extent], "boot", [one.as_path()].into_iter())
            .unwrap();
        assert!(segment.has(&one) && segment.length() > HEAD as u64);
        // The file has blocks for more than the record.
        let length = fs::metadata(&path).unwrap().len();
        assert_eq!(length, FIRST_GROWTH);
        let (found, written) = Segment::find(&path, dir.path()).unwrap();
        assert_eq!((found.generation(), found.length()), (8, segment.length()));
        assert_eq!(written.unwrap().boot_id, "boot");
        assert!(found.has(&one));
        segment.followed(&Ok(()));
        assert_eq!((segment.generation(), segment.is_empty()), (9, true));
        assert!(!segment.has(&one));
        segment.remove().unwrap();
        assert!(!path.exists());
        segment.remove().unwrap();
    }

    #[test]
    fn zeros_fill_a_file_to_the_byte() {
        let file = tempfile::tempfile().unwrap();
        for (from, to) in [(0, 0), (0, 5), (5, 5000), (5000, 5000), (5000, 13_193)] {
            zero(&file, from, to).unwrap();
            assert_eq!(file.metadata().unwrap().len(), to);
        }
        file.write_all_at(b"x", 4).unwrap();
        zero(&file, 0, 4).unwrap();
        let mut kept = [0];
        file.read_exact_at(&mut kept, 4).unwrap();
        assert_eq!(&kept, b"x");
    }
}
