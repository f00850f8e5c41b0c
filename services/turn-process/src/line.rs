//! The line to the daemon.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use bytes::Bytes;
use futures_util::StreamExt as _;
use openclaw_handoff::order::{Hello, LINE_LIMIT, Order, Speech};
use openclaw_handoff::passed::{Passed, Reader};
use serde::de::DeserializeOwned;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio_util::codec::{FramedRead, LinesCodec};

/// A turn, and the conversation before it as the agent is to have it.
pub(crate) type OrderWithHistory = (Order, Bytes);

/// The line to the daemon: standard input, in both directions.
pub(crate) struct Line {
    reader: FramedRead<Reader, LinesCodec>,
    /// The fields that came with it.
    pub(crate) passed: Passed,
    writer: tokio::net::unix::OwnedWriteHalf,
}

impl Line {
    pub(crate) async fn open() -> io::Result<Self> {
        let descriptor: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
        let stream = std::os::unix::net::UnixStream::from(descriptor);
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        let passed = Passed::default();
        let reader = Reader::new(reader, passed.clone());
        Ok(Self {
            passed,
            reader: FramedRead::new(reader, LinesCodec::new_with_max_length(LINE_LIMIT)),
            writer,
        })
    }

    /// The next line; `None` when the daemon is gone.
    pub(crate) async fn hear<T: DeserializeOwned>(&mut self) -> anyhow::Result<Option<T>> {
        match self.reader.next().await {
            Some(line) => Ok(Some(serde_json::from_str(&line?)?)),
            None => Ok(None),
        }
    }

    /// The turn; `None` when the daemon is gone.
    pub(crate) async fn hear_order(&mut self) -> anyhow::Result<Option<OrderWithHistory>> {
        let Some(order) = self.hear::<Order>().await? else {
            return Ok(None);
        };
        if !matches!(order.speech, Speech::Socket { .. }) {
            return Ok(Some((order, Bytes::new())));
        }
        match self.reader.next().await {
            Some(history) => Ok(Some((order, history?.into()))),
            None => Ok(None),
        }
    }

    pub(crate) async fn say(&mut self, hello: &Hello) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(hello)?;
        text.push(b'\n');
        self.writer.write_all(&text).await?;
        Ok(())
    }
}
