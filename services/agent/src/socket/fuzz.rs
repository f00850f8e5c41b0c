//! What the runner may answer over the turn socket.

use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use super::*;
use crate::fuzz::runtime;

/// For one conversation with a runner that has said everything.
const PATIENCE: Duration = Duration::from_secs(8);

/// Bytes of a frame's head (RFC 9113, 4.1).
const FRAME: usize = 9;

/// Any bytes of the runner's side. Each question comes to an end, and has no
/// answer where there are not as many frames.
pub fn socket_answers(bytes: &[u8]) {
    let given = bytes.len() / FRAME;
    let answered = runtime().block_on(async {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let io = TokioIo::new(ours);
        let (sender, connection) = handshake(TokioExecutor::new(), io)
            .await
            .expect("a connection");
        tokio::spawn(connection);
        let socket = TurnSocket { sender };
        let talk = async {
            let mut answered = 0;
            answered += usize::from(socket.turn().await.is_ok());
            answered += usize::from(socket.news().await.is_ok());
            answered += usize::from(socket.tool("status", &json!({})).await.is_ok());
            answered
        };
        let say = async {
            // A question comes before its answer.
            theirs.readable().await.expect("a question");
            // The client may have heard enough.
            let _ = theirs.write_all(bytes).await;
            let _ = theirs.shutdown().await;
        };
        let both = async { tokio::join!(say, talk).1 };
        timeout(PATIENCE, both)
            .await
            .expect("every question comes to an end")
    });
    assert!(answered <= given, "{answered} of {given}");
}
