//! The file with decisions, whatever a crash or a full disk left in it.

use std::fs;
use std::time::Duration;

use tokio::time::timeout;

use super::*;
use crate::fuzz::{folder, runtime};

/// For a decision that is in the file.
const PATIENCE: Duration = Duration::from_secs(8);

/// Any bytes in place of the file. What is decided after them holds, once, and
/// changes nothing before it; whoever waits hears the first decision.
pub fn decisions(bytes: &[u8]) {
    let folder = folder();
    let path = folder.path().join("r.decisions");
    fs::write(&path, bytes).expect("write");
    let before = whole(bytes);
    assert!(lines(bytes).eq(before.iter().cloned()));
    let text = String::from_utf8_lossy(bytes);
    let mine = Decided {
        id: "mine".to_owned(),
        decision: Decision::Deny,
        by: text.chars().take(BY_LIMIT).collect(),
        key: String::new(),
    };
    let held = before.iter().find(|line| line.id == mine.id).cloned();
    let heard = runtime().block_on(async {
        let decisions = Decisions::new(path.clone());
        let waiting = decisions.expect(&mine.id).expect("watch");
        match decide(&path, &mine) {
            Ok(()) => assert_eq!(held, None),
            Err(Refused::Decided) => assert!(held.is_some()),
            Err(error) => panic!("{error}"),
        }
        timeout(PATIENCE, waiting).await.expect("it is there")
    });
    let wanted = held.clone().unwrap_or_else(|| mine.clone());
    assert_eq!(heard.expect("the file can be read"), wanted);
    let other = Decided {
        decision: Decision::AllowAlways,
        ..mine.clone()
    };
    assert!(matches!(decide(&path, &other), Err(Refused::Decided)));
    let added = held.is_none().then_some(mine);
    let after = whole(&fs::read(&path).expect("read"));
    assert!(after.into_iter().eq(before.into_iter().chain(added)));
}

/// The decisions of the lines that have their end.
fn whole(bytes: &[u8]) -> Vec<Decided> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let lines = bytes[..end].split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}
