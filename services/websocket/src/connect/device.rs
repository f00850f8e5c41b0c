//! Pairing: which device may come in, in which role, to do what.

use openclaw_devices::{DeviceRequest, Facts, Grant, NewToken, Pending};
use openclaw_doors::front::Peer;
use openclaw_protocol::client::{ClientId, Mode, Role};
use openclaw_protocol::connect::{Connect, Device};
use openclaw_protocol::scope::{Scope, covers};
use openclaw_protocol::{Code, Failure};
use serde_json::{Map, json};

use super::shared::Proof;
use super::{Admission, Issued, Rejected};
use crate::audience::Audience;
use crate::outbox::Close;
use crate::refused::unrecorded;

impl Admission {
    /// Decides whether the client's device may come in. On this machine the shared secret is
    /// enough, and a device is paired without asking; from elsewhere somebody has to approve it
    /// first. Returns the device's token when it gets one.
    pub(super) async fn pair(
        &self,
        peer: &Peer,
        connect: &Connect,
        role: Role,
        scopes: &[String],
        proof: &Proof,
    ) -> Result<Option<Issued>, Rejected> {
        let here = peer.addr.ip().is_loopback() && !peer.forwarded;
        let trusted = here && !matches!(proof, Proof::Device { .. });
        let Some(device) = &connect.device else {
            return if trusted {
                Ok(None)
            } else {
                Err(identity_required())
            };
        };
        let grants = self.devices.grants(&device.id).await;
        let grants = grants.map_err(|fault| Rejected::policy(unrecorded(fault)))?;
        let Some(reason) = lacks(&grants, role, scopes) else {
            return self.first_token(device, role, proof, &grants).await;
        };
        if trusted
            && connect.client.id == ClientId::GatewayClient
            && connect.client.mode == Mode::Backend
        {
            return Ok(None);
        }
        let wish = wish(peer, connect, device, role, scopes);
        if trusted {
            let token = self.devices.pair(wish).await;
            let token = token.map_err(|fault| Rejected::policy(unrecorded(fault)))?;
            return Ok(Some(issued(token)));
        }
        let pending = self.devices.wish(wish).await;
        let pending = pending.map_err(|fault| Rejected::policy(unrecorded(fault)))?;
        let audience = Audience::Holders(Scope::Pairing);
        self.hub
            .tell(audience, "device.pair.requested", || pending.to_json());
        Err(pairing_required(reason, &pending, &grants))
    }

    /// A device that somebody approved gets its token when it comes back with the shared secret.
    async fn first_token(
        &self,
        device: &Device,
        role: Role,
        proof: &Proof,
        grants: &[Grant],
    ) -> Result<Option<Issued>, Rejected> {
        let waits = grants
            .iter()
            .any(|grant| grant.role == role.as_str() && !grant.has_token);
        if !waits || matches!(proof, Proof::Device { .. }) {
            return Ok(None);
        }
        let token = self.devices.rotate(&device.id, role.as_str(), None).await;
        let token = token.map_err(|fault| Rejected::policy(unrecorded(fault)))?;
        Ok(token.map(issued))
    }
}

fn issued(token: NewToken) -> Issued {
    Issued {
        token: token.token,
        at_ms: token.at_ms,
    }
}

/// Why the device is not paired for what it wants.
fn lacks(grants: &[Grant], role: Role, scopes: &[String]) -> Option<&'static str> {
    if grants.is_empty() {
        return Some("not-paired");
    }
    match grants.iter().find(|grant| grant.role == role.as_str()) {
        None => Some("role-upgrade"),
        Some(grant) if !covers(&grant.scopes, scopes) => Some("scope-upgrade"),
        Some(_) => None,
    }
}

fn wish(
    peer: &Peer,
    connect: &Connect,
    device: &Device,
    role: Role,
    scopes: &[String],
) -> DeviceRequest {
    let client = &connect.client;
    let mut facts: Facts = Map::new();
    let texts = [
        ("displayName", client.display_name.as_deref()),
        ("platform", Some(&*client.platform)),
        ("deviceFamily", client.device_family.as_deref()),
        ("clientId", Some(client.id.as_str())),
        ("clientMode", Some(client.mode.as_str())),
        ("browserOrigin", peer.origin.as_deref()),
    ];
    for (name, text) in texts {
        facts.extend(text.map(|text| (name.to_owned(), json!(text))));
    }
    facts.insert("remoteIp".to_owned(), json!(peer.addr.ip().to_string()));
    DeviceRequest {
        device_id: device.id.0.clone(),
        public_key: device.public_key.0.clone(),
        role,
        scopes: scopes.to_vec(),
        facts,
    }
}

fn identity_required() -> Rejected {
    let failure = Failure::new(Code::NotPaired, "device identity required");
    Rejected::policy(failure.with_details(json!({ "code": "DEVICE_IDENTITY_REQUIRED" })))
}

fn pairing_required(reason: &'static str, pending: &Pending, grants: &[Grant]) -> Rejected {
    let requirement = match reason {
        "not-paired" => "device pairing required",
        "role-upgrade" => "role upgrade pending approval",
        _ => "scope upgrade pending approval",
    };
    let message = format!("pairing required: {requirement}");
    let roles: Vec<&str> = grants.iter().map(|grant| grant.role.as_str()).collect();
    let scopes: Vec<&String> = grants.iter().flat_map(|grant| &grant.scopes).collect();
    let details = json!({
        "code": "PAIRING_REQUIRED",
        "reason": reason,
        "requestId": pending.request_id,
        "remediationHint": "Approve the pending device request before retrying.",
        "recommendedNextStep": "wait_then_retry",
        "deviceId": pending.device_id,
        "requestedRole": pending.role,
        "requestedScopes": pending.scopes,
        "approvedRoles": roles,
        "approvedScopes": scopes,
    });
    let mut rejected =
        Rejected::policy(Failure::new(Code::NotPaired, message.clone()).with_details(details));
    rejected.close = Close::new(
        super::POLICY,
        format!("{message} (requestId: {})", pending.request_id),
    );
    rejected
}
