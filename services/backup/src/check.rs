//! Whether a backup is as it was written, and nothing else.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek as _, Take};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::libc::O_NONBLOCK;

use crate::capture::Summing;
use crate::error::Error;
use crate::layout::MANIFEST;
use crate::links;
use crate::manifest::{self, FORMAT, Head, Manifest, SIZE_LIMIT};
use crate::member::{self, Member, Trouble};
use crate::seal;

/// Bytes after the last member: the end of the archive, and what fills it up.
const END_LIMIT: u64 = 64 * 1024;

/// Characters that are shown of the version that a file says it is from.
const VERSION: usize = 64;

/// Reads the backup at `path` from the beginning to its end; what it says of
/// itself. Nothing is written.
///
/// # Errors
/// It cannot be read, is not as it was written, or holds what no backup does.
pub fn check(path: &Path) -> Result<Manifest, Error> {
    let mut backup = Backup::open(path)?;
    let manifest = backup.manifest()?;
    backup.files(&manifest, &mut Nowhere)?;
    Ok(manifest)
}

/// Where the content of files goes.
pub(crate) trait Sink {
    /// Takes a file, whose sum is looked at once it was read.
    fn take(&mut self, file: &manifest::File, content: &mut dyn Read) -> Result<(), Error>;
}

/// Reads and forgets.
struct Nowhere;

impl Sink for Nowhere {
    fn take(&mut self, file: &manifest::File, content: &mut dyn Read) -> Result<(), Error> {
        let read = io::copy(content, &mut io::sink());
        read.map(drop)
            .map_err(Error::io("read", Path::new(&file.path)))
    }
}

/// A backup that is open.
pub(crate) struct Backup {
    path: PathBuf,
    archive: zstd::Decoder<'static, BufReader<Take<File>>>,
}

impl Backup {
    /// Opens one whose bytes are those that were written.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        // Nobody may write to a FIFO; it is opened all the same, and refused.
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(O_NONBLOCK);
        let mut file = options.open(path).map_err(Error::io("open", path))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(Error::unsound(path, "it is no file"));
        }
        let length = seal::sealed(&mut file, path)?;
        file.rewind().map_err(Error::io("read", path))?;
        let reader = BufReader::new(file.take(length));
        let archive = zstd::Decoder::with_buffer(reader).map_err(Error::io("unpack", path))?;
        Ok(Self {
            path: path.to_owned(),
            archive,
        })
    }

    /// What it says of itself, which comes first.
    pub(crate) fn manifest(&mut self) -> Result<Manifest, Error> {
        let member = self.next()?;
        let Some(Member { path, size }) = member.filter(|it| it.path == MANIFEST) else {
            return Err(self.unsound("it does not begin with a manifest"));
        };
        if size > SIZE_LIMIT {
            return Err(self.unsound("its manifest is too large"));
        }
        let mut text = Vec::new();
        let read = (&mut self.archive).take(size).read_to_end(&mut text);
        read.map_err(|error| self.broken(Trouble::Io(error)))?;
        let skipped = member::skip(&mut self.archive, member::padding(size));
        skipped.map_err(|trouble| self.broken(trouble))?;
        let no_manifest = |error| format!("its {path} is none: {error}");
        let head: Head =
            serde_json::from_slice(&text).map_err(|error| self.unsound(no_manifest(error)))?;
        if head.format > FORMAT {
            return Err(Error::Newer {
                path: self.path.clone(),
                found: head.format,
                known: FORMAT,
                program: head.program.chars().take(VERSION).collect(),
            });
        }
        let mut manifest: Manifest =
            serde_json::from_slice(&text).map_err(|error| self.unsound(no_manifest(error)))?;
        if let Some(problem) = manifest.problem() {
            return Err(self.unsound(problem));
        }
        // An earlier program took them for links that stay: no reason to restore nothing.
        links::leave_out(&mut manifest);
        Ok(manifest)
    }

    /// Gives every file to `sink`: those that the manifest lists, in its order and
    /// with its sizes and sums, and no other.
    pub(crate) fn files(mut self, manifest: &Manifest, sink: &mut impl Sink) -> Result<(), Error> {
        for file in &manifest.files {
            let Some(member) = self.next()? else {
                return Err(self.unsound(format!("{:?} is missing", file.path)));
            };
            if member.path != file.path {
                let problem = format!("{:?} is where {:?} should be", member.path, file.path);
                return Err(self.unsound(problem));
            }
            if member.size != file.size {
                return Err(self.unsound(format!("{:?} has another size", file.path)));
            }
            self.file(file, sink)?;
        }
        match self.next()? {
            Some(member) => Err(self.unsound(format!("{:?} is in no manifest", member.path))),
            None => self.end(),
        }
    }

    fn file(&mut self, file: &manifest::File, sink: &mut impl Sink) -> Result<(), Error> {
        let mut content = Summing::new((&mut self.archive).take(file.size));
        let taken = sink.take(file, &mut content);
        let sum = content.finish();
        // What could not be read is a fault of the archive's, not of the sink's.
        taken.map_err(|error| match error {
            Error::Io {
                operation: "read",
                source,
                ..
            } => Error::unsound(
                &self.path,
                format!("{:?} cannot be unpacked: {source}", file.path),
            ),
            other => other,
        })?;
        if sum != file.sha256 {
            return Err(self.unsound(format!("{:?} has another sum", file.path)));
        }
        let skipped = member::skip(&mut self.archive, member::padding(file.size));
        skipped.map_err(|trouble| self.broken(trouble))
    }

    fn end(&mut self) -> Result<(), Error> {
        let mut rest = Vec::new();
        let read = (&mut self.archive)
            .take(END_LIMIT + 1)
            .read_to_end(&mut rest);
        read.map_err(|error| self.broken(Trouble::Io(error)))?;
        let is_end = rest.len() as u64 <= END_LIMIT && rest.iter().all(|byte| *byte == 0);
        if is_end {
            Ok(())
        } else {
            Err(self.unsound("something follows its end"))
        }
    }

    fn next(&mut self) -> Result<Option<Member>, Error> {
        member::next(&mut self.archive).map_err(|trouble| self.broken(trouble))
    }

    fn broken(&self, trouble: Trouble) -> Error {
        self.unsound(match trouble {
            Trouble::Io(error) => format!("it cannot be unpacked: {error}"),
            Trouble::Problem(problem) => problem,
        })
    }

    fn unsound(&self, problem: impl Into<String>) -> Error {
        Error::unsound(&self.path, problem)
    }
}
