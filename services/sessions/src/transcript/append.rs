//! Appending to a transcript.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::entry::{Entry, Header, Line, OtherEntry};
use super::marker::{Draft, Marker};
use super::message::Message;
use super::{KEY_ENTRY, LINE_LIMIT, id};
use crate::disk;
use crate::error::Error;
use crate::key::SessionKey;
use crate::time::iso_time;

/// The version written; OpenClaw imports 3 and 4.
const VERSION: u32 = 3;

/// What a new transcript says of itself.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The session's id.
    pub session_id: String,
    /// The session's key.
    pub key: SessionKey,
    /// The agent's working directory.
    pub cwd: PathBuf,
}

/// A transcript open for appending. Nothing is durable before [`sync`], so that
/// a caller can write to several transcripts and then sync each once.
///
/// [`sync`]: Transcript::sync
#[derive(Debug)]
pub struct Transcript {
    pub(super) path: PathBuf,
    pub(super) file: Option<File>,
    pub(super) origin: Origin,
    pub(super) salt: u32,
    pub(super) length: u64,
    /// How much of `length` is known to be on disk.
    pub(super) synced: u64,
    pub(super) leaf: Option<String>,
    /// The file is new and its directory entry not yet on disk.
    pub(super) unsynced_name: bool,
}

impl Transcript {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is something that [`Transcript::sync`] has to do.
    pub fn is_unsynced(&self) -> bool {
        self.unsynced_name || self.synced < self.length
    }

    /// Bytes that are not durable yet.
    pub(crate) fn unsynced_length(&self) -> u64 {
        self.length - self.synced
    }

    /// Where in the file begins what is not durable yet, and what it is.
    pub(crate) fn unsynced(&self) -> Result<(u64, Vec<u8>), Error> {
        let length = usize::try_from(self.unsynced_length()).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        if let Some(file) = &self.file {
            file.read_exact_at(&mut bytes, self.synced)
                .map_err(Error::io("read", &self.path))?;
        }
        Ok((self.synced, bytes))
    }

    /// Everything is durable in another place, which gives it back to the file.
    pub(crate) fn is_durable_elsewhere(&mut self) {
        self.synced = self.length;
        self.unsynced_name = false;
    }

    /// Its length in bytes, with what is not durable yet.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends entries in one write and returns their ids. A new file gets its
    /// header in the same write. After an error the file is as it was before.
    pub fn append<D: Into<Draft>>(
        &mut self,
        drafts: impl IntoIterator<Item = D>,
        now_ms: i64,
    ) -> Result<Vec<String>, Error> {
        let mut batch = Batch::new(self, iso_time(now_ms));
        if self.length == 0 {
            batch.begin()?;
        }
        let ids = drafts
            .into_iter()
            .map(|draft| match draft.into() {
                Draft::Message(message) => batch.message(*message),
                Draft::Marker(marker) => batch.marker(&marker),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let Batch { bytes, leaf, .. } = batch;
        self.write(&bytes)?;
        self.leaf = leaf;
        Ok(ids)
    }

    /// Makes everything appended durable. After an error what was not durable
    /// is cut off again: the kernel forgets a failed write-back, so a second
    /// fdatasync that succeeds would prove nothing. Drop the transcript then.
    pub fn sync(&mut self) -> Result<(), Error> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        if self.synced < self.length
            && let Err(error) = file.sync_data()
        {
            // Best effort: the error that counts is the one returned.
            let _ = file.set_len(self.synced);
            self.length = self.synced;
            return Err(Error::io("make durable", &self.path)(error));
        }
        self.synced = self.length;
        if self.unsynced_name {
            disk::sync_dir(self.path.parent().unwrap_or(Path::new(".")))?;
            self.unsynced_name = false;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.file.is_none() {
            self.file = Some(create(&self.path)?);
            self.unsynced_name = true;
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        if let Err(error) = file.write_all(bytes) {
            // A full disk takes a part of a line; the next append must not
            // continue it. When this fails too, opening repairs it.
            let _ = file.set_len(self.length);
            return Err(Error::io("append to", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Lines on their way into one write.
struct Batch<'a> {
    transcript: &'a Transcript,
    timestamp: String,
    bytes: Vec<u8>,
    leaf: Option<String>,
}

impl<'a> Batch<'a> {
    fn new(transcript: &'a Transcript, timestamp: String) -> Self {
        Self {
            transcript,
            timestamp,
            bytes: Vec::new(),
            leaf: transcript.leaf.clone(),
        }
    }

    /// The header, and the key that the header has no place for.
    fn begin(&mut self) -> Result<(), Error> {
        let origin = &self.transcript.origin;
        let header = Header {
            version: Value::from(VERSION),
            id: origin.session_id.clone(),
            timestamp: self.timestamp.clone(),
            cwd: origin.cwd.to_string_lossy().into_owned(),
            rest: Map::new(),
        };
        self.line(&Line::Header(header))?;
        let key = Marker::Custom {
            custom_type: KEY_ENTRY.to_owned(),
            data: json!({ "sessionKey": origin.key.as_str() }),
        };
        self.marker(&key).map(|_| ())
    }

    fn marker(&mut self, marker: &Marker) -> Result<String, Error> {
        let id = self.next_id();
        let parent = self.leaf.replace(id.clone());
        let raw = marker.encode(&id, parent.as_deref(), &self.timestamp);
        self.line(&Line::Other(OtherEntry {
            kind: marker.kind().to_owned(),
            id: Some(id.clone()),
            raw,
        }))?;
        Ok(id)
    }

    fn message(&mut self, message: Message) -> Result<String, Error> {
        let id = self.next_id();
        let entry = Entry {
            id: id.clone(),
            parent_id: self.leaf.replace(id.clone()),
            timestamp: self.timestamp.clone(),
            message,
            rest: Map::new(),
        };
        self.line(&Line::Message(Box::new(entry)))?;
        Ok(id)
    }

    fn next_id(&self) -> String {
        let offset = self.transcript.length + self.bytes.len() as u64;
        id::entry_id(self.transcript.salt, offset)
    }

    fn line(&mut self, line: &Line) -> Result<(), Error> {
        let before = self.bytes.len();
        let path = &self.transcript.path;
        line.encode(&mut self.bytes)
            .map_err(|source| Error::Encode {
                path: path.clone(),
                source,
            })?;
        let length = self.bytes.len() - before;
        if length > LINE_LIMIT {
            return Err(Error::TooLong {
                path: path.clone(),
                length,
                limit: LINE_LIMIT,
            });
        }
        Ok(())
    }
}

/// Creates the file of a new transcript.
fn create(path: &Path) -> Result<File, Error> {
    if let Some(dir) = path.parent() {
        disk::create_private_dir(dir)?;
    }
    disk::create_private(path)
}
