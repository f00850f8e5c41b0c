//! Whether a client may come in, and what it may do then.

mod device;
mod shared;

use std::sync::Arc;

use openclaw_devices::Devices;
use openclaw_doors::Doors;
use openclaw_doors::front::Peer;
use openclaw_protocol::client::{ClientId, Mode, Role};
use openclaw_protocol::connect::{Connect, Device};
use openclaw_protocol::{Code, Failure, OLDEST_NODE_VERSION, VERSION};
use openclaw_sessions::now_ms;
use serde_json::json;

use super::client::{Caps, Identity};
use super::hub::Hub;
use super::outbox::Close;

/// "Protocol error" (RFC 6455).
const PROTOCOL_ERROR: u16 = 1002;

/// "Policy violation" (RFC 6455).
const POLICY: u16 = 1008;

/// A client that may come in.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) identity: Identity,
    /// How it proved that it may: `none`, `token`, `password`, `device-token`.
    pub(super) method: &'static str,
    /// A token for its device, when one was made just now.
    pub(super) issued: Option<Issued>,
}

/// A device token, to be told once and never again.
#[derive(Debug)]
pub(super) struct Issued {
    pub(super) token: String,
    pub(super) at_ms: i64,
}

/// A client that may not.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) failure: Box<Failure>,
    pub(super) close: Close,
}

impl Rejected {
    pub(super) fn new(failure: Failure, code: u16) -> Self {
        let close = Close::new(code, failure.message.clone());
        Self {
            failure: Box::new(failure),
            close,
        }
    }

    fn policy(failure: Failure) -> Self {
        Self::new(failure, POLICY)
    }
}

/// Names this build to clients that must have the same.
pub(super) const BUILD_ID: &str = concat!("openclaw-rs-", env!("CARGO_PKG_VERSION"));

/// Decides who may come in.
pub(super) struct Admission {
    pub(super) doors: Arc<Doors>,
    pub(super) devices: Arc<Devices>,
    pub(super) hub: Arc<Hub>,
}

impl Admission {
    /// Decides about `connect`, the answer to the challenge `nonce`.
    pub(super) async fn admit(
        &self,
        peer: &Peer,
        connect: &Connect,
        nonce: &str,
    ) -> Result<Admitted, Rejected> {
        let role = role(connect)?;
        check_versions(connect, role)?;
        check_origin(peer)?;
        if let Some(device) = &connect.device {
            check_device(connect, device, role, nonce)?;
        }
        let proof = self.prove(peer, connect, role).await?;
        check_build(connect)?;
        let scopes = match role {
            Role::Operator => Connect::names(&connect.scopes),
            Role::Node | Role::Worker => Vec::new(),
        };
        let issued = self.pair(peer, connect, role, &scopes, &proof).await?;
        Ok(Admitted {
            identity: Identity {
                id: connect.client.id,
                mode: connect.client.mode,
                role,
                scopes,
                caps: Caps::of(&Connect::names(&connect.caps)),
                device_id: connect.device.as_ref().map(|device| device.id.0.clone()),
                by_secret: matches!(proof, shared::Proof::Secret(_)),
            },
            method: proof.name(),
            issued,
        })
    }
}

fn role(connect: &Connect) -> Result<Role, Rejected> {
    let Some(name) = &connect.role else {
        return Ok(Role::Operator);
    };
    Role::parse(name).ok_or_else(|| Rejected::policy(Failure::invalid("invalid role")))
}

/// An operator must speak our version; a node or a probe may be a little older.
fn check_versions(connect: &Connect, role: Role) -> Result<(), Rejected> {
    let lenient = role == Role::Node || connect.client.mode == Mode::Probe;
    let oldest = if lenient {
        OLDEST_NODE_VERSION
    } else {
        VERSION
    };
    if connect.max_protocol >= oldest && connect.min_protocol <= VERSION {
        return Ok(());
    }
    let failure = Failure::invalid("protocol mismatch").with_details(json!({
        "code": "PROTOCOL_MISMATCH",
        "clientMinProtocol": connect.min_protocol,
        "clientMaxProtocol": connect.max_protocol,
        "expectedProtocol": VERSION,
        "minimumProbeProtocol": OLDEST_NODE_VERSION,
    }));
    Err(Rejected::new(failure, PROTOCOL_ERROR))
}

/// A page the user happens to visit has an origin that is not ours.
fn check_origin(peer: &Peer) -> Result<(), Rejected> {
    if peer.origin_ok {
        return Ok(());
    }
    tracing::warn!(
        peer = %peer.addr,
        origin = peer.origin.as_deref().unwrap_or_default(),
        "refused a web page that is not allowed to connect"
    );
    let failure = Failure::invalid(
        "origin not allowed (open the Control UI from the gateway host or allow it in \
         gateway.controlUi.allowedOrigins)",
    );
    Err(Rejected::policy(failure.with_details(json!({
        "code": "CONTROL_UI_ORIGIN_NOT_ALLOWED",
        "reason": "origin not allowed",
    }))))
}

fn check_device(
    connect: &Connect,
    device: &Device,
    role: Role,
    nonce: &str,
) -> Result<(), Rejected> {
    let now = u64::try_from(now_ms()).unwrap_or_default();
    openclaw_protocol::device::verify(connect, device, role.as_str(), nonce, now).map_err(|why| {
        tracing::warn!(
            client = connect.client.id.as_str(),
            "refused a device: {why}"
        );
        Rejected::policy(Failure::invalid(why.to_string()).with_details(json!({
            "code": why.code(),
            "reason": why.reason(),
        })))
    })
}

/// The Control UI only works with the gateway it was built with, and we have none.
fn check_build(connect: &Connect) -> Result<(), Rejected> {
    if connect.client.id != ClientId::OpenclawControlUi {
        return Ok(());
    }
    let mut failure = Failure::new(
        Code::Unavailable,
        "protocol mismatch: Control UI updated; reload this page to continue",
    );
    failure.retryable = Some(false);
    Err(Rejected::policy(failure.with_details(json!({
        "code": "PROTOCOL_MISMATCH",
        "gatewayBuildId": BUILD_ID,
        "reloadRequired": true,
    }))))
}
