//! Proxies from when their listeners are bound to when they are closed.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use openclaw_handoff::order::ProcessSpec;
use openclaw_handoff::proxies::{MODEL_URL, Proxies, Reach};
use openclaw_sandbox::{Level, Network, Plan, doors};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::egress::Egress;
use crate::model::{ModelAccess, ModelProxy};

/// Variables that programs find a proxy in.
const PROXY: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
/// What is not asked for through it.
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
const LOOPBACK: &str = "127.0.0.1,localhost";
/// Without it Node (from 22.21 on) does not look at the others.
const NODE_PROXY: &str = "NODE_USE_ENV_PROXY";

/// Proxies that are there, or that the helper is about to hand over.
#[derive(Debug)]
pub struct Bound {
    token: String,
    wanted: Proxies,
    listeners: Listeners,
}

#[derive(Debug)]
enum Listeners {
    Ours(Vec<TcpListener>),
    Handed {
        ours: OwnedFd,
        /// Until the helper was started.
        theirs: Option<OwnedFd>,
    },
}

/// Proxies that are served. They close with this value.
#[derive(Debug)]
pub struct Serving {
    access: watch::Sender<Option<Arc<ModelAccess>>>,
    _server: AbortOnDropHandle<()>,
}

impl Serving {
    /// Serves them from now on, once the helper was started.
    pub fn serve(mut bound: Bound) -> Self {
        // What is started next is not to inherit it.
        if let Listeners::Handed { theirs, .. } = &mut bound.listeners {
            *theirs = None;
        }
        let (access, given) = watch::channel(None);
        let token = bound.token.clone();
        let server = tokio::spawn(async move {
            match bound.served().await {
                Ok(served) => serve(served, &token, given).await,
                // What the helper says on its standard error ends the turn.
                Err(error) => tracing::debug!(%error, "no listeners were handed over"),
            }
        });
        Self {
            access,
            _server: AbortOnDropHandle::new(server),
        }
    }

    /// Says what is behind the model's.
    pub fn give(&self, access: ModelAccess) {
        self.access.send_replace(Some(Arc::new(access)));
    }
}

async fn serve(served: Served, token: &str, access: watch::Receiver<Option<Arc<ModelAccess>>>) {
    let model = async {
        if let Some(listener) = served.model {
            let proxy = ModelProxy::new(token.to_owned(), access);
            proxy.serve(listener).await;
        }
    };
    let egress = async {
        if let Some((listener, reach)) = served.egress {
            Egress::new(reach, token).serve(listener).await;
        }
    };
    tokio::join!(model, egress);
}

/// What is to be served.
#[derive(Debug, Default)]
struct Served {
    model: Option<tokio::net::TcpListener>,
    egress: Option<(tokio::net::TcpListener, Reach)>,
}

impl Bound {
    /// Opens the proxies of a turn that is about to be started, and completes
    /// its plan, its variables and its arguments. `None`: it has none.
    pub fn new(spec: &mut ProcessSpec) -> io::Result<Option<Self>> {
        let bound = Self::of(&spec.proxies, &mut spec.plan, &mut spec.variables)?;
        let Some((bound, url)) = bound else {
            return Ok(None);
        };
        if let Some(url) = url {
            for argument in &mut spec.arguments {
                *argument = argument.replace(MODEL_URL, &url);
            }
        }
        Ok(Some(bound))
    }

    /// Opens the proxies of a process that is about to be started, and completes
    /// its plan and its variables; with them the model's URL, when that is
    /// among them. `None`: there are none.
    pub fn of(
        wanted: &Proxies,
        plan: &mut Plan,
        set: &mut Vec<(String, String)>,
    ) -> io::Result<Option<(Self, Option<String>)>> {
        let wanted = wanted.clone();
        let count = wanted.ports().len();
        if count == 0 {
            return Ok(None);
        }
        let (listeners, ports) = if has_own_network(plan.level, &plan.network) {
            let (ours, theirs) = doors::pair()?;
            let theirs = Some(theirs);
            (Listeners::Handed { ours, theirs }, wanted.ports())
        } else {
            let (listeners, ports) = listen(count)?;
            if let Network::Loopback(known) = &mut plan.network {
                known.clone_from(&ports);
            }
            (Listeners::Ours(listeners), ports)
        };
        let token = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let variables = variables(&wanted, &ports, &token);
        plan.environment
            .extend(variables.iter().map(|(name, _)| name.clone()));
        let names: Vec<&String> = variables.iter().map(|(name, _)| name).collect();
        set.retain(|(name, _)| !names.contains(&name));
        let url = wanted.model.as_ref().and_then(|model| {
            let mut urls = variables.iter().filter(|(name, _)| *name == model.url);
            urls.next().map(|(_, url)| url.clone())
        });
        set.extend(variables);
        let bound = Self {
            token,
            wanted,
            listeners,
        };
        Ok(Some((bound, url)))
    }

