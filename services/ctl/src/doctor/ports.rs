//! The gateway's TCP sockets.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use openclaw_config::Environment;
use openclaw_doctor::Check;
use openclaw_foreground::port;
use openclaw_settings::SOCKETS_ADVICE;
use openclaw_settings::Settings;

use openclaw_status::{Closed, Suite};

/// Whether the gateway listens where the configuration says. Nothing when it
/// does not answer at all.
pub(super) fn opened(settings: &Settings, environment: &Environment, suite: &Suite) -> Vec<Check> {
    let Some(gateway) = suite.gateway.given() else {
        return Vec::new();
    };
    let found = |name: &str| -> Vec<&str> {
        let listeners = gateway.listeners.iter();
        listeners
            .filter(|listener| listener.name == name)
            .map(|listener| listener.address.as_str())
            .collect()
    };
    let wanted = SocketAddr::new(settings.gateway.address, settings.gateway.port);
    let (http, cli) = (found("http"), found("cli"));
    let mut checks = vec![main(wanted, &http)];
    checks.extend(shared(settings, environment, &cli));
    let open = http.into_iter().chain(cli);
    checks.extend(open.filter_map(|address| beside(address.parse().ok()?)));
    checks
}

fn main(wanted: SocketAddr, found: &[&str]) -> Check {
    const NAME: &str = "port";
    match found {
        [] => {
            let closed = Closed::at(wanted);
            Check::warn(NAME, closed.problem, closed.fix)
        }
        all if is_at(wanted, all) => {
            Check::ok(NAME, format!("WebSocket and HTTP at {}", all.join(" and ")))
        }
        all => elsewhere(NAME, wanted, all),
    }
}

/// The shared session's socket, where there is a secret for it.
fn shared(settings: &Settings, environment: &Environment, found: &[&str]) -> Option<Check> {
    const NAME: &str = "shared session";
    let gateway = settings
        .clone()
        .with_gateway_secrets(environment, &BTreeMap::new());
    let cli = gateway.ok()?.gateway.cli;
    let wanted = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), cli.port);
    cli.secret.as_ref()?;
    Some(match found {
        [] => Check::warn(
            NAME,
            format!("there is a secret for it, and {wanted} is not open"),
            SOCKETS_ADVICE,
        ),
        all if is_at(wanted, all) => Check::ok(NAME, format!("at {}", all.join(" and "))),
        all => elsewhere(NAME, wanted, all),
    })
}

/// Somebody else at the same port of [::1], which is what many clients ask first for
/// `localhost`, with the token. The suite does not listen there itself: its socket units
/// would fail as a whole where there is no IPv6 or somebody has that port.
fn beside(open: SocketAddr) -> Option<Check> {
    if open.ip() != Ipv4Addr::LOCALHOST {
        return None;
    }
    let other = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), open.port());
    // Nobody can listen there where there is no IPv6.
    let taken = port::taken(other).ok()??;
    let port = open.port();
    Some(Check::warn(
        "localhost",
        format!(
            "{taken}: a client that says localhost:{port} may reach that one, and tell it the token"
        ),
        format!("have clients say {open}"),
    ))
}

fn is_at(wanted: SocketAddr, found: &[&str]) -> bool {
    wanted.port() == 0 || found.contains(&wanted.to_string().as_str())
}

fn elsewhere(name: &str, wanted: SocketAddr, found: &[&str]) -> Check {
    let closed = Closed::elsewhere(wanted, found);
    Check::warn(name, closed.problem, closed.fix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_doctor::State;

    #[test]
    fn port_that_is_not_the_configured_one_is_told_with_what_helps() {
        let wanted = "127.0.0.1:19000".parse().unwrap();
        assert_eq!(main(wanted, &["127.0.0.1:19000"]).state, State::Ok);
        assert_eq!(main(wanted, &[]).state, State::Warn);
        let other = main(wanted, &["127.0.0.1:18789"]);
        assert_eq!(other.state, State::Warn);
        assert!(other.fix.unwrap().contains("openclawctl sockets"));
    }

    #[test]
    fn somebody_else_at_localhost_is_told() {
        let Ok(other) = std::net::TcpListener::bind("[::1]:0") else {
            return;
        };
        let port = other.local_addr().unwrap().port();
        let open = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
        let check = beside(open).unwrap();
        assert_eq!(check.state, State::Warn);
        assert!(check.detail.contains(&format!("[::1]:{port} is taken by")));
        assert!(check.fix.unwrap().contains(&format!("127.0.0.1:{port}")));
        assert!(beside(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port)).is_none());
        drop(other);
        assert!(beside(open).is_none());
    }

    #[test]
    fn secret_without_its_socket_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment = |secret: &str| -> Environment {
            let variables = [
                ("OPENCLAW_STATE_DIR", state),
                ("OPENCLAW_CLI_SECRET", secret),
            ];
            variables.into_iter().collect()
        };
        let without = environment("");
        let settings = openclaw_settings::load(&without).unwrap();
        assert!(shared(&settings, &without, &[]).is_none());
        let with = environment("s");
        let settings = openclaw_settings::load(&with).unwrap();
        let check = shared(&settings, &with, &[]).unwrap();
        assert_eq!(check.state, State::Warn);
        let check = shared(&settings, &with, &["127.0.0.1:8080"]).unwrap();
        assert_eq!(check.state, State::Ok);
    }
}
