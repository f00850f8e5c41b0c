//! What a provider says was used. It is told people and decides nothing, so that what is not
//! what it should be is no reason to lose the answer: the bill is made outside the sandbox.

use openclaw_turn::whole_count;
use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer};
use serde_json::Value;

/// For `#[serde(deserialize_with)]`: the default where it is something else.
pub(super) fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned + Default,
    D: Deserializer<'de>,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// For `#[serde(deserialize_with)]`: `None` where it is no count. `12.0` is one.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value
        .as_u64()
        .or_else(|| value.as_f64().and_then(whole_count)))
}
