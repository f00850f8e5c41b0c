//! Where output goes that is too much to be told at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes kept of one stream. More is nothing that anybody reads.
pub(in crate::builtin) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A file in the turn's temporary folder; it goes with the turn.
#[derive(Debug)]
pub(in crate::builtin) struct Spill {
    path: PathBuf,
    file: File,
    written: u64,
}

impl Spill {
    /// A new file named after `what`.
    pub(in crate::builtin) fn create(what: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("output-{}-{number}-{what}.txt", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        Ok(Self {
            path,
            file,
            written: 0,
        })
    }

    pub(in crate::builtin) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that are in the file.
    pub(in crate::builtin) fn written(&self) -> u64 {
        self.written
    }

    /// Appends what fits.
    pub(in crate::builtin) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(MAX_BYTES - self.written).unwrap_or(usize::MAX);
        let piece = &bytes[..bytes.len().min(room)];
        self.file.write_all(piece)?;
        self.written += piece.len() as u64;
        Ok(())
    }
}
