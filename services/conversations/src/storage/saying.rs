//! Appending to a conversation what no message asked for.

use openclaw_proto::feed;
use openclaw_sessions::transcript::{Draft, Message};
use openclaw_sessions::{SessionKey, now_ms};

use super::delivery;
use super::entries::Described;
use super::ledger::Change;
use super::session_files::Appended;
use super::state_files::StateFiles;
use super::work::Done;
use crate::fault::Fault;

impl StateFiles {
    /// Appends messages. `announced`: the gateway itself says that, as the delivery of that name.
    pub(super) fn say(
        &mut self,
        key: &SessionKey,
        messages: Vec<Message>,
        announced: Option<(&str, &str)>,
    ) -> Result<Done<()>, Fault> {
        let (described, now) = (Described::of(&messages), now_ms());
        let drafts = messages.into_iter().map(Draft::from).collect();
        let Appended { written, ids } = self.append(key, drafts)?;
        let mut happening = described.happening(key, &ids, now);
        let mut delivery = None;
        if let (Some((name, text)), Some(entry_id)) = (announced, ids.last()) {
            let entry = self.session_files.store(key.agent())?.get(key);
            let place = entry.and_then(delivery::place_of_session);
            delivery = place.map(|place| delivery::announcement(key, name, place, text));
            let entry_id = entry_id.clone();
            happening.kinds.push(feed::Kind::Announcement { entry_id });
        }
        let said = Done::looking(())
            .appending(Some(written.file))
            .telling(happening);
        let delivery = delivery.map(|new| Change::Deliver(Box::new(new), now));
        Ok(delivery.into_iter().fold(said, Done::noting))
    }
}
