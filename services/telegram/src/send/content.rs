//! What a delivery is in messages.

use openclaw_channel::rich::{Rich, Style, read};
use openclaw_proto::approval::{SCREEN_ROWS, rows};
use openclaw_proto::gateway::ChatKind;
use openclaw_proto::outbox::{Button, Delivery, Kind};
use serde_json::{Value, json};

use crate::bot::Bot;
use crate::read::{LABEL, said_by_label};
use crate::settings::ErrorPolicy;

/// What is told of an answer that has nothing to it.
const EMPTY: &str = "_(the reply is empty)_";

/// Characters of a command's beginning that are said again where it is longer than the screen.
const BEGINNING: usize = 160;
/// What the data of the button begins with that allows for good.
const ALWAYS: &str = "approve:always:";

/// Bytes of a button's data.
const DATA: usize = 64;

/// What has no width and is no space.
const UNSEEN: [char; 5] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];

/// One message of a delivery.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// A text that fits.
    Text(Rich),
    /// The file of this number.
    File(u32),
    /// An emoji on what is answered.
    Reaction,
}

/// The messages of `delivery`, in their order.
pub(super) fn parts(bot: &Bot, delivery: &Delivery) -> Vec<Part> {
    let limit = bot.reader().options.text_chunk_limit;
    let extras = &delivery.extras;
    let mut parts = Vec::new();
    if !extras.reaction.is_empty() && !extras.answers_id.is_empty() {
        parts.push(Part::Reaction);
    }
    let text = text(bot, delivery);
    parts.extend(text.split(limit).into_iter().map(Part::Text));
    let files = 0..u32::try_from(extras.files.len()).unwrap_or(u32::MAX);
    parts.extend(files.map(Part::File));
    parts
}

fn text(bot: &Bot, delivery: &Delivery) -> Rich {
    let mut text = words(bot, delivery);
    if !shows_buttons(bot, delivery) {
        let instead = instead_of_buttons(delivery);
        if !text.runs().is_empty() && !instead.is_empty() {
            text.push("\n\n", &Style::default());
        }
        text.push(&instead, &Style::default());
    }
    text
}

/// What is said where there would be buttons: how to decide, or what there is to choose
/// from. Empty: there would be none.
fn instead_of_buttons(delivery: &Delivery) -> String {
    let rows = &delivery.extras.buttons;
    match &delivery.kind {
        _ if rows.is_empty() => String::new(),
        Kind::Question { id, .. } => {
            let always = if can_be_always(delivery) {
                "allow-always, "
            } else {
                ""
            };
            format!("Decide with /approve {id} allow-once; or {always}deny in its place")
        }
        _ => {
            let label = |button: &Button| match button.url.as_str() {
                "" => button.text.clone(),
                url => format!("{}: {url}", button.text),
            };
            let labels: Vec<String> = rows.iter().flatten().map(label).collect();
            labels.join(" | ")
        }
    }
}

fn words(bot: &Bot, delivery: &Delivery) -> Rich {
    match &delivery.kind {
        Kind::Reply {
            text,
            state,
            reason,
        } => {
            if says_nothing(delivery) {
                return read(EMPTY);
            }
            let told = failure(bot, delivery, state, reason);
            let both = [text.trim(), told.as_str()];
            let both: Vec<_> = both.into_iter().filter(|it| !it.is_empty()).collect();
            read(&both.join("\n\n"))
        }
        Kind::Announcement { text } => read(text),
        Kind::Question {
            tool,
            command,
            cwd,
            reason,
            origin,
            only_once,
            ..
        } => question(tool, command, cwd, [origin, reason, only_once]),
        Kind::Edit { .. } | Kind::Typing => Rich::default(),
    }
}

/// Whether `delivery` is an answer that has nothing to it, which would be taken for
/// none. The gateway hands over no answer of an agent that chose to be silent.
fn says_nothing(delivery: &Delivery) -> bool {
    let Kind::Reply { text, state, .. } = &delivery.kind else {
        return false;
    };
    let extras = &delivery.extras;
    state == "done"
        && is_blank(text)
        && extras.files.is_empty()
        && (extras.reaction.is_empty() || extras.answers_id.is_empty())
}

/// Whether nothing of `text` is seen. Telegram refuses what has only such characters.
fn is_blank(text: &str) -> bool {
    let is_unseen = |it: char| it.is_whitespace() || UNSEEN.contains(&it);
    read(text).text().chars().all(is_unseen)
}

/// What is told of a run that did not end well.
fn failure(bot: &Bot, delivery: &Delivery, state: &str, reason: &str) -> String {
    let Kind::Reply { text, .. } = &delivery.kind else {
        return String::new();
    };
    match state {
        "done" => String::new(),
        // Whoever stopped it knows, unless half an answer stands there.
        "aborted" if text.trim().is_empty() => String::new(),
        "aborted" => "_(stopped)_".to_owned(),
        _ => {
            let is_told = match bot.reader().options.error_policy {
                ErrorPolicy::Always => true,
                ErrorPolicy::Once => !bot.was_told(&delivery.place.to, reason),
                ErrorPolicy::Silent => false,
            };
            let words = if reason.is_empty() {
                "the answer is not whole"
            } else {
                reason
            };
            if is_told {
                format!("⚠️ {}", escaped(words))
            } else {
                String::new()
            }
        }
    }
}

