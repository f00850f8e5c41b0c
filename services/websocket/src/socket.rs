//! A client's socket: its limits, and how it is closed.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::meter::{Allowance, Metered};
use super::outbox::Close;

/// Bytes of one frame (`policy.maxPayload`).
pub(super) const PAYLOAD_LIMIT: usize = 25 * 1024 * 1024;

/// Bytes read at once. Requests are short, and a thousand idle connections each keep such a buffer.
const READ_BUFFER: usize = 4 * 1024;

/// Bytes collected before they are written.
const WRITE_BUFFER: usize = 16 * 1024;

/// Bytes of a close frame's reason (RFC 6455, section 5.5).
const REASON_LIMIT: usize = 123;

pub(super) type Socket<S> = WebSocketStream<Metered<S>>;

/// The socket over `stream`, and what it may send before it is let in.
pub(super) async fn over<S>(stream: S) -> (Socket<S>, Allowance)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (stream, allowance) = Metered::new(stream);
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config())).await;
    (socket, allowance)
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(Some(PAYLOAD_LIMIT))
        .max_frame_size(Some(PAYLOAD_LIMIT))
}

pub(super) fn frame(close: Close) -> CloseFrame {
    let mut reason = close.reason;
    if reason.len() > REASON_LIMIT {
        let mut end = REASON_LIMIT;
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        reason.truncate(end);
    }
    CloseFrame {
        code: close.code.into(),
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_is_cut_between_characters() {
        let frame = frame(Close::new(1008, "ä".repeat(100)));
        assert_eq!(frame.reason.len(), REASON_LIMIT - 1);
        assert_eq!(u16::from(frame.code), 1008);
    }
}
