//! The gateway's TCP sockets, which systemd's socket units would bind.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use openclaw_config::Environment;
use openclaw_settings as settings;
use openclaw_settings::LogLevel;
use openclaw_settings::Settings;
use openclaw_terminal::Failure;
use tokio::net::TcpSocket;

use crate::log::Log;

/// Clients that may wait while the gateway starts or is restarted; Backlog= of
/// the units.
const BACKLOG: u32 = 1024;
/// FileDescriptorName= of the units.
const MAIN: &str = "http";
const CLI: &str = "cli";

/// Listening sockets by name.
#[derive(Debug, Default)]
pub(crate) struct Doors(Vec<(&'static str, TcpListener)>);

impl Doors {
    /// Binds what the configuration asks for. A port that nobody chose and
    /// that is taken, by an OpenClaw that still runs perhaps, leaves the suite
    /// without that door: everything else works.
    pub(crate) fn bind(
        settings: Settings,
        environment: &Environment,
        log: &Log,
    ) -> Result<Self, Failure> {
        let settings = settings
            .with_gateway_secrets(environment, &BTreeMap::new())?
            .gateway;
        let mut doors = Self::default();
        doors.open_main(&settings, log)?;
        if settings.cli.secret.is_some() {
            let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), settings.cli.port);
            let bound = listen(address)
                .map_err(|error| taken(address, &error, "OPENCLAW_CLI_PORT or gateway.cli.port"))?;
            doors.add(CLI, bound, log)?;
        }
        Ok(doors)
    }

    fn open_main(&mut self, settings: &settings::Gateway, log: &Log) -> Result<(), Failure> {
        let address = SocketAddr::new(settings.address, settings.port);
        match listen(address) {
            Ok(listener) => self.add(MAIN, listener, log),
            Err(error) if settings.port_is_chosen || error.kind() != ErrorKind::AddrInUse => Err(
                taken(address, &error, "OPENCLAW_GATEWAY_PORT or gateway.port"),
            ),
            Err(error) => {
                log.own(
                    LogLevel::Warn,
                    &format!(
                        "cannot listen at {address} ({error}): going on without WebSocket and \
                         HTTP; choose another port with OPENCLAW_GATEWAY_PORT={} or gateway.port",
                        settings.port.wrapping_add(1)
                    ),
                );
                Ok(())
            }
        }
    }

    fn add(&mut self, name: &'static str, listener: TcpListener, log: &Log) -> Result<(), Failure> {
        let address = listener.local_addr().map_err(anyhow::Error::from)?;
        log.own(
            LogLevel::Info,
            &format!("listening for {name} at http://{address}"),
        );
        self.0.push((name, listener));
        Ok(())
    }

    /// Copies of the sockets, to be handed over.
    pub(crate) fn hand_over(&self) -> io::Result<Vec<(&'static str, OwnedFd)>> {
        let copy = |(name, listener): &(&'static str, TcpListener)| {
            Ok((*name, OwnedFd::from(listener.try_clone()?)))
        };
        self.0.iter().map(copy).collect()
    }
}

/// Needs a runtime around it.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // Connections of the last run may linger in TIME_WAIT.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

fn taken(address: SocketAddr, error: &io::Error, how: &str) -> Failure {
    Failure::new(format!("cannot listen at {address}: {error}")).hint(format!(
        "choose another port, such as {}, with {how}",
        address.port().wrapping_add(1)
    ))
}
