//! What the owner asks and decides of paired devices.

use std::path::PathBuf;

use serde::Serialize;

use crate::address::{self, Channel};
use crate::call::CallError;
use crate::invalid::Invalid;
use crate::wire::gateway as wire;
use wire::device_admin_client::DeviceAdminClient;

/// What a device says of itself; each may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// What people call it.
    pub name: String,
    /// The system that it runs on.
    pub platform: String,
    /// Where it asked from.
    pub address: String,
}

/// A device that waits for somebody to decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// What it is approved by.
    pub request_id: String,
    /// The hash of its public key.
    pub device_id: String,
    /// What it wants to be.
    pub role: String,
    /// What it wants to do.
    pub scopes: Vec<String>,
    /// What it says of itself.
    #[serde(flatten)]
    pub profile: Profile,
    /// When it asked, in Unix milliseconds.
    pub created_ms: i64,
}

/// A paired device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paired {
    /// The hash of its public key.
    pub device_id: String,
    /// What it says of itself.
    #[serde(flatten)]
    pub profile: Profile,
    /// Since when, in Unix milliseconds.
    pub approved_ms: i64,
    /// What it is paired for.
    pub roles: Vec<Role>,
}

/// What a device is paired for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// What it is.
    pub role: String,
    /// What it may do.
    pub scopes: Vec<String>,
    /// Since when its token is invalid, in Unix milliseconds.
    pub revoked_ms: Option<i64>,
    /// When it was used last.
    pub last_used_ms: Option<i64>,
}

/// Which there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Devices {
    /// Those that wait.
    pub pending: Vec<Pending>,
    /// Those that are paired.
    pub paired: Vec<Paired>,
}

/// A client of the gateway, for its owner. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(DeviceAdminClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        let client = DeviceAdminClient::new(address::channel(socket));
        Self(client.max_decoding_message_size(crate::MESSAGE_LIMIT))
    }

    /// Devices that wait, and those that are paired.
    pub async fn list(&self) -> Result<Devices, CallError> {
        let request = wire::ListDevicesRequest {};
        let response = self.0.clone().list_devices(request).await?.into_inner();
        Ok(Devices {
            pending: response.pending.into_iter().map(Pending::from).collect(),
            paired: response.paired.into_iter().map(Paired::from).collect(),
        })
    }

    /// Pairs the device of a request, or does not; returns the request.
    pub async fn decide(&self, request_id: &str, is_approved: bool) -> Result<Pending, CallError> {
        let request = wire::DecideDeviceRequest {
            request_id: request_id.to_owned(),
            is_approved,
        };
        let response = self.0.clone().decide_device(request).await?.into_inner();
        let request = response
            .request
            .ok_or(Invalid::missing("DecideDeviceResponse", "request"))?;
        Ok(request.into())
    }

    /// Makes the device's tokens invalid: of `role`, or when that is empty, all.
    pub async fn revoke(&self, device_id: &str, role: &str) -> Result<(), CallError> {
        self.end(device_id, role, false).await
    }

    /// Forgets the device.
    pub async fn remove(&self, device_id: &str) -> Result<(), CallError> {
        self.end(device_id, "", true).await
    }

    async fn end(&self, device_id: &str, role: &str, is_forgotten: bool) -> Result<(), CallError> {
        let request = wire::RevokeDeviceRequest {
            device_id: device_id.to_owned(),
            role: role.to_owned(),
            is_forgotten,
        };
        self.0.clone().revoke_device(request).await?;
        Ok(())
    }
}

fn time(at_ms: i64) -> Option<i64> {
    Some(at_ms).filter(|at_ms| *at_ms != 0)
}

impl From<wire::PendingDevice> for Pending {
    fn from(pending: wire::PendingDevice) -> Self {
        Self {
            request_id: pending.request_id,
            device_id: pending.device_id,
            role: pending.role,
            scopes: pending.scopes,
            profile: Profile {
                name: pending.name,
                platform: pending.platform,
                address: pending.address,
            },
            created_ms: pending.created_ms,
        }
    }
}

impl From<Pending> for wire::PendingDevice {
    fn from(pending: Pending) -> Self {
        Self {
            request_id: pending.request_id,
            device_id: pending.device_id,
            role: pending.role,
            scopes: pending.scopes,
            name: pending.profile.name,
            platform: pending.profile.platform,
            address: pending.profile.address,
            created_ms: pending.created_ms,
        }
    }
}

impl From<wire::PairedDevice> for Paired {
    fn from(paired: wire::PairedDevice) -> Self {
        let role = |role: wire::DeviceRole| Role {
            role: role.role,
            scopes: role.scopes,
            revoked_ms: time(role.revoked_ms),
            last_used_ms: time(role.last_used_ms),
        };
        Self {
            device_id: paired.device_id,
            profile: Profile {
                name: paired.name,
                platform: paired.platform,
                address: paired.address,
            },
            approved_ms: paired.approved_ms,
            roles: paired.roles.into_iter().map(role).collect(),
        }
    }
}

impl From<Paired> for wire::PairedDevice {
    fn from(paired: Paired) -> Self {
        let role = |role: Role| wire::DeviceRole {
            role: role.role,
            scopes: role.scopes,
            revoked_ms: role.revoked_ms.unwrap_or_default(),
            last_used_ms: role.last_used_ms.unwrap_or_default(),
        };
        Self {
            device_id: paired.device_id,
            name: paired.profile.name,
            platform: paired.profile.platform,
            address: paired.profile.address,
            approved_ms: paired.approved_ms,
            roles: paired.roles.into_iter().map(role).collect(),
        }
    }
}
