//! The end of a file of lines that one process appends to and another reads.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// Ends what is left of a line, so that nobody reads it as one.
const TORN: &[u8] = b"!\n";

/// Appends a line, which has its end. What a full disk or a crash left of the one
/// before it takes it along no more. `file` is open for reading and appending.
///
/// # Errors
/// The file cannot be read or written.
pub(crate) fn append(file: &mut File, line: &[u8]) -> io::Result<()> {
    // One write: whoever reads meanwhile sees all of it or a torn line.
    match is_torn(file)? {
        true => file.write_all(&[TORN, line].concat()),
        false => file.write_all(line),
    }
}

fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// The lines that have their end.
pub(crate) fn whole(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    &bytes[..end.map_or(0, |end| end + 1)]
}
