//! Buttons, and what they say when they are pressed: a decision about an
//! approval's question, or words.

use openclaw_proto::approval::Decision;
use openclaw_proto::outbox::Button;

/// What the data of such a button begins with.
const PREFIX: &str = "approve";

/// What the data of a button begins with that says something.
const SAYING: &str = "say:";

/// Characters of a command that are shown with what was decided: one message has both.
const COMMAND: usize = 1000;

/// Bytes of a button's data.
const DATA_LIMIT: usize = 64;

/// Characters of what a button says.
pub(crate) const LABEL: usize = 200;

/// The buttons of the question `id`; none where a provider would not take them.
pub fn buttons(id: &str, can_be_always: bool) -> Vec<Vec<Button>> {
    let button = |decision: Decision, text: &str| Button {
        text: text.to_owned(),
        data: format!("{PREFIX}:{}:{id}", short(decision)),
        url: String::new(),
    };
    let mut row = vec![button(Decision::AllowOnce, "Allow once")];
    if can_be_always {
        row.push(button(Decision::AllowAlways, "Always allow"));
    }
    row.push(button(Decision::Deny, "Deny"));
    if row.iter().all(|button| button.data.len() <= DATA_LIMIT) {
        vec![row]
    } else {
        Vec::new()
    }
}

/// The question and the decision that a pressed button's data says.
pub fn decision_of(data: &str) -> Option<(&str, Decision)> {
    let (word, id) = data
        .strip_prefix(PREFIX)?
        .strip_prefix(':')?
        .split_once(':')?;
    let decision = Decision::ALL.into_iter().find(|it| short(*it) == word)?;
    (!id.is_empty()).then_some((id, decision))
}

/// The button that says `text` for whoever presses it; None: there is nothing to say.
/// A channel that takes less data finds it by what the button shows.
pub(crate) fn saying(text: &str) -> Option<Button> {
    let text: String = text.trim().chars().take(LABEL).collect();
    (!text.is_empty()).then(|| Button {
        data: format!("{SAYING}{text}"),
        text,
        url: String::new(),
    })
}

/// `decision` below the command that it is about, in Markdown.
pub fn with_command(command: &str, decision: &str) -> String {
    let mut shown: String = command.chars().take(COMMAND).collect();
    if shown.len() < command.len() {
        shown.push('…');
    }
    let ticks = shown.split(|c| c != '`').map(str::len).max();
    let fence = "`".repeat(ticks.unwrap_or_default().max(2) + 1);
    format!("{fence}\n{shown}\n{fence}\n\n{decision}")
}

/// What a pressed button's data says, if it says something.
pub fn said_by(data: &str) -> Option<&str> {
    data.strip_prefix(SAYING).filter(|text| !text.is_empty())
}

fn short(decision: Decision) -> &'static str {
    match decision {
        Decision::AllowOnce => "once",
        Decision::AllowAlways => "always",
        Decision::Deny => "deny",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn button_says_its_question_and_decision() {
        let id = "0b8d4c2e-6f0c-4a57-9a0e-1f5b8e0a7c11";
        let rows = buttons(id, true);
        let said: Vec<_> = rows[0].iter().map(|it| decision_of(&it.data)).collect();
        assert_eq!(said, Decision::ALL.map(|decision| Some((id, decision))));
        assert_eq!(buttons(id, false)[0].len(), 2);
        assert!(buttons(&"x".repeat(60), true).is_empty());
        for nonsense in [
            "",
            "approve",
            "approve:once:",
            "approve:maybe:1",
            "deny:1",
            "approved:once:1",
        ] {
            assert_eq!(decision_of(nonsense), None, "{nonsense}");
        }
    }
    #[test]
    fn decision_stands_below_its_command() {
        assert_eq!(with_command("rm a", "No."), "```\nrm a\n```\n\nNo.");
        let ticks = with_command("echo '```'", "No.");
        assert_eq!(ticks, "````\necho '```'\n````\n\nNo.");
        let long = with_command(&"ä".repeat(COMMAND + 1), "No.");
        assert!(long.ends_with("ä…\n```\n\nNo."), "{long}");
    }
}
