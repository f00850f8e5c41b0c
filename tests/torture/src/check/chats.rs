//! What stands in the chats: every message has its answer, whole and once.

use std::collections::BTreeMap;

use openclaw_proto::event::{Done, Kind};
use telegram_double::{Double, Sent};

use super::ledger::Run;
use crate::record::{Message, RecordState};

/// What the daemon says of an answer that it could not know of whether it was
/// taken.
const DOUBT: &str = "may be there twice";

/// What the line begins with that says which tool is at work, until the answer
/// takes its place.
const TOOL: &str = "🔧 ";

/// Of answers in chats.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Answers {
    /// Messages that were said.
    pub(crate) said: usize,
    /// Answers that stand there a second time, whole.
    pub(crate) doubled: usize,
    /// Beginnings of answers that were shown, and stand beside the whole one.
    pub(crate) left: usize,
    /// What the daemon said to be in doubt.
    pub(crate) doubts: usize,
}

/// Counts the answers, and says what is wrong beside those that are there twice.
pub(super) fn check(
    double: &Double,
    log: &[String],
    pages: &RecordState,
    wrong: &mut Vec<String>,
) -> Answers {
    let mut answers = Answers {
        said: pages.said.len(),
        doubts: log.iter().filter(|line| line.contains(DOUBT)).count(),
        ..Answers::default()
    };
    let mut chats: BTreeMap<i64, Vec<Sent>> = BTreeMap::new();
    for said in pages.said.values() {
        let chat = chats
            .entry(said.chat)
            .or_insert_with(|| double.sent_to(said.chat));
        let key = &said.errand.key;
        let whole = chat.iter().filter(|it| it.text == said.errand.answer);
        match whole.count() {
            0 => wrong.push(format!("{key}: not answered in its chat")),
            times => answers.doubled += times - 1,
        }
        chat.retain(|it| it.text != said.errand.answer);
        let all = chat.len();
        let shown = |text: &str| said.errand.answer.starts_with(text) || text.starts_with(TOOL);
        chat.retain(|it| !shown(&it.text));
        answers.left += all - chat.len();
    }
    for (chat, left) in chats {
        let left = left.iter();
        wrong.extend(left.map(|it| format!("chat {chat}: {:?} answers nothing", it.text)));
    }
    if answers.doubled + answers.left > answers.doubts {
        wrong.push(format!(
            "{} answers are there twice and {} beginnings are left, of which {} were told",
            answers.doubled, answers.left, answers.doubts
        ));
    }
    answers
}

/// What was said, as messages whose runs the ledger names.
pub(super) fn acknowledge(runs: &mut [Run], pages: &mut RecordState) {
    for run in runs {
        let Some(said) = pages.said.get(&run.key) else {
            continue;
        };
        run.key.clone_from(&said.errand.key);
        let message = Message {
            errand: said.errand.clone(),
            run_id: run.run_id.clone(),
            session_key: run.session_key.clone(),
            // The chat says it.
            outcome: Some(Kind::Done(Done::default())),
        };
        pages.messages.insert(run.key.clone(), message);
    }
}
