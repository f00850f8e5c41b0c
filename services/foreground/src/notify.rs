//! What a daemon tells its manager (sd_notify(3)); only readiness matters
//! here. Each daemon has a socket of its own, which says who is talking.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tokio::net::UnixDatagram;

/// The longest datagram; a STATUS line is a few hundred bytes.
const LONGEST: usize = 4096;

/// A daemon's NOTIFY_SOCKET; its file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct NotifySocket {
    path: PathBuf,
    socket: UnixDatagram,
}

impl NotifySocket {
    /// Binds it at `path`. The caller holds the lock, so what is there is
    /// nobody's.
    pub(crate) fn bind(path: PathBuf) -> io::Result<Self> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let socket = UnixDatagram::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        Ok(Self { path, socket })
    }

    /// What NOTIFY_SOCKET is set to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the daemon says that it can serve.
    pub(crate) async fn ready(&self) -> io::Result<()> {
        let mut datagram = [0; LONGEST];
        loop {
            let length = self.socket.recv(&mut datagram).await?;
            let text = String::from_utf8_lossy(&datagram[..length]);
            if text.lines().any(|line| line == "READY=1") {
                return Ok(());
            }
        }
    }
}

impl Drop for NotifySocket {
    fn drop(&mut self) {
        // What stays is removed by the next start.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn readiness_is_heard_among_other_news() {
        let folder = tempfile::tempdir().unwrap();
        let socket = NotifySocket::bind(folder.path().join("notify")).unwrap();
        let sender = UnixDatagram::unbound().unwrap();
        for text in ["STATUS=READY=1 soon", "WATCHDOG=1", "STATUS=up\nREADY=1\n"] {
            sender
                .send_to(text.as_bytes(), socket.path())
                .await
                .unwrap();
        }
        socket.ready().await.unwrap();
        assert!(
            socket.socket.try_recv(&mut [0; 1]).is_err(),
            "all were read"
        );
    }
}
