//! What a daemon tells its manager (sd_notify(3)), and when.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::UnixDatagram;
use tokio::time::timeout;

use crate::mark;

/// The longest datagram; a STATUS line is a few hundred bytes.
const LONGEST: usize = 4096;
/// TimeoutStartSec= of the units.
const START_DEADLINE: Duration = Duration::from_secs(20);

/// A NOTIFY_SOCKET for one daemon.
#[derive(Debug)]
pub(crate) struct Notify {
    path: PathBuf,
    socket: UnixDatagram,
}

impl Notify {
    pub(crate) fn bind(path: PathBuf) -> anyhow::Result<Self> {
        let socket = UnixDatagram::bind(&path)
            .with_context(|| format!("cannot listen at {}", path.display()))?;
        Ok(Self { path, socket })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the daemon can serve; the time since its exec.
    pub(crate) async fn ready(&self) -> anyhow::Result<Duration> {
        let ready = timeout(START_DEADLINE, self.hear_ready()).await;
        ready.context("the daemon did not become ready in time")?
    }

    async fn hear_ready(&self) -> anyhow::Result<Duration> {
        let mut executed = None;
        loop {
            let mut datagram = [0; LONGEST];
            let length = self.socket.recv(&mut datagram).await?;
            let now = mark::now();
            let text = String::from_utf8_lossy(&datagram[..length]);
            if let Some(time) = text.strip_prefix(mark::EXEC) {
                executed = Some(time.parse::<u128>().context("the mark is not a number")?);
            } else if text.lines().any(|line| line == "READY=1") {
                let since = now.saturating_sub(executed.context("READY came without a mark")?);
                return Ok(Duration::from_nanos(u64::try_from(since)?));
            }
        }
    }
}

impl Drop for Notify {
    fn drop(&mut self) {
        // The stage goes with everything in it anyway.
        let _ = std::fs::remove_file(&self.path);
    }
}