    /// The end that the helper is to inherit.
    pub fn theirs(&self) -> Option<&OwnedFd> {
        match &self.listeners {
            Listeners::Ours(_) => None,
            Listeners::Handed { theirs, .. } => theirs.as_ref(),
        }
    }

    /// The listeners, once the helper was started. Waits until it has handed
    /// them over; an error means that it ended before, for a reason that it
    /// says itself.
    async fn served(self) -> io::Result<Served> {
        let listeners = match self.listeners {
            Listeners::Ours(listeners) => listeners,
            Listeners::Handed { ours, .. } => handed(ours).await?,
        };
        let mut listeners = listeners.into_iter().map(|listener| {
            listener.set_nonblocking(true)?;
            tokio::net::TcpListener::from_std(listener)
        });
        let mut next = || match listeners.next() {
            Some(listener) => listener,
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        let mut served = Served::default();
        if self.wanted.model.is_some() {
            served.model = Some(next()?);
        }
        if let Some(reach) = self.wanted.elsewhere {
            served.egress = Some((next()?, reach));
        }
        Ok(served)
    }
}

fn listen(count: usize) -> io::Result<(Vec<TcpListener>, Vec<u16>)> {
    let mut listeners = Vec::new();
    let mut ports = Vec::new();
    for _ in 0..count {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        ports.push(listener.local_addr()?.port());
        listeners.push(listener);
    }
    Ok((listeners, ports))
}

async fn handed(ours: OwnedFd) -> io::Result<Vec<TcpListener>> {
    let ours = std::os::unix::net::UnixStream::from(ours);
    ours.set_nonblocking(true)?;
    let ours = UnixStream::from_std(ours)?;
    let receive = || doors::receive(ours.as_fd());
    ours.async_io(Interest::READABLE, receive).await
}

fn variables(wanted: &Proxies, ports: &[u16], token: &str) -> Vec<(String, String)> {
    let mut ports = ports.iter();
    let mut variables = Vec::new();
    let mut set = |name: &str, value: String| variables.push((name.to_owned(), value));
    if let Some(model) = &wanted.model
        && let Some(port) = ports.next()
    {
        set(&model.url, format!("http://127.0.0.1:{port}"));
        set(&model.token, token.to_owned());
    }
    if wanted.elsewhere.is_some()
        && let Some(port) = ports.next()
    {
        let proxy = format!("http://openclaw:{token}@127.0.0.1:{port}");
        for name in PROXY {
            set(name, proxy.clone());
        }
        for name in NO_PROXY {
            set(name, LOOPBACK.to_owned());
        }
        set(NODE_PROXY, "1".to_owned());
    }
    variables
}

/// Whether a program at `level` sees no listener of ours: its loopback is its own.
fn has_own_network(level: Level, network: &Network) -> bool {
    level.has_namespaces() && *network != Network::Full
}

#[cfg(test)]
mod tests {
    use openclaw_handoff::proxies::{EGRESS_PORT, MODEL_PORT, ModelVariables};

    use super::*;

    #[test]
    fn proxies_are_handed_over_where_the_loopback_is_the_programs_own() {
        for (level, network, expected) in [
            (Level::Strict, Network::Loopback(vec![1]), true),
            (Level::Namespaces, Network::Loopback(vec![1]), true),
            (Level::Namespaces, Network::Full, false),
            (Level::Workspace, Network::Loopback(vec![1]), false),
            (Level::Off, Network::Loopback(vec![1]), false),
        ] {
            assert_eq!(
                has_own_network(level, &network),
                expected,
                "{level:?} {network:?}"
            );
        }
    }

    #[test]
    fn proxies_are_told_to_a_program_and_the_key_is_not() {
        let model = ModelVariables {
            url: "ANTHROPIC_BASE_URL".to_owned(),
            token: "ANTHROPIC_API_KEY".to_owned(),
        };
        let both = Proxies {
            model: Some(model),
            elsewhere: Some(Reach::Elsewhere),
        };
        assert_eq!(both.ports(), [MODEL_PORT, EGRESS_PORT]);
        let told = variables(&both, &both.ports(), "t");
        let get = |name: &str| {
            let found = told.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(get("ANTHROPIC_BASE_URL"), Some("http://127.0.0.1:8790"));
        assert_eq!(get("ANTHROPIC_API_KEY"), Some("t"));
        assert_eq!(get("https_proxy"), Some("http://openclaw:t@127.0.0.1:8791"));
        let proxy = Proxies {
            model: None,
            elsewhere: Some(Reach::Elsewhere),
        };
        assert_eq!(proxy.ports(), [EGRESS_PORT]);
        let told = variables(&proxy, &[9], "t");
        assert!(told.iter().all(|(name, _)| !name.starts_with("ANTHROPIC")));
    }
}
