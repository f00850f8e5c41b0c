//! `device.pair.*` and `device.token.*`.

use crate::refused::unrecorded;
use openclaw_protocol::Failure;
use openclaw_protocol::client::Role;
use openclaw_protocol::params::Filled;
use openclaw_protocol::scope::{Scope, covers};
use serde::Deserialize;
use serde_json::{Value, json};

use openclaw_devices::{Paired, Pending};

use super::{Answer, Call};
use crate::device_admin;

methods! {
    "device.pair.approve" => PAIRING, approve;
    "device.pair.list" => PAIRING, list;
    "device.pair.reject" => PAIRING, reject;
    "device.pair.remove" => PAIRING, remove;
    "device.pair.rename" => PAIRING, rename;
    "device.token.revoke" => PAIRING, revoke;
    "device.token.rotate" => PAIRING, rotate;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// `device.pair.list`
async fn list(mut call: Call) -> Result<Answer, Failure> {
    let Nothing {} = call.params()?;
    let (pending, paired) = call.context.devices.list().await.map_err(unrecorded)?;
    let pending: Vec<Value> = pending.iter().map(Pending::to_json).collect();
    let paired: Vec<Value> = paired.iter().map(Paired::to_json).collect();
    Ok(json!({ "pending": pending, "paired": paired }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Decide {
    request_id: Filled,
}

/// `device.pair.approve`. Nobody gives away what he does not have.
async fn approve(mut call: Call) -> Result<Answer, Failure> {
    let pending = pending(&mut call).await?;
    if pending.role == Role::Operator.as_str()
        && !covers(&call.client.identity.scopes, &pending.scopes)
    {
        return Err(Failure::scope(Scope::Admin.as_str()));
    }
    let request_id = pending.request_id.clone();
    let device = call
        .context
        .devices
        .approve(pending.clone())
        .await
        .map_err(unrecorded)?;
    let device = device.ok_or_else(unknown)?;
    device_admin::announce(&call.context.hub, &pending, true);
    Ok(json!({
        "requestId": request_id,
        "device": device.to_json(),
    })
    .into())
}

/// `device.pair.reject`
async fn reject(mut call: Call) -> Result<Answer, Failure> {
    let pending = pending(&mut call).await?;
    if !call
        .context
        .devices
        .reject(pending.clone())
        .await
        .map_err(unrecorded)?
    {
        return Err(unknown());
    }
    device_admin::announce(&call.context.hub, &pending, false);
    Ok(json!({ "requestId": pending.request_id, "deviceId": pending.device_id }).into())
}

async fn pending(call: &mut Call) -> Result<Pending, Failure> {
    let params: Decide = call.params()?;
    let pending = call
        .context
        .devices
        .pending(&params.request_id)
        .await
        .map_err(unrecorded)?;
    pending.ok_or_else(unknown)
}

/// Why an id that was known once may not be now.
fn unknown() -> Failure {
    Failure::invalid(
        "unknown requestId: it was decided, has expired, or the device asks for something else \
         by now, which is a new request; device.pair.list shows what waits",
    )
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Remove {
    device_id: Filled,
}

/// `device.pair.remove`
async fn remove(mut call: Call) -> Result<Answer, Failure> {
    let params: Remove = call.params()?;
    let id = params.device_id.0;
    if !call.context.devices.remove(&id).await.map_err(unrecorded)? {
        return Err(Failure::invalid("unknown deviceId"));
    }
    call.context.hub.expel(&id, None);
    Ok(json!({ "deviceId": id }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rename {
    device_id: Filled,
    label: Filled,
}

/// `device.pair.rename`
async fn rename(mut call: Call) -> Result<Answer, Failure> {
    let params: Rename = call.params()?;
    if !call
        .context
        .devices
        .rename(&params.device_id, &params.label)
        .await
        .map_err(unrecorded)?
    {
        return Err(Failure::invalid("unknown deviceId"));
    }
    Ok(json!({ "ok": true, "deviceId": params.device_id.0, "label": params.label.0 }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rotate {
    device_id: Filled,
    role: Filled,
    scopes: Option<Vec<Filled>>,
}

/// `device.token.rotate`. The token is for the device that asks; somebody else
/// learns that it was rotated.
async fn rotate(mut call: Call) -> Result<Answer, Failure> {
    let params: Rotate = call.params()?;
    let scopes = params
        .scopes
        .map(|scopes| scopes.into_iter().map(|scope| scope.0).collect::<Vec<_>>());
    if let Some(scopes) = &scopes
        && !covers(&call.client.identity.scopes, scopes)
    {
        return Err(Failure::scope(Scope::Admin.as_str()));
    }
    let (id, role) = (params.device_id.0, params.role.0);
    let rotated = call
        .context
        .devices
        .rotate(&id, &role, scopes)
        .await
        .map_err(unrecorded)?;
    let token = rotated.ok_or_else(|| Failure::invalid("unknown deviceId/role"))?;
    let own = call.client.identity.device_id.as_deref() == Some(&id);
    call.context.hub.expel(&id, Some(call.client.number));
    let mut answer = json!({
        "deviceId": id,
        "role": role,
        "scopes": token.scopes,
        "rotatedAtMs": token.at_ms,
    });
    if own {
        answer["token"] = json!(token.token);
    }
    Ok(answer.into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Revoke {
    device_id: Filled,
    role: Filled,
}

/// `device.token.revoke`
async fn revoke(mut call: Call) -> Result<Answer, Failure> {
    let params: Revoke = call.params()?;
    let (id, role) = (params.device_id.0, params.role.0);
    let revoked = call
        .context
        .devices
        .revoke(&id, &role)
        .await
        .map_err(unrecorded)?;
    let at_ms = revoked.ok_or_else(|| Failure::invalid("unknown deviceId/role"))?;
    call.context.hub.expel(&id, Some(call.client.number));
    Ok(json!({ "deviceId": id, "role": role, "revokedAtMs": at_ms }).into())
}
