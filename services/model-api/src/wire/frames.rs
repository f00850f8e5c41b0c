//! Messages of Amazon's event streams (application/vnd.amazon.eventstream):
//! two lengths and a checksum of them, headers, the payload, a checksum. In
//! the payload an event of the Messages API is a string of base64.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

/// Bytes of the lengths and their checksum.
const PRELUDE: usize = 12;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 4;
/// Bytes of one message, as Amazon bounds it, with room. What claims to be
/// longer is no such stream.
const LIMIT: usize = 32 * 1024 * 1024;

/// The payload of a message.
#[derive(Debug, Deserialize)]
struct Payload {
    bytes: String,
}

/// Finds the events in a stream that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Frames {
    waiting: Vec<u8>,
    is_broken: bool,
}

impl Frames {
    /// Takes the next piece; `told` gets every event that ends in it. What comes
    /// back is the number of bytes that are no such stream, and not read.
    pub(super) fn feed(&mut self, piece: &[u8], mut told: impl FnMut(&[u8])) -> usize {
        if self.is_broken {
            return piece.len();
        }
        self.waiting.extend_from_slice(piece);
        let mut at = 0;
        while let Some((payload, length)) = self.next(at) {
            if let Ok(payload) = serde_json::from_slice::<Payload>(&self.waiting[payload])
                && let Ok(event) = BASE64_STANDARD.decode(payload.bytes)
            {
                told(&event);
            }
            at += length;
        }
        self.waiting.drain(..at);
        if !self.is_broken {
            return 0;
        }
        std::mem::take(&mut self.waiting).len()
    }

    /// Where the payload is of the message that begins at `at`, and the
    /// message's length; `None`: it is not whole, or none.
    fn next(&mut self, at: usize) -> Option<(std::ops::Range<usize>, usize)> {
        let message = &self.waiting[at..];
        let number = |at: usize| -> Option<usize> {
            let bytes: [u8; 4] = message.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(bytes)).ok()
        };
        let (length, headers) = (number(0)?, number(4)?);
        let least = headers.saturating_add(PRELUDE + CHECKSUM);
        if length > LIMIT || length < least {
            self.is_broken = true;
            return None;
        }
        let payload = at + PRELUDE + headers..at + length - CHECKSUM;
        (message.len() >= length).then_some((payload, length))
    }
}
