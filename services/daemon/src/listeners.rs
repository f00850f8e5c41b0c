//! Inherited sockets, by name (sd_listen_fds_with_names(3)).

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use listenfd::ListenFd;

/// Why there are no usable sockets.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing was passed.
    #[error(
        "no socket was passed: this daemon is started by systemd (systemctl --user start \
         openclaw.target) or by openclawctl run"
    )]
    None,
    /// A socket is not what it must be.
    #[error("the passed socket {name:?} is not a listening Unix or TCP stream socket")]
    Kind {
        /// Its FileDescriptorName.
        name: String,
        /// What the kernel says of it.
        #[source]
        source: io::Error,
    },
    /// A socket that must be there is not.
    #[error("no socket named {wanted:?} was passed, only {passed:?}: check FileDescriptorName=")]
    Missing {
        /// The name looked for.
        wanted: String,
        /// The names that were passed.
        passed: Vec<String>,
    },
}

/// The sockets this process was started with.
#[derive(Debug, Default)]
pub struct Listeners {
    unix: BTreeMap<String, UnixListener>,
    /// A socket unit may listen at several addresses under one name.
    tcp: BTreeMap<String, Vec<TcpListener>>,
}

impl Listeners {
    /// Takes over the sockets passed by the service manager.
    pub fn inherit() -> Result<Self, Error> {
        let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut passed = ListenFd::from_env();
        if passed.len() == 0 {
            return Err(Error::None);
        }
        let mut names = names.split(':');
        let mut listeners = Self::default();
        for index in 0..passed.len() {
            // "unknown" is what sd_listen_fds_with_names(3) says for no name.
            let name = names.next().unwrap_or("unknown").to_owned();
            listeners.adopt(name, index, &mut passed)?;
        }
        Ok(listeners)
    }

    fn adopt(&mut self, name: String, index: usize, passed: &mut ListenFd) -> Result<(), Error> {
        // A refused socket stays in its place and can be tried as the other kind.
        let refused = match passed.take_unix_listener(index) {
            Ok(Some(listener)) => {
                self.unix.insert(name, listener);
                return Ok(());
            }
            Ok(None) => return Ok(()),
            Err(source) => source,
        };
        match passed.take_tcp_listener(index) {
            Ok(Some(listener)) => {
                self.tcp.entry(name).or_default().push(listener);
                Ok(())
            }
            Ok(None) | Err(_) => Err(Error::Kind {
                name,
                source: refused,
            }),
        }
    }

    /// The Unix listener named `name`.
    pub fn take(&mut self, name: &str) -> Result<UnixListener, Error> {
        self.unix.remove(name).ok_or_else(|| Error::Missing {
            wanted: name.to_owned(),
            passed: self.unix.keys().cloned().collect(),
        })
    }

    /// The Unix listener named `name`, where the service manager's units have it already.
    pub(crate) fn take_present(&mut self, name: &str) -> Option<UnixListener> {
        self.unix.remove(name)
    }

    /// The TCP listeners named `name`; none when there is no such door.
    pub fn take_tcp(&mut self, name: &str) -> Vec<TcpListener> {
        self.tcp.remove(name).unwrap_or_default()
    }

    /// Closes the connections that wait: a daemon that cannot serve tells them
    /// so at once, and is not started again for them.
    pub fn turn_away(&self) {
        for listener in self.unix.values() {
            if listener.set_nonblocking(true).is_ok() {
                while listener.accept().is_ok() {}
            }
        }
        for listener in self.tcp.values().flatten() {
            if listener.set_nonblocking(true).is_ok() {
                while listener.accept().is_ok() {}
            }
        }
    }
}

impl<N: Into<String>> FromIterator<(N, UnixListener)> for Listeners {
    fn from_iter<I: IntoIterator<Item = (N, UnixListener)>>(listeners: I) -> Self {
        Self {
            unix: listeners
                .into_iter()
                .map(|(name, listener)| (name.into(), listener))
                .collect(),
            tcp: BTreeMap::new(),
        }
    }
}
