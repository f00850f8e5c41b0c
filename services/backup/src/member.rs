//! Members of the archive, as tar has them.

use std::io::{self, Read};

use tar::{EntryType, Header};

use crate::manifest::PATH_LIMIT;

/// Bytes of a block: members begin with one, and fill whole ones.
const BLOCK: u64 = 512;

/// The head of a member that belongs to nobody.
pub(crate) fn header(mode: u32, modified: u64, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_mode(mode);
    header.set_mtime(modified);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Bytes after `size` of them to the next block.
pub(crate) fn padding(size: u64) -> u64 {
    (BLOCK - size % BLOCK) % BLOCK
}

/// A member whose content comes next.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) path: String,
    pub(crate) size: u64,
}

/// What a reader of members stumbles over.
pub(crate) enum Trouble {
    /// The archive cannot be read.
    Io(io::Error),
    /// It is not one of ours.
    Problem(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The next member's head; None at the end of the archive. Regular files alone,
/// with names of a length that Linux has: nothing is taken from the archive that
/// has no bound.
pub(crate) fn next(archive: &mut impl Read) -> Result<Option<Member>, Trouble> {
    let Some(header) = block(archive)? else {
        return Ok(None);
    };
    if header.entry_type() != EntryType::GNULongName {
        return named(&header, &header.path_bytes()).map(Some);
    }
    let length = size(&header)?;
    if length > PATH_LIMIT as u64 {
        return Err(Trouble::Problem("a name in it is too long".to_owned()));
    }
    let mut name = Vec::new();
    archive.take(length).read_to_end(&mut name)?;
    skip(archive, padding(length))?;
    let path = name.strip_suffix(&[0]).unwrap_or(&name);
    match block(archive)? {
        Some(header) => named(&header, path).map(Some),
        None => Err(Trouble::Problem("it ends in the middle".to_owned())),
    }
}

fn named(header: &Header, path: &[u8]) -> Result<Member, Trouble> {
    let shown = String::from_utf8_lossy(path);
    match header.entry_type() {
        EntryType::Regular => {}
        EntryType::Symlink | EntryType::Link => {
            return Err(Trouble::Problem(format!("{shown:?} is a link")));
        }
        EntryType::Char | EntryType::Block | EntryType::Fifo => {
            return Err(Trouble::Problem(format!("{shown:?} is a device")));
        }
        _ => return Err(Trouble::Problem(format!("{shown:?} is no file"))),
    }
    let path = std::str::from_utf8(path);
    let path = path.map_err(|_| Trouble::Problem(format!("{shown:?} is no name")))?;
    Ok(Member {
        path: path.to_owned(),
        size: size(header)?,
    })
}

fn size(header: &Header) -> Result<u64, Trouble> {
    let size = header.entry_size();
    size.map_err(|_| Trouble::Problem("a size in it is none".to_owned()))
}

/// The next head; None at the end, which is blocks of zeros.
fn block(archive: &mut impl Read) -> Result<Option<Header>, Trouble> {
    let mut header = Header::new_old();
    archive.read_exact(header.as_mut_bytes())?;
    if header.as_bytes().iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let bytes = header.as_bytes();
    let sum = bytes[..148].iter().chain(&bytes[156..]);
    let sum = sum.map(|byte| u32::from(*byte)).sum::<u32>() + 8 * u32::from(b' ');
    if header.cksum().ok() != Some(sum) {
        return Err(Trouble::Problem("a head in it has another sum".to_owned()));
    }
    Ok(Some(header))
}

/// Passes over `count` bytes, which must be there.
pub(crate) fn skip(archive: &mut impl Read, count: u64) -> Result<(), Trouble> {
    let skipped = io::copy(&mut archive.take(count), &mut io::sink())?;
    if skipped < count {
        return Err(Trouble::Problem("it ends in the middle".to_owned()));
    }
    Ok(())
}
