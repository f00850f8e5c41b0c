//! The file.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::{Document, NewExchange};
use crate::disk;
use crate::error::Error;
use crate::time::iso_seconds;

/// What the document ends in, as it is written here.
const END: &str = "\n  ]\n}\n";

/// What is before the time of the last change, as it is written here. Both
/// times are of one length.
const BEFORE_UPDATED: &str =
    "{\n  \"id\": \"home\",\n  \"created_at\": \"2026-02-25T10:00:00Z\",\n  \"updated_at\": \"";

/// The view of the home session.
#[derive(Debug)]
pub struct View {
    path: PathBuf,
    /// Exchanges in the file, once it is known to be as it is written here.
    known: Option<u64>,
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
        self.known.is_some() && self.path.exists()
    }

    /// Writes the whole document; readers see the old or the new one.
    pub fn write(&mut self, exchanges: Vec<NewExchange>) -> Result<(), Error> {
        let count = exchanges.len() as u64;
        match Document::of(exchanges) {
            None => self.forget(),
            Some(document) => {
                self.known = None;
                disk::replace(&self.path, &rendered(&document, &self.path)?)?;
                self.known = Some(count);
                Ok(())
            }
        }
    }

    /// Adds an exchange. Not synced: the transcript is durable, and a view that
    /// a power loss takes is made again.
    pub fn add(&mut self, exchange: NewExchange) -> Result<(), Error> {
        let Some(count) = self.known else {
            return Ok(());
        };
        self.known = None;
        let failed = |error| Error::io("add an exchange to", &self.path)(error);
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let mut temp = tempfile::Builder::new()
            .prefix(".default-")
            .suffix(".tmp")
            .tempfile_in(dir)
            .map_err(failed)?;
        self.copy_with(temp.as_file_mut(), exchange, count + 1)
            .map_err(failed)?;
        temp.persist(&self.path)
            .map_err(|error| failed(error.error))?;
        self.known = Some(count + 1);
        Ok(())
    }

    /// Takes the file away: the next exchange is the first.
    pub fn forget(&mut self) -> Result<(), Error> {
        self.known = None;
        let removed = disk::if_there(fs::remove_file(&self.path));
        removed.map(drop).map_err(Error::io("remove", &self.path))
    }

    fn copy_with(&self, target: &mut File, exchange: NewExchange, number: u64) -> io::Result<()> {
        let updated = iso_seconds(exchange.replied_ms);
        let old = File::open(&self.path)?;
        let kept = old.metadata()?.len().saturating_sub(END.len() as u64);
        io::copy(&mut old.take(kept), target)?;
        let entry = serde_json::to_string_pretty(&exchange.numbered(number))?;
        let entry = entry.replace('\n', "\n    ");
        target.write_all(format!(",\n    {entry}{END}").as_bytes())?;
        target.seek(SeekFrom::Start(BEFORE_UPDATED.len() as u64))?;
        target.write_all(updated.as_bytes())
    }
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

    #[test]
    fn adding_gives_what_writing_gives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions/default.json");
        let mut view = View::new(path.clone());
        view.write(vec![exchange(1)]).unwrap();
        for n in 2..20 {
            view.add(exchange(n)).unwrap();
            let all = Document::of((1..=n).map(exchange).collect()).unwrap();
            assert_eq!(fs::read(&path).unwrap(), rendered(&all, &path).unwrap());
        }
        let document = Document::read(&path).unwrap().unwrap();
        assert_eq!(document.id, "home");
        assert_eq!(document.created_at, "2026-11-21T00:00:01Z");
        assert_eq!(document.messages[18].id, "19");
        assert_eq!(document.updated_at, "2026-11-21T00:00:19Z");
    }

    #[test]
    fn a_file_that_was_deleted_is_noticed() {
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
