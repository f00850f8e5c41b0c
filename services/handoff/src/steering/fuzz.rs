//! The file with messages, whatever a crash or a full disk left in it.

use std::fs;

use super::*;
use crate::fuzz::folder;

/// Any bytes in place of the file. Its whole lines are taken once, in order, of each run
/// the newest; what is kept after them is taken next, and nothing else.
pub fn steering(bytes: &[u8]) {
    let folder = folder();
    let path = path(folder.path(), "r");
    fs::write(&path, bytes).expect("write");
    let inbox = Inbox::beside(&folder.path().join("r.events"));
    assert_eq!(inbox.take().expect("read"), whole(bytes));
    let text = String::from_utf8_lossy(bytes).into_owned();
    let message = |run_id: &str, text: &str| SteeringMessage {
        run_id: run_id.to_owned(),
        text: text.to_owned(),
    };
    let edited = message("next", &text);
    for message in [
        &message("next", "before"),
        &message("other", &text),
        &edited,
    ] {
        keep(&path, message).expect("it has room");
    }
    let taken = inbox.take().expect("read");
    assert_eq!(taken, [edited, message("other", &text)]);
    assert_eq!(inbox.take().expect("read"), []);
}

/// The messages of the lines that have their end.
fn whole(bytes: &[u8]) -> Vec<SteeringMessage> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let lines = bytes[..end].split(|byte| *byte == b'\n');
    newest_of_each(lines.filter_map(|line| serde_json::from_slice(line).ok()))
}
