//! The proof that a client may come in: the shared secret, or the token of its paired device.

use openclaw_doors::front::{Denied, Peer};
use openclaw_protocol::Failure;
use openclaw_protocol::client::Role;
use openclaw_protocol::connect::Connect;
use openclaw_settings::gateway::AuthMode;
use serde_json::{Value, json};

use super::{Admission, Rejected};
use crate::refused::unrecorded;

/// How a client proved that it may come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proof {
    /// Nothing is asked for.
    Nothing,
    /// It knows the shared secret.
    Secret(AuthMode),
    /// It has its device's token, which is good for these scopes.
    Device {
        /// The grants of the device's pairing.
        scopes: Vec<String>,
    },
}

impl Proof {
    /// `auth.method` of `hello-ok`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Secret(AuthMode::Password) => "password",
            Self::Secret(_) => "token",
            Self::Device { .. } => "device-token",
        }
    }
}

impl Admission {
    /// Checks the credentials of `connect`.
    pub(super) async fn prove(
        &self,
        peer: &Peer,
        connect: &Connect,
        role: Role,
    ) -> Result<Proof, Rejected> {
        let secrets = self.doors.front.secrets();
        if secrets.are_none_needed() {
            return Ok(Proof::Nothing);
        }
        let limit = self.doors.front.settings().gateway.rate_limit;
        let failures = &self.doors.front.failures;
        if let Err(Denied::Limited(wait)) = failures.allowed(peer, &limit) {
            return Err(limited(wait.as_millis()));
        }
        let auth = &connect.auth;
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let presented = filled(&auth.token).or_else(|| filled(&auth.password));
        if presented.as_deref().is_some_and(|it| secrets.accept(it)) {
            failures.succeeded(peer, &limit);
            return Ok(Proof::Secret(secrets.mode));
        }
        let device_token = filled(&auth.device_token).or_else(|| presented.clone());
        if let (Some(device), Some(token)) = (&connect.device, &device_token) {
            let scopes = self.devices.check(&device.id, role, token).await;
            if let Some(scopes) = scopes.map_err(|fault| Rejected::policy(unrecorded(fault)))? {
                failures.succeeded(peer, &limit);
                return Ok(Proof::Device { scopes });
            }
        }
        let words = Words::of(secrets.mode, connect, device_token.is_some());
        if device_token.is_none() {
            tracing::info!(peer = %peer.addr, "refused a client without a token");
        } else {
            failures.failed(peer, &limit);
            self.doors.front.denied.add();
            tracing::warn!(
                peer = %peer.addr,
                origin = peer.origin.as_deref().unwrap_or_default(),
                client = connect.client.id.as_str(),
                "refused a client: {}", words.reason
            );
        }
        Err(words.rejected())
    }
}

/// How a refusal is put.
struct Words {
    code: &'static str,
    reason: &'static str,
    message: &'static str,
    can_retry_with_device_token: bool,
    next: &'static str,
}

impl Words {
    fn of(mode: AuthMode, connect: &Connect, presented: bool) -> Self {
        let only_device = connect
            .auth
            .device_token
            .as_ref()
            .is_some_and(|token| !token.is_empty());
        let (code, reason, message) = match (mode, presented) {
            _ if only_device => (
                "AUTH_DEVICE_TOKEN_MISMATCH",
                "device_token_mismatch",
                "unauthorized: device token mismatch (rotate/reissue device token)",
            ),
            (AuthMode::Password, false) => (
                "AUTH_PASSWORD_MISSING",
                "password_missing",
                "unauthorized: gateway password missing (provide gateway auth password)",
            ),
            (AuthMode::Password, true) => (
                "AUTH_PASSWORD_MISMATCH",
                "password_mismatch",
                "unauthorized: gateway password mismatch (provide gateway auth password)",
            ),
            (_, false) => (
                "AUTH_TOKEN_MISSING",
                "token_missing",
                "unauthorized: gateway token missing (provide gateway auth token)",
            ),
            (_, true) => (
                "AUTH_TOKEN_MISMATCH",
                "token_mismatch",
                "unauthorized: gateway token mismatch (provide gateway auth token)",
            ),
        };
        let can_retry = presented && !only_device && connect.device.is_some();
        Self {
            code,
            reason,
            message,
            can_retry_with_device_token: can_retry,
            next: match (can_retry, presented) {
                (true, _) => "retry_with_device_token",
                (false, true) => "update_auth_credentials",
                (false, false) => "update_auth_configuration",
            },
        }
    }

    fn rejected(self) -> Rejected {
        Rejected::policy(Failure::invalid(self.message).with_details(self.details()))
    }

    fn details(&self) -> Value {
        json!({
            "code": self.code,
            "authReason": self.reason,
            "canRetryWithDeviceToken": self.can_retry_with_device_token,
            "recommendedNextStep": self.next,
        })
    }
}

fn limited(wait_ms: u128) -> Rejected {
    let message = "unauthorized: too many failed authentication attempts (retry later)";
    let details = json!({
        "code": "AUTH_RATE_LIMITED",
        "authReason": "rate_limited",
        "canRetryWithDeviceToken": false,
        "recommendedNextStep": "wait_then_retry",
    });
    let wait_ms = u64::try_from(wait_ms).unwrap_or(u64::MAX);
    Rejected::policy(
        Failure::invalid(message)
            .with_details(details)
            .retry_after(wait_ms),
    )
}
