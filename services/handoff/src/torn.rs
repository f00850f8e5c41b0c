//! The end of a file of lines that one process appends to while another reads.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Makes a line of what is there: nothing reads it as one of its own, even
/// where all but its end was written.
const MARK: &[u8] = b"#\n";

/// What has to be written before a line is appended to `file`, open for
/// reading: something where a full disk or a crash cut the last line off, so
/// that it takes no other line along. It is not cut away, because whoever
/// reads may be past it.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn mark(file: &File) -> io::Result<&'static [u8]> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else {
        return Ok(&[]);
    };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(if byte == *b"\n" { &[] } else { MARK })
}
