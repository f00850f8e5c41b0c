//! The journal's bytes: a line that names the boot, then records. A record is
//! the length of its body (u32), the body's CRC-32 (u32), and the body: for each
//! extent the lengths of path (u16) and bytes (u32), the offset (u64), path and
//! bytes. Little-endian.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// What the file begins with; the number is the version.
const MAGIC: &str = "openclaw transcripts 1 ";

/// Bytes that belong into a transcript at an offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    pub(super) bytes: Vec<u8>,
}

impl Extent {
    pub(super) fn new(path: &Path, offset: u64, bytes: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            offset,
            bytes,
        }
    }
}

/// What a journal holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) boot_id: String,
    /// In the order in which they were written.
    pub(super) extents: Vec<Extent>,
    /// The file's length.
    pub(super) length: u64,
}

impl Written {
    /// None: there is no file, or nothing in it.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Error> {
        match fs::read(path) {
            Ok(bytes) if bytes.is_empty() => Ok(None),
            Ok(bytes) => Ok(Some(Self::parse(&bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    /// Everything up to the first record that is not whole: what comes then
    /// was never acknowledged.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut written = Self {
            length: bytes.len() as u64,
            ..Self::default()
        };
        let Some((boot_id, mut rest)) = head(bytes) else {
            return written;
        };
        written.boot_id = boot_id;
        while let Some(extents) = record(&mut rest) {
            written.extents.extend(extents);
        }
        written
    }
}

/// The beginning of a journal.
pub(super) fn begin(out: &mut Vec<u8>, boot_id: &str) {
    out.extend_from_slice(MAGIC.as_bytes());
    out.extend_from_slice(boot_id.as_bytes());
    out.push(b'\n');
}

/// Appends one record.
pub(super) fn append(out: &mut Vec<u8>, extents: &[Extent]) {
    let at = out.len();
    out.extend_from_slice(&[0; 8]);
    for extent in extents {
        let path = extent.path.as_os_str().as_bytes();
        // Paths are at most 4096 bytes, and batches are limited.
        out.extend_from_slice(&(path.len() as u16).to_le_bytes());
        out.extend_from_slice(&(extent.bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(&extent.offset.to_le_bytes());
        out.extend_from_slice(path);
        out.extend_from_slice(&extent.bytes);
    }
    let body = &out[at + 8..];
    let (length, sum) = (body.len() as u32, crc32fast::hash(body));
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    out[at + 4..at + 8].copy_from_slice(&sum.to_le_bytes());
}

fn head(bytes: &[u8]) -> Option<(String, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC.as_bytes())?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let boot_id = std::str::from_utf8(&rest[..end]).ok()?;
    Some((boot_id.to_owned(), &rest[end + 1..]))
}

fn record(rest: &mut &[u8]) -> Option<Vec<Extent>> {
    let mut ahead = *rest;
    let length = u32::from_le_bytes(fixed(&mut ahead)?) as usize;
    let sum = u32::from_le_bytes(fixed(&mut ahead)?);
    let mut body = taken(&mut ahead, length)?;
    if crc32fast::hash(body) != sum {
        return None;
    }
    let mut extents = Vec::new();
    while !body.is_empty() {
        extents.push(extent(&mut body)?);
    }
    *rest = ahead;
    Some(extents)
}

fn extent(body: &mut &[u8]) -> Option<Extent> {
    let path = usize::from(u16::from_le_bytes(fixed(body)?));
    let length = u32::from_le_bytes(fixed(body)?) as usize;
    let offset = u64::from_le_bytes(fixed(body)?);
    let path = std::ffi::OsStr::from_bytes(taken(body, path)?);
    Some(Extent::new(
        Path::new(path),
        offset,
        taken(body, length)?.to_vec(),
    ))
}

fn fixed<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    taken(bytes, N)?.try_into().ok()
}

fn taken<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}
