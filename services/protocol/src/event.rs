//! Events: serialised once, numbered for each client.

use serde::Serialize;

/// What an event tells about the versions of the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StateVersion {
    /// Counts changes of who is there.
    pub presence: u64,
    /// Counts changes of the health snapshot.
    pub health: u64,
}

/// An event with its payload as text. Many clients share one; only the number
/// differs from client to client.
#[derive(Debug)]
pub struct Event {
    /// Everything up to the number.
    head: String,
    /// Everything after it.
    tail: String,
}

impl Event {
    /// An event named `name`.
    pub fn new(name: &str, payload: &impl Serialize) -> Self {
        Self::versioned(name, payload, None)
    }

    /// An event that tells the snapshot's versions too.
    pub fn versioned(name: &str, payload: &impl Serialize, version: Option<StateVersion>) -> Self {
        // Payloads are our own types and JSON values, which always serialise.
        let payload = serde_json::to_string(payload).unwrap_or_else(|_| "null".to_owned());
        let mut head = String::with_capacity(payload.len() + name.len() + 48);
        head.push_str(r#"{"type":"event","event":""#);
        head.push_str(name);
        head.push_str(r#"","payload":"#);
        head.push_str(&payload);
        let tail = match version.and_then(|version| serde_json::to_string(&version).ok()) {
            Some(version) => format!(r#","stateVersion":{version}}}"#),
            None => "}".to_owned(),
        };
        Self { head, tail }
    }

    /// The frame with the number `seq`.
    pub fn numbered(&self, seq: u64) -> String {
        format!(r#"{},"seq":{seq}{}"#, self.head, self.tail)
    }

    /// The frame without a number, as `connect.challenge` is.
    pub fn unnumbered(&self) -> String {
        format!("{}{}", self.head, self.tail)
    }

    /// Bytes of the frame, nearly.
    pub fn size(&self) -> usize {
        self.head.len() + self.tail.len() + 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn event_is_a_frame_with_and_without_a_number() {
        let event = Event::new("tick", &json!({"ts": 1}));
        let frame: Value = serde_json::from_str(&event.numbered(3)).unwrap();
        assert_eq!(
            frame,
            json!({"type": "event", "event": "tick", "payload": {"ts": 1}, "seq": 3})
        );
        let frame: Value = serde_json::from_str(&event.unnumbered()).unwrap();
        assert_eq!(frame.get("seq"), None);
        let version = StateVersion {
            presence: 1,
            health: 2,
        };
        let event = Event::versioned("health", &json!({}), Some(version));
        let frame: Value = serde_json::from_str(&event.numbered(1)).unwrap();
        assert_eq!(frame["stateVersion"], json!({"presence": 1, "health": 2}));
        assert!(event.size() >= event.numbered(1).len());
    }
}
