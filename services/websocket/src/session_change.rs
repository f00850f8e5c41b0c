//! Changes of sessions, told to those who follow the index.

use openclaw_conversations::sessions::Shown;
use openclaw_runs::Core;
use openclaw_sessions::{SessionKey, now_ms};
use serde_json::json;

use crate::audience::Audience;
use crate::hub::Hub;
use crate::session_row::{Rows, changed};

/// Announces a change to clients that follow the index.
pub(crate) async fn tell_changed(core: &Core, hub: &Hub, key: &SessionKey, reason: &str) {
    if !hub.has(Audience::Index) {
        return;
    }
    if let Ok(shown) = core.sessions.get(key).await {
        tell_shown(core, hub, &shown, reason);
    }
}

/// The same for a session that is known.
pub(crate) fn tell_shown(core: &Core, hub: &Hub, shown: &Shown, reason: &str) {
    let row = Rows::new(core).row(&shown.session, &shown.entry);
    let about = json!({ "reason": reason, "ts": now_ms() });
    hub.tell(Audience::Index, "sessions.changed", || changed(row, about));
}
