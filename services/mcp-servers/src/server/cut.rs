//! What a server says, with long texts in it cut while they are read: a line of
//! any length becomes one that can be held, and is still the same JSON.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use openclaw_turn::{MOST_VALUES, begins_value};
use tokio::io::{AsyncRead, ReadBuf};

/// What the limits are counted in. Tests go to them many times.
const UNIT: usize = if cfg!(test) { 1024 } else { 1024 * 1024 };

/// Bytes of one text of a message, as JSON has it: more than any that is passed
/// on. How much a longer one had besides is told in it.
const TEXT_BYTES: usize = 12 * UNIT;

/// Bytes of one message after that. One that is longer ends its server: what it
/// was the answer to would be waited for in vain.
pub(super) const LINE_BYTES: usize = 32 * UNIT;

/// Signs of one message outside its texts that begin or part values. One with more ends its server
/// likewise.
const SIGNS: usize = if cfg!(test) { 12 * UNIT } else { MOST_VALUES };

/// Lists and objects within one another. More than 127 cannot be read.
const DEPTH: usize = 100;

/// Bytes of one character at most, as JSON has it: two escapes. Before the limit
/// a text is cut where the next character begins.
const CHARACTER_BYTES: usize = 12;

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 16 * 1024;

/// The stream behind which texts are cut.
#[derive(Debug)]
pub(super) struct Cut<R> {
    stream: R,
    refused: Refused,
    state: State,
    /// What was read and is to be passed on, from this byte on.
    passed: (Vec<u8>, usize),
}

/// Why a stream was not read to its end; empty: it was.
pub(crate) type Refused = Arc<OnceLock<TooMuch>>;

/// Where in its JSON the stream is.
#[derive(Debug, Default)]
struct State {
    in_text: bool,
    character: Character,
    /// Bytes of this text so far.
    text: usize,
    /// Bytes of this line that were passed on.
    line: usize,
    /// Signs of this line outside its texts.
    signs: usize,
    depth: usize,
}

/// Why a message is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMuch {
    #[error("a message of more than {LINE_BYTES} bytes")]
    Bytes,
    #[error("a message of more than {SIGNS} values")]
    Values,
    #[error("a message with more than {DEPTH} lists and objects within one another")]
    Depth,
}

/// Where in a character of a text it is.
#[derive(Debug, Default)]
struct Character {
    is_escaped: bool,
    /// Digits of an escape that are still to come,
    digits: u8,
    /// and its value so far.
    unit: u32,
    /// Whether it was the first half of a pair.
    is_half: bool,
}

impl Character {
    /// Goes on with `byte`; whether a character begins with it.
    fn step(&mut self, byte: u8) -> bool {
        if self.is_escaped {
            self.is_escaped = false;
            if byte == b'u' {
                (self.digits, self.unit) = (4, 0);
            }
            return false;
        }
        if self.digits > 0 {
            self.digits -= 1;
            let digit = char::from(byte).to_digit(16).unwrap_or_default();
            self.unit = self.unit << 4 | digit;
            self.is_half = self.digits == 0 && (0xd800..0xdc00).contains(&self.unit);
            return false;
        }
        let goes_on = std::mem::take(&mut self.is_half) || byte & 0xc0 == 0x80;
        self.is_escaped = byte == b'\\';
        !goes_on
    }
}

impl State {
    /// What of `chunk` is passed on.
    fn pass(&mut self, chunk: &[u8]) -> Result<Vec<u8>, TooMuch> {
        let mut passed = Vec::with_capacity(chunk.len());
        for &byte in chunk {
            let before = passed.len();
            self.step(byte, &mut passed);
            self.line += passed.len() - before;
            if self.line > LINE_BYTES {
                return Err(TooMuch::Bytes);
            }
            if self.signs > SIGNS {
                return Err(TooMuch::Values);
            }
            if self.depth > DEPTH {
                return Err(TooMuch::Depth);
            }
            if byte == b'\n' {
                // A line feed is in no text of JSON: whatever was open is over.
                *self = Self::default();
            }
        }
        Ok(passed)
    }

