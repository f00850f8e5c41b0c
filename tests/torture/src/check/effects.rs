//! What tools did: once, or not at all where the turn was killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use openclaw_proto::event::Kind;

use crate::errand::EFFECTS;
use crate::record::RecordState;

pub(super) fn check(workspace: &Path, pages: &RecordState) -> anyhow::Result<Vec<String>> {
    let path = workspace.join(EFFECTS);
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let mut done: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines() {
        *done.entry(line).or_default() += 1;
    }
    let mut wrong = Vec::new();
    for message in pages.messages.values() {
        let whole = matches!(message.outcome, Some(Kind::Done(_)));
        for effect in &message.errand.effects {
            match (done.remove(effect.as_str()).unwrap_or(0), whole) {
                (1, _) | (0, false) => {}
                (times, _) => wrong.push(format!(
                    "{}: run {} did {effect} {times} times",
                    message.errand.key, message.run_id
                )),
            }
        }
    }
    let nobody = done.keys().filter(|line| line.starts_with(&pages.mark));
    wrong.extend(nobody.map(|line| format!("{line}: done, but no such message was acknowledged")));
    Ok(wrong)
}
