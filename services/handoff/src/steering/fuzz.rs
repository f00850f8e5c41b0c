//! The file with messages, whatever a crash or a full disk left in it.

use std::fs;

use super::*;
use crate::fuzz::folder;

/// Any bytes in place of the file. Its whole lines are taken once, in order, of each run
/// the newest; what
/// is kept after them is taken next, and nothing else.
pub fn steering(bytes: &[u8]) {
    let folder = folder();
    let path = path(folder.path(), "r");
    fs::write(&path, bytes).expect("write");
    let inbox = Inbox::beside(&folder.path().join("r.events"));
    assert_eq!(inbox.take().expect("read"), whole(bytes));
    let message = SteeringMessage {
        run_id: "next".to_owned(),
        text: String::from_utf8_lossy(bytes).into_owned(),
    };
    for _ in 0..2 {
        keep(&path, &message).expect("it has room");
    }
    let taken = inbox.take().expect("read");
    // The newest of one run.
    assert_eq!(taken, [message]);
    assert_eq!(inbox.take().expect("read"), []);
}

/// The messages of the lines that have their end.
fn whole(bytes: &[u8]) -> Vec<SteeringMessage> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let lines = bytes[..end].split(|byte| *byte == b'\n');
    newest_of_each(lines.filter_map(|line| serde_json::from_slice(line).ok()))
}
