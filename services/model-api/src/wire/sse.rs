//! Lines of a stream of events (text/event-stream).

/// Bytes of one line: the last event of the responses API tells the whole
/// answer again. A longer one is not read.
const LINE_LIMIT: usize = 16 * 1024 * 1024;
/// What a line with data begins with.
const DATA: &[u8] = b"data:";

/// Finds the data in a stream that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    /// Takes the next piece; `told` gets the data of every line that ends in
    /// it. What comes back is the number of bytes that are not read: those of
    /// lines that are too long.
    pub(super) fn feed(&mut self, piece: &[u8], mut told: impl FnMut(&[u8])) -> usize {
        let mut unread = 0;
        for part in piece.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, ends) = match part.split_last() {
                Some((b'\n' | b'\r', text)) => (text, true),
                _ => (part, false),
            };
            self.is_too_long |= self.line.len() + text.len() > LINE_LIMIT;
            if self.is_too_long {
                unread += std::mem::take(&mut self.line).len() + text.len();
            } else {
                self.line.extend_from_slice(text);
            }
            if ends {
                self.end(&mut told);
            }
        }
        unread
    }

    /// The stream is over, and its last line too.
    pub(super) fn end(&mut self, mut told: impl FnMut(&[u8])) {
        if let Some(data) = self.line.strip_prefix(DATA) {
            told(data.trim_ascii_start());
        }
        self.line.clear();
        self.is_too_long = false;
    }
}
