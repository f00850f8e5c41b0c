//! A window of lines out of a file of any size, in bounded memory.

use std::io::{self, BufRead};

/// What a window holds and what lies behind it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// The lines, ends included, as they are in the file.
    pub(super) text: Vec<u8>,
    /// Complete or cut lines in `text`.
    pub(super) lines: u64,
    /// Bytes of the last line that did not fit.
    pub(super) cut_bytes: u64,
    /// Lines behind the window.
    pub(super) lines_after: u64,
    /// Lines of the file in front of the window.
    pub(super) lines_before: u64,
    /// Counting stopped at the scan limit: there are more than `lines_after`.
    pub(super) uncounted: bool,
}

/// The limits of a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Lines to skip.
    pub(super) skip: u64,
    /// Lines to take.
    pub(super) lines: u64,
    /// Bytes to take; a line that begins below may be cut at it.
    pub(super) bytes: usize,
    /// Bytes to read in all before giving up counting.
    pub(super) scan: u64,
}

/// Reads the window of `limits` from `input`.
pub(super) fn read(input: &mut impl BufRead, limits: Limits) -> io::Result<Window> {
    let mut window = Window::default();
    let mut scanned: u64 = 0;
    let mut line_open = false;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok(window);
        }
        if scanned >= limits.scan {
            window.uncounted = true;
            return Ok(window);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let piece = end.map_or(buffer.len(), |at| at + 1);
        window.take(&buffer[..piece], !line_open, limits);
        line_open = end.is_none();
        scanned += piece as u64;
        input.consume(piece);
    }
}

impl Window {
    /// Accounts for the next piece of a line; `begins` when it is the line's first.
    fn take(&mut self, piece: &[u8], begins: bool, limits: Limits) {
        let full = self.text.len() >= limits.bytes;
        if begins {
            if self.lines_before < limits.skip {
                self.lines_before += 1;
                return;
            }
            if self.lines_after > 0 || self.lines == limits.lines || full {
                self.lines_after += 1;
                return;
            }
            self.lines += 1;
        } else if self.lines == 0 || self.lines_after > 0 {
            return;
        }
        let room = limits.bytes - self.text.len();
        let kept = piece.len().min(room);
        self.text.extend_from_slice(&piece[..kept]);
        self.cut_bytes += (piece.len() - kept) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Limits = Limits {
        skip: 0,
        lines: 100,
        bytes: 1000,
        scan: 10_000,
    };

    /// A three-byte buffer, so that every line arrives in pieces.
    fn window(text: &str, limits: Limits) -> Window {
        let mut input = io::BufReader::with_capacity(3, text.as_bytes());
        read(&mut input, limits).unwrap()
    }

    #[test]
    fn everything_fits() {
        let window = window("one\ntwo\r\nthree", WIDE);
        assert_eq!(window.text, b"one\ntwo\r\nthree");
        assert_eq!(
            (window.lines, window.lines_after, window.cut_bytes),
            (3, 0, 0)
        );
    }

    #[test]
    fn window_in_the_middle_counts_what_lies_around_it() {
        let limits = Limits {
            skip: 1,
            lines: 2,
            ..WIDE
        };
        let window = window("aaaa\nbbbb\ncccc\ndddd\neeee", limits);
        assert_eq!(window.text, b"bbbb\ncccc\n");
        assert_eq!(
            (window.lines_before, window.lines, window.lines_after),
            (1, 2, 2)
        );
    }

    #[test]
    fn byte_limit_cuts_a_line_and_leaves_the_rest_for_later() {
        let limits = Limits { bytes: 6, ..WIDE };
        let window = window("abcd\nefgh\nij\n", limits);
        assert_eq!(window.text, b"abcd\ne");
        assert_eq!(
            (window.lines, window.cut_bytes, window.lines_after),
            (2, 4, 1)
        );
    }

    #[test]
    fn window_behind_the_end_is_empty_and_knows_the_length() {
        let window = window("a\nb\n", Limits { skip: 9, ..WIDE });
        assert_eq!((window.lines, window.lines_before), (0, 2));
        assert!(window.text.is_empty());
    }

    #[test]
    fn counting_stops_at_the_scan_limit() {
        let limits = Limits {
            lines: 1,
            scan: 8,
            ..WIDE
        };
        let window = window(&"ab\n".repeat(50), limits);
        assert!(window.uncounted);
        assert_eq!(window.text, b"ab\n");
    }
}
