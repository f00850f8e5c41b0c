//! Inherited sockets, by name (sd_listen_fds_with_names(3)).

use std::collections::BTreeMap;
use std::env;
use std::io;
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
    #[error("the passed socket {name:?} is not a listening Unix stream socket")]
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
pub struct Listeners(BTreeMap<String, UnixListener>);

impl Listeners {
    /// Takes over the sockets passed by the service manager.
    pub fn inherit() -> Result<Self, Error> {
        let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut passed = ListenFd::from_env();
        if passed.len() == 0 {
            return Err(Error::None);
        }
        let mut names = names.split(':');
        let mut listeners = BTreeMap::new();
        for index in 0..passed.len() {
            // "unknown" is what sd_listen_fds_with_names(3) says for no name.
            let name = names.next().unwrap_or("unknown").to_owned();
            match passed.take_unix_listener(index) {
                Ok(Some(listener)) => listeners.insert(name, listener),
                Ok(None) => continue,
                Err(source) => return Err(Error::Kind { name, source }),
            };
        }
        Ok(Self(listeners))
    }

    /// The listener named `name`.
    pub fn take(&mut self, name: &str) -> Result<UnixListener, Error> {
        self.0.remove(name).ok_or_else(|| Error::Missing {
            wanted: name.to_owned(),
            passed: self.0.keys().cloned().collect(),
        })
    }
}

impl<N: Into<String>> FromIterator<(N, UnixListener)> for Listeners {
    fn from_iter<I: IntoIterator<Item = (N, UnixListener)>>(listeners: I) -> Self {
        Self(
            listeners
                .into_iter()
                .map(|(name, listener)| (name.into(), listener))
                .collect(),
        )
    }
}
