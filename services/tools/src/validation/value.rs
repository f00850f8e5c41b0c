//! JSON values as schemas compare them.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// The text that values have in common which are the same: 1 and 1.0, and objects in
/// whatever order.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => match whole(number) {
            Some(whole) => whole.to_string(),
            None => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let mut fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)))
                .collect();
            fields.sort_unstable();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

/// The strings of a list, or the one that stands for such a list.
pub(super) fn names(value: &Value) -> impl Iterator<Item = &str> {
    let list = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter_map(Value::as_str)
}

pub(super) fn is_of_type(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || kind == "integer" && whole(number).is_some(),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

/// Whether number `a` is greater than `b`.
pub(super) fn exceeds(a: &Value, b: &Value) -> bool {
    let (Value::Number(a), Value::Number(b)) = (a, b) else {
        return false;
    };
    let order = match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64().partial_cmp(&b.as_f64()),
    };
    order == Some(Ordering::Greater)
}

/// Whether number `value` is `factor` times a whole number.
pub(super) fn is_multiple(value: &Value, factor: &Value) -> bool {
    let (Value::Number(value), Value::Number(factor)) = (value, factor) else {
        return true;
    };
    if let (Some(value), Some(factor)) = (whole(value), whole(factor)) {
        return factor == 0 || value % factor == 0;
    }
    let (Some(value), Some(factor)) = (value.as_f64(), factor.as_f64()) else {
        return true;
    };
    let times = value / factor;
    // 0.3 is three times 0.1, which no two such numbers say exactly.
    times.is_finite() && (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
}

/// The number, if it is a whole one that is held exactly.
fn whole(number: &Number) -> Option<i128> {
    let fraction =
        |number: f64| (number.fract() == 0.0 && number.abs() < 1e30).then_some(number as i128);
    let small = number.as_i64().map(i128::from);
    small
        .or_else(|| number.as_u64().map(i128::from))
        .or_else(|| number.as_f64().and_then(fraction))
}
