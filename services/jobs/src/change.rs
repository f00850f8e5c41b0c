//! Changes of a job's fields.

use serde_json::Value;

/// Puts `value` in the place of `field`. Of an object of the same kind only what
/// `value` has is changed, as OpenClaw's clients expect.
pub(crate) fn change(field: &mut Value, value: Value) {
    let kind = |it: &Value| it.get("kind").cloned();
    let other_kind = kind(&value).is_some() && kind(&value) != kind(field);
    match (field, value) {
        (Value::Object(fields), Value::Object(values)) if !other_kind => {
            for (name, value) in values {
                match value {
                    Value::Null => drop(fields.remove(&name)),
                    value => drop(fields.insert(name, value)),
                }
            }
        }
        (field, value) => *field = value,
    }
}
