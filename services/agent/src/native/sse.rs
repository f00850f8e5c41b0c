//! An incremental parser of server-sent events (WHATWG HTML, 9.2.6). Not `eventsource-stream`: that reads a line again
//! with each piece (4 MiB in pieces of 256 bytes take two minutes), and holds back all that follows a byte that is no UTF-8.

/// Bytes of one line and of one event's data. The largest real events are
/// tool arguments sent in one piece.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// Takes the stream in pieces cut anywhere and gives back the data of events.
/// Event names are not kept: both protocols repeat them inside the data.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    data: Option<String>,
    /// The last byte was a CR; an LF now belongs to it.
    after_cr: bool,
    /// The byte-order mark is only one at the very beginning.
    begun: bool,
}

/// An event or line is longer than [`MAX_EVENT_BYTES`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {MAX_EVENT_BYTES} bytes")]
pub(super) struct TooLong;

impl Parser {
    /// Takes the next piece; complete events are added to `events`.
    pub(super) fn push(&mut self, piece: &[u8], events: &mut Vec<String>) -> Result<(), TooLong> {
        let mut rest = piece;
        if self.after_cr && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        if !piece.is_empty() {
            self.after_cr = false;
        }
        while let Some(at) = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') {
            self.extend(&rest[..at])?;
            self.end_line(events)?;
            let crlf = rest[at] == b'\r' && rest.get(at + 1) == Some(&b'\n');
            self.after_cr = rest[at] == b'\r' && at + 1 == rest.len();
            rest = &rest[at + if crlf { 2 } else { 1 }..];
        }
        self.extend(rest)
    }

    /// The end of the stream: data that no empty line has ended. The standard
    /// drops it; some servers end that way, and the caller can tell by parsing.
    pub(super) fn finish(mut self) -> Option<String> {
        let mut events = Vec::new();
        self.end_line(&mut events).ok()?;
        events.pop().or(self.data)
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > MAX_EVENT_BYTES {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<String>) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        // Decoded per line: a character may have come in two pieces.
        let text = String::from_utf8_lossy(&line);
        let text = match text.strip_prefix('\u{FEFF}') {
            Some(text) if !self.begun => text,
            _ => &text,
        };
        self.begun = true;
        if text.is_empty() {
            events.extend(self.data.take());
            return Ok(());
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        // Comments have an empty field name.
        if field != "data" {
            return Ok(());
        }
        let value = value.strip_prefix(' ').unwrap_or(value);
        match &mut self.data {
            Some(data) if data.len() + value.len() >= MAX_EVENT_BYTES => return Err(TooLong),
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{FEFF}: hello\r\nevent: a\r\ndata: {\"t\":\"é€😀\"}\r\n\r\n\
        id: 7\ndata:one\ndata: two\ndata\n\ndata: cr\r\rretry: 5\n\ndata: [DONE]\n\n";

    fn expected() -> Vec<String> {
        ["{\"t\":\"é€😀\"}", "one\ntwo\n", "cr", "[DONE]"]
            .map(str::to_owned)
            .to_vec()
    }

    #[test]
    fn sse_every_way_to_cut_the_stream_gives_the_same_events() {
        let bytes = STREAM.as_bytes();
        for size in 1..=bytes.len() {
            let mut parser = Parser::default();
            let mut events = Vec::new();
            for piece in bytes.chunks(size) {
                parser.push(piece, &mut events).unwrap();
            }
            assert_eq!(events, expected(), "pieces of {size}");
            assert_eq!(parser.finish(), None);
        }
    }

    #[test]
    fn event_without_its_empty_line_is_there_at_the_end() {
        for ending in ["", "\n", "\r\n"] {
            let mut parser = Parser::default();
            let mut events = Vec::new();
            let stream = format!("data: x{ending}");
            parser.push(stream.as_bytes(), &mut events).unwrap();
            assert!(events.is_empty());
            assert_eq!(parser.finish().as_deref(), Some("x"));
        }
    }

    #[test]
    fn endless_line_or_event_is_refused() {
        let mut parser = Parser::default();
        let line = vec![b'x'; MAX_EVENT_BYTES + 1];
        assert_eq!(parser.push(&line, &mut Vec::new()), Err(TooLong));
        let mut parser = Parser::default();
        let line = format!("data: {}\n", "x".repeat(MAX_EVENT_BYTES / 2));
        parser.push(line.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(parser.push(line.as_bytes(), &mut Vec::new()), Err(TooLong));
    }
}
