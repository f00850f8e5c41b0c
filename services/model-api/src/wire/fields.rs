//! The fields at the top of a request.

use openclaw_settings::ProviderTool;
use serde_json::{Map, Value};

use super::{Grants, Unfit};

/// Leaves the fields that are known to reach the model and nobody else. Those
/// that nobody knows here are left out, so that a program with a newer version
/// of the API goes on without them.
pub(super) fn keep(fields: &mut Map<String, Value>, known: &[&str], grants: &Grants) {
    if grants.has_all() {
        return;
    }
    fields.retain(|name, _| {
        let is_known = known.contains(&name.as_str());
        if !is_known {
            tracing::debug!(name, "a field of a request to the model is left out");
        }
        is_known
    });
}

/// Fields that cost more than the model's price says.
const COSTLY: [&str; 4] = ["fallbacks", "inference_geo", "service_tier", "speed"];

/// Leaves out what makes an answer dearer than it is counted.
pub(super) fn keep_price(fields: &mut Map<String, Value>) {
    COSTLY
        .iter()
        .for_each(|name| _ = fields.shift_remove(*name));
}

/// Refuses a request that has a field which the policy does not grant.
pub(super) fn need(
    fields: &Map<String, Value>,
    name: &str,
    tool: ProviderTool,
    grants: &Grants,
) -> Result<(), Unfit> {
    if is_set(fields, name) && !grants.has(tool) {
        Err(Unfit::NotGranted {
            what: name.to_owned(),
            tool,
        })
    } else {
        Ok(())
    }
}

/// Refuses a request that has a field which only a full network allows.
pub(super) fn need_all(
    fields: &Map<String, Value>,
    name: &str,
    grants: &Grants,
) -> Result<(), Unfit> {
    if is_set(fields, name) && !grants.has_all() {
        Err(Unfit::NotPassed {
            what: name.to_owned(),
        })
    } else {
        Ok(())
    }
}

/// Whether a field says anything.
pub(super) fn is_set(fields: &Map<String, Value>, name: &str) -> bool {
    match fields.get(name) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    }
}
