//! The journal's bytes: a head of [`HEAD`] bytes with a line that names boot and
//! generation, then records. A record is the length of its body (u32), a CRC-32
//! of generation and body (u32), and the body: for each extent the lengths of
//! path (u16) and bytes (u32), the offset (u64), path and bytes. Little-endian.
//!
//! After the last record there may be those of an earlier generation, whose sums are wrong now.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::error::Error;

/// What the file begins with; the number is the version.
const MAGIC: &str = "openclaw transcripts 2 ";

/// Bytes of the head: what a disk writes whole or not at all.
pub(super) const HEAD: usize = 512;

/// Bytes of a record before its body.
pub(super) const PREFIX: usize = 8;

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
    pub(super) generation: u64,
    /// In the order in which they were written.
    pub(super) extents: Vec<Extent>,
    /// Where the last record ends; 0 when there is none.
    pub(super) end: u64,
}

impl Written {
    /// None: there is no file, or it is none of ours.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let bytes = disk::if_there(read_file(path)).map_err(Error::io("read", path))?;
        Ok(bytes.and_then(|bytes| Self::parse(&bytes)))
    }

    /// Everything up to the first record that is not whole: what comes then was never acknowledged.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, mut rest) = bytes.split_at_checked(HEAD)?;
        let (boot_id, generation) = parse_head(head)?;
        let mut written = Self {
            boot_id,
            generation,
            ..Self::default()
        };
        while let Some(extents) = record(&mut rest, generation) {
            written.extents.extend(extents);
        }
        if !written.extents.is_empty() {
            written.end = (bytes.len() - rest.len()) as u64;
        }
        Some(written)
    }
}

/// The beginning of a journal.
pub(super) fn begin(out: &mut Vec<u8>, boot_id: &str, generation: u64) {
    let line = format!("{MAGIC}{boot_id} {generation} ");
    let sum = crc32fast::hash(line.as_bytes());
    out.extend_from_slice(format!("{line}{sum:08x}\n").as_bytes());
    out.resize(HEAD, 0);
}

/// Appends one record.
pub(super) fn append(out: &mut Vec<u8>, generation: u64, extents: &[Extent]) {
    let at = out.len();
    out.extend_from_slice(&[0; PREFIX]);
    for extent in extents {
        let path = extent.path.as_os_str().as_bytes();
        // Paths are at most 4096 bytes, and batches are limited.
        out.extend_from_slice(&(path.len() as u16).to_le_bytes());
        out.extend_from_slice(&(extent.bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(&extent.offset.to_le_bytes());
        out.extend_from_slice(path);
        out.extend_from_slice(&extent.bytes);
    }
    let body = &out[at + PREFIX..];
    let (length, sum) = (body.len() as u32, sum(generation, body));
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    out[at + 4..at + PREFIX].copy_from_slice(&sum.to_le_bytes());
}

/// What is no journal is not read further than its head.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    (&mut file).take(HEAD as u64).read_to_end(&mut bytes)?;
    if parse_head(&bytes).is_some() {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn parse_head(head: &[u8]) -> Option<(String, u64)> {
    let end = head.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&head[..end]).ok()?;
    let (front, sum) = line.split_at_checked(line.rfind(' ')? + 1)?;
    if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(front.as_bytes()) {
        return None;
    }
    let (boot_id, generation) = front.strip_prefix(MAGIC)?.trim_end().rsplit_once(' ')?;
    Some((boot_id.to_owned(), generation.parse().ok()?))
}

fn sum(generation: u64, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&generation.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}

fn record(rest: &mut &[u8], generation: u64) -> Option<Vec<Extent>> {
    let mut ahead = *rest;
    let length = u32::from_le_bytes(fixed(&mut ahead)?) as usize;
    let expected = u32::from_le_bytes(fixed(&mut ahead)?);
    let mut body = taken(&mut ahead, length)?;
    if body.is_empty() || sum(generation, body) != expected {
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
