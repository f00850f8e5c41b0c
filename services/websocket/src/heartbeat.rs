//! The heartbeats of agents, as clients are shown them, in OpenClaw's fields.

use openclaw_settings::Settings;
use serde_json::{Value, json};

/// How often `agent` is looked after.
pub(crate) fn times(settings: &Settings, agent: &str) -> Value {
    match settings.heartbeat(agent) {
        None => json!({ "enabled": false, "every": "disabled", "everyMs": null }),
        Some(beat) => {
            let milliseconds = u64::try_from(beat.every.0.as_millis()).unwrap_or(u64::MAX);
            json!({ "enabled": true, "every": words(milliseconds), "everyMs": milliseconds })
        }
    }
}

/// The same, with its prompt and its receiver.
pub(crate) fn whole(settings: &Settings, agent: &str) -> Value {
    let mut shown = times(settings, agent);
    let beat = settings.heartbeat(agent);
    let prompt = beat.and_then(|beat| beat.prompt.as_deref());
    shown["prompt"] = json!(prompt.unwrap_or_default());
    shown["target"] = json!(beat.map_or("none", |beat| beat.target.as_str()));
    shown["ackMaxChars"] = json!(beat.map_or(0, |beat| beat.ack_max_chars));
    shown
}

/// Between two of the default agent, in seconds; 0: there are none.
pub(crate) fn seconds(settings: &Settings) -> u64 {
    let beat = settings.heartbeat(&settings.default_agent);
    beat.map_or(0, |beat| beat.every.0.as_secs())
}

/// In the largest unit of which it is a whole number.
fn words(milliseconds: u64) -> String {
    let units = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1_000, "s"),
    ];
    let unit = units
        .into_iter()
        .find(|(size, _)| milliseconds.is_multiple_of(*size));
    let (size, name) = unit.unwrap_or((1, "ms"));
    format!("{}{name}", milliseconds / size)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn times_are_told_in_the_unit_that_fits() {
        for (milliseconds, told) in [
            (1_800_000, "30m"),
            (3_600_000, "1h"),
            (5_400_000, "90m"),
            (172_800_000, "2d"),
            (45_000, "45s"),
            (1_500, "1500ms"),
        ] {
            assert_eq!(words(milliseconds), told);
        }
    }
}
