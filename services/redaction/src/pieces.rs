//! A file in lines, and a line that is too long to be had whole in pieces.

use std::io::{self, BufRead, Read as _};
use std::ops::Range;

use crate::line::{Matches, cover_in, found_in};
use crate::words::Words;

/// What pieces of one line share, in bytes: words are found across their border, with this much
/// white space in between.
const SHARED: usize = 1 << 20;

/// What is kept of what was looked through, in bytes: the character before tells whether a word
/// begins. None is longer.
const BEFORE: usize = 4;

/// A line with its end, or a piece of one.
#[derive(Debug)]
pub struct Piece<'a> {
    /// Where it begins in the file.
    pub offset: u64,
    /// What it says.
    pub bytes: &'a mut [u8],
    /// Where the words begin that are looked for in it: all of a line; in a piece neither what
    /// has been looked through nor what comes again.
    part: Range<usize>,
}

impl Piece<'_> {
    /// Where the words are in it.
    pub fn found<'a>(&'a self, words: &'a Words) -> Matches<'a> {
        found_in(self.bytes, self.part.clone(), words)
    }

    /// Puts stars in the place of the words; how often they were there, and where it has come to.
    pub fn cover(&mut self, words: &Words) -> (usize, usize) {
        cover_in(self.bytes, self.part.clone(), words)
    }

    /// What is looked through when it has come to `end`.
    pub fn through(&self, end: usize) -> &[u8] {
        &self.bytes[self.part.start..end]
    }
}

/// Gives each line of at most `longest` bytes, more than a megabyte, to `each`, and longer ones in
/// pieces. It says where it has come to.
///
/// # Errors
/// Of reading, and those of `each`.
pub fn pieces(
    mut source: impl BufRead,
    longest: usize,
    mut each: impl FnMut(&mut Piece<'_>) -> io::Result<usize>,
) -> io::Result<()> {
    let (mut offset, mut from, mut bytes) = (0, 0, Vec::new());
    loop {
        let limit = (longest - bytes.len()) as u64;
        let length = source.by_ref().take(limit).read_until(b'\n', &mut bytes)? as u64;
        if bytes.is_empty() {
            return Ok(());
        }
        let is_end = length < limit || bytes.last() == Some(&b'\n');
        let to = if is_end {
            bytes.len()
        } else {
            bytes.len() - SHARED
        };
        let end = each(&mut Piece {
            offset,
            bytes: &mut bytes,
            part: from..to,
        })?;
        let gone = if is_end { bytes.len() } else { end - BEFORE };
        from = if is_end { 0 } else { BEFORE };
        offset += gone as u64;
        bytes.drain(..gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 2 * SHARED;

    /// What `pieces` makes of `text` when each goes on behind its part.
    fn parts(text: &[u8]) -> Vec<(u64, usize, Range<usize>)> {
        let mut all = Vec::new();
        pieces(text, LONGEST, |piece| {
            all.push((piece.offset, piece.bytes.len(), piece.part.clone()));
            Ok(piece.part.end)
        })
        .unwrap();
        all
    }

    #[test]
    fn pieces_are_lines() {
        assert_eq!(parts(b""), []);
        assert_eq!(parts(b"one\ntwo"), [(0, 4, 0..4), (4, 3, 0..3)]);
        let mut longest = vec![b'x'; LONGEST - 1];
        longest.extend_from_slice(b"\ntwo\n");
        let end = LONGEST as u64;
        assert_eq!(parts(&longest), [(0, LONGEST, 0..LONGEST), (end, 4, 0..4)]);
    }

    #[test]
    fn pieces_of_a_line_cover_it_without_a_gap() {
        let mut text = vec![b'x'; 3 * LONGEST];
        text.extend_from_slice(b"\ntwo\n");
        let parts = parts(&text);
        let mut looked_through = 0;
        for (offset, length, part) in &parts {
            assert!(*length <= LONGEST);
            assert_eq!(offset + part.start as u64, looked_through);
            looked_through = offset + part.end as u64;
        }
        assert_eq!((looked_through, parts.len()), (text.len() as u64, 7));
    }
}
