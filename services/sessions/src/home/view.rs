//! The file.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use super::{Document, NewExchange};
use crate::disk;
use crate::error::Error;
use crate::time::iso_seconds;

/// What the document ends in, as it is written here.
const END: &str = "\n  ]\n}\n";

/// What is before the time of the last change, as it is written here. Both times are of one length.
const BEFORE_UPDATED: &str =
    "{\n  \"id\": \"home\",\n  \"created_at\": \"2026-02-25T10:00:00Z\",\n  \"updated_at\": \"";

/// What is below this is written anew for an exchange: a reader that takes no lock sees the old
/// or the new one. Bytes.
const SMALL: u64 = 8 * 1024;

/// The file as it was written here.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Exchanges in it.
    count: u64,
    /// Its length in bytes; another one is somebody else's writing.
    length: u64,
}

/// The view of the home session.
#[derive(Debug)]
pub struct View {
    path: PathBuf,
    /// Once the file is known to be as it is written here.
    known: Option<Known>,
}

impl View {
    /// The view at `path`. Nothing is read before it is needed.
    pub fn new(path: PathBuf) -> Self {
        Self { path, known: None }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether exchanges can be added: the file is there, and is as it is
    /// written here. It may have been deleted to begin anew.
    pub fn is_known(&self) -> bool {
        let there = fs::metadata(&self.path).map(|file| file.len()).ok();
        self.known.is_some_and(|known| Some(known.length) == there)
    }

    /// Whether an exchange was added in part: the process was killed meanwhile.
    pub fn is_torn(&self) -> bool {
        let end = File::open(&self.path).and_then(|mut file| {
            let end = file.metadata()?.len().saturating_sub(END.len() as u64);
            file.seek(SeekFrom::Start(end))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        end.is_ok_and(|end| !end.is_empty() && end != END.as_bytes())
    }

    /// Writes the whole document; readers see the old or the new one.
    pub fn write(&mut self, exchanges: Vec<NewExchange>) -> Result<(), Error> {
        let count = exchanges.len() as u64;
        match Document::of(exchanges) {
            None => self.forget(),
            Some(document) => {
                self.known = None;
                let bytes = rendered(&document, &self.path)?;
                disk::replace(&self.path, &bytes)?;
                self.known = Some(Known {
                    count,
                    length: bytes.len() as u64,
                });
                Ok(())
            }
        }
    }

    /// Adds an exchange. Not synced: the transcript is durable, and a view that
    /// a power loss takes is made again.
    pub fn add(&mut self, exchange: NewExchange) -> Result<(), Error> {
        let Some(known) = self.known.take() else {
            return Ok(());
        };
        let failed = |error| Error::io("add an exchange to", &self.path)(error);
        let added = if known.length < SMALL {
            self.replace_with(exchange, known)
        } else {
            self.extend_with(exchange, known)
        };
        self.known = Some(added.map_err(failed)?);
        Ok(())
    }

    /// Takes the file away: the next exchange is the first.
    pub fn forget(&mut self) -> Result<(), Error> {
        self.known = None;
        let removed = disk::if_there(fs::remove_file(&self.path));
        removed.map(drop).map_err(Error::io("remove", &self.path))
    }

    /// Puts a copy with `exchange` into the place of the file.
    fn replace_with(&self, exchange: NewExchange, known: Known) -> io::Result<Known> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let mut temp = tempfile::Builder::new()
            .prefix(".default-")
            .suffix(".tmp")
            .tempfile_in(dir)?;
        let kept = known.length - END.len() as u64;
        io::copy(&mut File::open(&self.path)?.take(kept), temp.as_file_mut())?;
        let added = put(temp.as_file(), exchange, known)?;
        temp.persist(&self.path).map_err(|error| error.error)?;
        Ok(added)
    }

    /// Writes `exchange` behind the others, while nobody reads. Who reads all the time, or a
    /// file system without locks, costs a copy.
    fn extend_with(&self, exchange: NewExchange, known: Known) -> io::Result<Known> {
        let file = File::options().write(true).open(&self.path)?;
        let Ok(file) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else {
            return self.replace_with(exchange, known);
        };
        let added = put(&file, exchange, known);
        if added.is_err() {
            // The disk took a part of it: these bytes have their place already.
            let end = known.length - END.len() as u64;
            file.write_all_at(END.as_bytes(), end)?;
            file.set_len(known.length)?;
        }
        added
    }
}

/// Writes `exchange` and the time of the last change over the end of a document.
fn put(file: &File, exchange: NewExchange, known: Known) -> io::Result<Known> {
    let updated = iso_seconds(exchange.replied_ms);
    let count = known.count + 1;
    let entry = serde_json::to_string_pretty(&exchange.numbered(count))?;
    let entry = entry.replace('\n', "\n    ");
    let added = format!(",\n    {entry}{END}");
    let end = known.length - END.len() as u64;
    file.write_all_at(added.as_bytes(), end)?;
    file.write_all_at(updated.as_bytes(), BEFORE_UPDATED.len() as u64)?;
    Ok(Known {
        count,
        length: end + added.len() as u64,
    })
}

fn rendered(document: &Document, path: &Path) -> Result<Vec<u8>, Error> {
    let mut text = serde_json::to_string_pretty(document).map_err(|source| Error::Encode {
        path: path.to_owned(),
        source,
    })?;
    text.push('\n');
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    fn exchange(n: i64) -> NewExchange {
        NewExchange {
            user_text: format!("say \"{n}\"\n"),
            bot_text: format!("ä{n}"),
            channel: "cli".to_owned(),
            sent_ms: 1_795_219_200_000 + n * 1000,
            replied_ms: 1_795_219_200_999 + n * 1000,
        }
    }

    fn all(n: i64) -> Vec<u8> {
        let document = Document::of((1..=n).map(exchange).collect()).unwrap();
        rendered(&document, Path::new("d")).unwrap()
    }

    #[test]
    fn adding_gives_what_writing_gives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions/default.json");
        let mut view = View::new(path.clone());
        view.write(vec![exchange(1)]).unwrap();
        let mut lengths = 0..0;
        for n in 2..90 {
            view.add(exchange(n)).unwrap();
            assert_eq!(fs::read(&path).unwrap(), all(n));
            assert!(view.is_known() && !view.is_torn());
            lengths.end = all(n).len() as u64;
        }
        assert!(lengths.contains(&SMALL), "both ways: {lengths:?}");
        let document = Document::read(&path).unwrap().unwrap();
        assert_eq!(document.id, "home");
        assert_eq!(document.created_at, "2026-11-21T00:00:01Z");
        assert_eq!(document.messages[88].id, "89");
        assert_eq!(document.updated_at, "2026-11-21T00:01:29Z");
    }

    #[test]
    fn adding_to_a_long_document_writes_the_exchange_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("default.json");
        let mut view = View::new(path.clone());
        view.write((1..=90).map(exchange).collect()).unwrap();
        let file = File::open(&path).unwrap();
        view.add(exchange(91)).unwrap();
        let same = |file: &File| file.metadata().unwrap().ino();
        assert_eq!(same(&file), same(&File::open(&path).unwrap()));
        // Who reads is not disturbed.
        let file = Flock::lock(file, FlockArg::LockShared).unwrap();
        view.add(exchange(92)).unwrap();
        assert_ne!(same(&file), same(&File::open(&path).unwrap()));
        let mut read = Vec::new();
        (&*file).read_to_end(&mut read).unwrap();
        assert_eq!(read, all(91));
        assert_eq!(fs::read(&path).unwrap(), all(92));
    }

    #[test]
    fn torn_document_is_told_from_a_whole_one() {
        let dir = tempfile::tempdir().unwrap();
        let view = View::new(dir.path().join("default.json"));
        assert!(!view.is_torn());
        let whole = all(90);
        for length in [0, whole.len()] {
            fs::write(view.path(), &whole[..length]).unwrap();
            assert!(!view.is_torn(), "{length}");
        }
        for length in [1, END.len(), whole.len() / 2, whole.len() - 1] {
            fs::write(view.path(), &whole[..length]).unwrap();
            assert!(view.is_torn(), "{length}");
        }
    }

    #[test]
    fn file_that_was_deleted_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut view = View::new(dir.path().join("default.json"));
        assert!(!view.is_known());
        view.write(vec![exchange(1)]).unwrap();
        assert!(view.is_known());
        fs::remove_file(view.path()).unwrap();
        assert!(!view.is_known());
        view.write(Vec::new()).unwrap();
        assert_eq!(Document::read(view.path()).unwrap(), None);
    }
}
