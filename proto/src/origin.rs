//! Which run a call between the daemons is made for, so that every daemon's
//! log records of the run carry the same fields.

use tonic::metadata::{Ascii, MetadataMap, MetadataValue};

const RUN: &str = "openclaw-run";
const SESSION: &str = "openclaw-session";

/// The run and session a call is made for; empty when for none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The run.
    pub run_id: String,
    /// Canonical session key.
    pub session_key: String,
}

/// Whether the session with the canonical key `session_key` is that of a job
/// whose runs do not know of one another.
pub fn is_isolated(session_key: &str) -> bool {
    let own = session_key.strip_prefix("agent:");
    let own = own.and_then(|own| own.split_once(':'));
    own.is_some_and(|(_, own)| own.starts_with("cron:"))
}

/// Whether others than the user hear what is said in the session with the
/// canonical key `session_key`: a group, a channel or a room, and their threads.
/// What has the form of one counts as one. The rule is that of the session's
/// `chatType` (`sessions/src/key.rs`); a test of memory compares the two.
pub fn is_shared(session_key: &str) -> bool {
    let is_kind = |part| matches!(part, "group" | "channel" | "room");
    session_key.split(':').skip(3).any(is_kind)
}

impl Origin {
    /// What the caller said.
    pub fn of(metadata: &MetadataMap) -> Self {
        let text = |name| {
            metadata
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned()
        };
        Self {
            run_id: text(RUN),
            session_key: text(SESSION),
        }
    }

    /// A request that says for whom it is made.
    pub fn request<T>(&self, message: T) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        for (name, value) in [(RUN, &self.run_id), (SESSION, &self.session_key)] {
            // Only for logs: a value that cannot be sent is left out.
            if let Ok(value) = MetadataValue::<Ascii>::try_from(value.as_str())
                && !value.is_empty()
            {
                request.metadata_mut().insert(name, value);
            }
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use super::{Origin, is_shared};

    #[test]
    fn survives_the_metadata() {
        let origin = Origin {
            run_id: "r1".to_owned(),
            session_key: "agent:main:main".to_owned(),
        };
        assert_eq!(Origin::of(origin.request(()).metadata()), origin);
        let none = Origin::default();
        assert_eq!(Origin::of(none.request(()).metadata()), none);
    }

    #[test]
    fn shared_are_groups_their_threads_and_what_has_their_form() {
        for (key, expected) in [
            ("agent:main:telegram:group:-7", true),
            ("agent:main:telegram:group:-7:topic:3", true),
            ("agent:main:matrix:room:!a:b.org", true),
            ("agent:main:slack:channel:c1:thread:1", true),
            ("agent:main:signal:default:group:g", true),
            ("agent:main:main", false),
            ("agent:main:telegram:direct:7", false),
            ("agent:main:telegram:direct:7:thread:1", false),
            ("agent:group:main", false),
            ("agent:main:cron:group", true),
            ("agent:main:telegram:direct:group:7", true),
            ("global", false),
            ("", false),
        ] {
            assert_eq!(is_shared(key), expected, "{key}");
        }
    }
}