/// `words` so that Markdown shows them as they are.
fn escaped(words: &str) -> String {
    let mut text = String::new();
    for character in words.chars() {
        if "\\`*_[]<>~|#".contains(character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// Whether a call that waits can be allowed for good: what is longer than a screen nobody
/// has before them when they decide.
fn can_be_always(delivery: &Delivery) -> bool {
    match &delivery.kind {
        Kind::Question {
            command,
            can_be_always,
            ..
        } => *can_be_always && rows(command) <= SCREEN_ROWS,
        _ => true,
    }
}

fn question(tool: &str, command: &str, cwd: &str, more: [&str; 3]) -> Rich {
    let [origin, reason, only_once] = more;
    let plain = Style::default();
    let code = Style {
        is_code: true,
        ..plain.clone()
    };
    let block = Style {
        block: Some("".into()),
        ..plain.clone()
    };
    let mut rich = Rich::default();
    rich.push("Allow ", &plain);
    rich.push(tool, &code);
    rich.push("?\n\n", &plain);
    rich.push(command, &block);
    if !cwd.is_empty() {
        rich.push("\n\nin ", &plain);
        rich.push(cwd, &code);
    }
    if !origin.is_empty() {
        rich.push("\n\nasked by ", &plain);
        rich.push(origin, &plain);
    }
    if !reason.is_empty() {
        rich.push("\n\n", &plain);
        rich.push(reason, &plain);
    }
    let rows = rows(command);
    let only_once = if rows > SCREEN_ROWS {
        "it is longer than a screen"
    } else {
        only_once
    };
    if !only_once.is_empty() {
        rich.push(&format!("\n\nthis time only: {only_once}"), &plain);
    }
    // What stands beside the buttons is what is decided about.
    if rows > SCREEN_ROWS {
        rich.push(
            &format!("\n\n{} characters; ", command.chars().count()),
            &plain,
        );
        rich.push(&beginning(tool), &code);
        rich.push(" runs what begins with\n\n", &plain);
        rich.push(&beginning(command), &block);
    }
    rich
}

/// As much of `text` as shows what it begins to do.
fn beginning(text: &str) -> String {
    let line = text.split('\n').next().unwrap_or_default();
    let mut beginning: String = line.chars().take(BEGINNING).collect();
    if beginning.len() < text.len() {
        beginning.push('…');
    }
    beginning
}

/// The buttons below the last message.
pub(super) fn keyboard(bot: &Bot, delivery: &Delivery) -> Option<Value> {
    let mut rows = delivery.extras.buttons.clone();
    if !can_be_always(delivery) {
        let is_always = |button: &Button| button.data.starts_with(ALWAYS);
        rows.iter_mut()
            .for_each(|row| row.retain(|it| !is_always(it)));
    }
    (!rows.is_empty() && shows_buttons(bot, delivery)).then(|| inline(&rows))
}

/// Whether there are buttons in the chat of `delivery`.
fn shows_buttons(bot: &Bot, delivery: &Delivery) -> bool {
    let is_direct = delivery.place.chat.map_or_else(
        || !delivery.place.to.starts_with('-'),
        |chat| chat == ChatKind::Direct,
    );
    bot.reader().options.has_buttons(is_direct)
}

/// `rows` as Telegram takes them.
fn inline(rows: &[Vec<Button>]) -> Value {
    let mut number = 0;
    let mut button = |button: &Button| {
        number += 1;
        if button.data.is_empty() {
            json!({"text": button.text, "url": button.url})
        } else if button.data.len() > DATA && button.data == said_by_label(&button.text) {
            json!({"text": button.text, "callback_data": format!("{LABEL}{number}")})
        } else {
            json!({"text": button.text, "callback_data": button.data})
        }
    };
    let rows: Vec<Vec<Value>> = rows
        .iter()
        .map(|row| row.iter().map(&mut button).collect())
        .collect();
    json!({"inline_keyboard": rows})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyboard_says_labels_that_are_longer_than_data() {
        let button = |text: &str, data: String| Button {
            text: text.to_owned(),
            data,
            url: String::new(),
        };
        let long = "ä".repeat(100);
        let rows = [
            vec![
                button(&long, format!("say:{long}")),
                button("No", "say:No".into()),
            ],
            vec![button("Deny", "approve:deny:1".into())],
        ];
        let keyboard = inline(&rows);
        let mut all = Vec::new();
        for row in keyboard["inline_keyboard"].as_array().unwrap() {
            for button in row.as_array().unwrap() {
                all.push(button["callback_data"].as_str().unwrap());
            }
        }
        assert_eq!(all, ["label:1", "say:No", "approve:deny:1"]);
    }
}