    fn step(&mut self, byte: u8, passed: &mut Vec<u8>) {
        if !self.in_text {
            self.in_text = byte == b'"';
            self.text = 0;
            self.signs += usize::from(begins_value(byte));
            match byte {
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            passed.push(byte);
            return;
        }
        let is_inside = self.character.is_escaped || self.character.digits > 0;
        let begins = self.character.step(byte);
        if byte == b'"' && !is_inside {
            if self.text > TEXT_BYTES {
                let more = self.text - TEXT_BYTES;
                passed.extend(format!("\\n[… {more} bytes elided …]").bytes());
            }
            self.in_text = false;
            self.character = Character::default();
            passed.push(byte);
            return;
        }
        if begins && self.text < TEXT_BYTES && self.text + CHARACTER_BYTES >= TEXT_BYTES {
            self.text = TEXT_BYTES;
        }
        if self.text < TEXT_BYTES {
            passed.push(byte);
        }
        self.text += 1;
    }
}

impl<R> Cut<R> {
    pub(super) fn new(stream: R, refused: Refused) -> Self {
        Self {
            stream,
            refused,
            state: State::default(),
            passed: (Vec::new(), 0),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Cut<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.passed.1 == self.passed.0.len() {
            let mut chunk = [0; CHUNK_BYTES];
            let mut read = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut self.stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            let passed = match self.state.pass(read.filled()) {
                Ok(passed) => passed,
                Err(why) => {
                    let why = *self.refused.get_or_init(|| why);
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, why)));
                }
            };
            self.passed = (passed, 0);
        }
        let from = self.passed.1;
        let to = self.passed.0.len().min(from + buffer.remaining());
        buffer.put_slice(&self.passed.0[from..to]);
        self.passed.1 = to;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn through(said: &[u8]) -> io::Result<String> {
        let mut heard = String::new();
        let mut cut = Cut::new(said, Refused::default());
        cut.read_to_string(&mut heard).await?;
        Ok(heard)
    }

    #[tokio::test]
    async fn short_lines_stay_as_they_are() {
        let said = "{\"a\": \"\\\"x\\\\\", \"b\": 1}\nno JSON \"at all\n{\"c\": \"d\"}\n";
        assert_eq!(through(said.as_bytes()).await.unwrap(), said);
    }

    #[tokio::test]
    async fn cut_long_texts_are_cut_between_characters_and_stay_json() {
        for character in ["a", "ž", "\\n", "\\u00e9", "\\ud83d\\ude00", "😀", "\\\""] {
            for lead in 0..CHARACTER_BYTES {
                let long = "x".repeat(lead) + &character.repeat(2 + TEXT_BYTES / character.len());
                let said = format!("{{\"id\":7,\"text\":\"{long}\",\"last\":\"end\"}}\n");
                let heard = through(said.as_bytes()).await.unwrap();
                let heard: serde_json::Value = serde_json::from_str(&heard).unwrap();
                assert_eq!((&heard["id"], &heard["last"]), (&7.into(), &"end".into()));
                let text = heard["text"].as_str().unwrap();
                assert!(text.ends_with(" bytes elided …]"), "{character}");
            }
        }
    }

    #[tokio::test]
    async fn line_of_many_texts_is_refused_when_it_is_too_long() {
        let text = format!("\"{}\",", "x".repeat(TEXT_BYTES - CHARACTER_BYTES));
        let line = format!("[{}1]\n", text.repeat(3));
        assert!(through(line.as_bytes()).await.is_err());
        assert!(
            through(format!("[{text}1]\n").repeat(4).as_bytes())
                .await
                .is_ok()
        );
    }

    #[tokio::test]
    async fn message_of_more_values_than_can_be_held_is_refused_with_the_reason() {
        let deep = |depth: usize| "[".repeat(depth) + "7" + &"]".repeat(depth) + "\n";
        let wide = |count: usize| format!("[{}0]\n", "0,".repeat(count));
        let objects = |count: usize| format!("[{}{{}}]\n", "{\"a\":[]},".repeat(count));
        let signs_in_text = format!("{{\"a\":\"{}\"}}\n", "[{,:".repeat(SIGNS / 2));
        for (said, why) in [
            (deep(DEPTH), None),
            (deep(DEPTH + 1), Some(TooMuch::Depth)),
            // What is closed again is not within another.
            ("[{}],".repeat(2 * DEPTH) + "\n", None),
            (wide(SIGNS - 1), None),
            (wide(SIGNS), Some(TooMuch::Values)),
            (objects(SIGNS / 4 + 1), Some(TooMuch::Values)),
            (signs_in_text, None),
            // Each message has its own count.
            (wide(SIGNS - 1).repeat(2), None),
        ] {
            let refused = Refused::default();
            let mut heard = String::new();
            let mut cut = Cut::new(said.as_bytes(), Arc::clone(&refused));
            let read = cut.read_to_string(&mut heard).await;
            assert_eq!(
                (refused.get(), read.is_err()),
                (why.as_ref(), why.is_some()),
                "{why:?}"
            );
        }
    }
}
