//! Why a gateway that answers has not the TCP port that is configured.

use std::net::SocketAddr;

use openclaw_foreground::port;
use openclaw_settings::{SOCKETS_ADVICE, Settings};
use serde::Serialize;

use crate::report::Suite;

/// There is no WebSocket and no HTTP where clients look for it.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct Closed {
    /// What is wrong.
    pub problem: String,
    /// What mends it.
    pub fix: String,
}

impl Closed {
    /// `None` where the gateway has its port, or does not answer at all.
    pub fn of(settings: &Settings, suite: &Suite) -> Option<Self> {
        let gateway = suite.gateway.given()?;
        let wanted = SocketAddr::new(settings.gateway.address, settings.gateway.port);
        let found: Vec<&str> = gateway.http().collect();
        match &found[..] {
            [] => Some(Self::at(wanted)),
            found if wanted.port() == 0 || found.contains(&wanted.to_string().as_str()) => None,
            found => Some(Self::elsewhere(wanted, found)),
        }
    }

    /// Of a gateway whose sockets are those of an earlier configuration.
    pub fn elsewhere(wanted: SocketAddr, found: &[&str]) -> Self {
        let found = found.join(" and ");
        Self {
            problem: format!("the gateway listens at {found}, configured is {wanted}"),
            fix: SOCKETS_ADVICE.to_owned(),
        }
    }

    /// Of a gateway that does not listen at `wanted`.
    pub fn at(wanted: SocketAddr) -> Self {
        let (why, fix) = match port::taken(wanted) {
            Ok(Some(taken)) => (
                taken.to_string(),
                "openclawctl sockets --port auto chooses a free port, keeps it, and says how it is opened",
            ),
            Ok(None) => (
                format!("{wanted} was not opened, and is free now"),
                "systemctl --user restart openclaw.target 'openclaw-*.socket' opens it (without systemd: start openclawctl run again)",
            ),
            Err(error) => (
                format!("{wanted} cannot be listened at: {error}"),
                "gateway.bind and gateway.port say where the gateway listens",
            ),
        };
        Self {
            problem: format!("no WebSocket and no HTTP: {why}"),
            fix: fix.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn port_of_an_earlier_configuration_is_said_with_the_way_out() {
        let wanted = "127.0.0.1:19000".parse().unwrap();
        let closed = Closed::elsewhere(wanted, &["127.0.0.1:18789"]);
        let words = "listens at 127.0.0.1:18789, configured is 127.0.0.1:19000";
        assert!(closed.problem.contains(words), "{closed:?}");
        assert!(closed.fix.contains("openclawctl sockets"), "{closed:?}");
    }

    #[test]
    fn closed_port_is_said_with_who_has_it_and_what_helps() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        let closed = Closed::at(address);
        let who = format!("{address} is taken by another program of yours");
        assert!(closed.problem.ends_with(&who), "{closed:?}");
        assert!(closed.fix.contains("openclawctl sockets --port auto"));
        drop(other);
        assert!(Closed::at(address).problem.contains("is free now"));
        // TEST-NET-1: no machine has it (RFC 5737).
        let nowhere = Closed::at("192.0.2.1:18789".parse().unwrap());
        assert!(nowhere.fix.contains("gateway.bind"), "{nowhere:?}");
    }
}
