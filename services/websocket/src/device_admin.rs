//! The gRPC service of what the owner does with devices: generated types stop here.

#![expect(clippy::disallowed_types, reason = "it serves gRPC")]

use std::sync::Arc;

use openclaw_conversations::database::Fault;
use openclaw_daemon::failure;
use openclaw_devices::{Devices, Pending};
use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::device_admin_server;
use openclaw_proto::{call, device_admin};
use openclaw_protocol::scope::Scope;
use openclaw_sessions::now_ms;
use serde_json::json;
use tonic::{Code, Request, Response, Status};

use crate::audience::Audience;
use crate::hub::Hub;

/// The service `openclaw.gateway.v1.DeviceAdmin`.
pub struct DeviceAdminService {
    pub(crate) devices: Arc<Devices>,
    pub(crate) hub: Arc<Hub>,
}

#[tonic::async_trait]
impl device_admin_server::DeviceAdmin for DeviceAdminService {
    async fn list_devices(
        &self,
        _request: Request<wire::ListDevicesRequest>,
    ) -> Result<Response<wire::ListDevicesResponse>, Status> {
        let (pending, paired) = self.devices.list().await.map_err(unrecorded)?;
        let pending = pending.into_iter().map(device_admin::Pending::from);
        let paired = paired.into_iter().map(device_admin::Paired::from);
        Ok(Response::new(wire::ListDevicesResponse {
            pending: pending.map(Into::into).collect(),
            paired: paired.map(Into::into).collect(),
        }))
    }

    async fn decide_device(
        &self,
        request: Request<wire::DecideDeviceRequest>,
    ) -> Result<Response<wire::DecideDeviceResponse>, Status> {
        let wire::DecideDeviceRequest {
            request_id,
            is_approved,
        } = request.into_inner();
        let devices = &self.devices;
        let pending = devices.pending(&request_id).await.map_err(unrecorded)?;
        let pending = pending.ok_or_else(|| unknown_request(&request_id))?;
        let is_done = if is_approved {
            let paired = devices.approve(pending.clone()).await;
            paired.map_err(unrecorded)?.is_some()
        } else {
            devices.reject(pending.clone()).await.map_err(unrecorded)?
        };
        if !is_done {
            return Err(unknown_request(&request_id));
        }
        announce(&self.hub, &pending, is_approved);
        let request = device_admin::Pending::from(pending);
        Ok(Response::new(wire::DecideDeviceResponse {
            request: Some(request.into()),
        }))
    }

    async fn revoke_device(
        &self,
        request: Request<wire::RevokeDeviceRequest>,
    ) -> Result<Response<wire::RevokeDeviceResponse>, Status> {
        let wire::RevokeDeviceRequest {
            device_id,
            role,
            is_forgotten,
        } = request.into_inner();
        let is_done = if is_forgotten {
            self.devices.remove(&device_id).await.map_err(unrecorded)?
        } else {
            self.revoke(&device_id, &role).await.map_err(unrecorded)?
        };
        if !is_done {
            return Err(unknown_device(&device_id, &role));
        }
        self.hub.expel(&device_id, None);
        tracing::info!(
            device = device_id,
            is_forgotten,
            "a device may not come in any more"
        );
        Ok(Response::new(wire::RevokeDeviceResponse {}))
    }
}

impl DeviceAdminService {
    /// Revokes the device's token for `role`, or for all that it has; false when there is none.
    async fn revoke(&self, device_id: &str, role: &str) -> Result<bool, Fault> {
        let (_, paired) = self.devices.list().await?;
        let device = paired.iter().find(|it| it.device_id == device_id);
        let roles = device.iter().flat_map(|it| it.roles());
        let mut is_done = false;
        for its in roles.filter(|its| role.is_empty() || *its == role) {
            is_done |= self.devices.revoke(device_id, its).await?.is_some();
        }
        Ok(is_done)
    }
}

/// Tells everybody who may decide that it was, and the log.
pub(crate) fn announce(hub: &Hub, pending: &Pending, is_approved: bool) {
    let decision = if is_approved { "approved" } else { "rejected" };
    let payload = || {
        json!({
            "requestId": pending.request_id,
            "deviceId": pending.device_id,
            "decision": decision,
            "ts": now_ms(),
        })
    };
    let audience = Audience::Holders(Scope::Pairing);
    hub.tell(audience, "device.pair.resolved", payload);
    if is_approved {
        tracing::info!(
            device = pending.device_id,
            role = pending.role,
            "a device was paired"
        );
    }
}

fn unrecorded(fault: Fault) -> Status {
    failure::report("keep the devices", &fault);
    let message = failure::chain(&fault);
    match failure::remedy(&fault) {
        Some(remedy) => call::refused(Code::ResourceExhausted, message, remedy),
        None => Status::internal(message),
    }
}

/// An id that was known once may not be now: it was decided, has expired, or the
/// device asks for something else.
fn unknown_request(id: &str) -> Status {
    let remedy = "`openclawctl devices list` shows those that wait; one waits an hour, and has \
                  another id when it asks for something else";
    let message = format!("no request {id:?} waits");
    call::refused(Code::NotFound, message, remedy)
}

fn unknown_device(id: &str, role: &str) -> Status {
    let message = match role {
        "" => format!("there is no device {id:?}"),
        role => format!("there is no device {id:?} that is paired as {role:?}"),
    };
    call::refused(
        Code::NotFound,
        message,
        "`openclawctl devices list` shows them",
    )
}
