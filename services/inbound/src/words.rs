//! What the agent is told of a message.

use openclaw_proto::channel::{Attachment, HandIn, Message};
use openclaw_proto::gateway::ChatKind;

/// Characters of what a message answers to.
const QUOTED: usize = 500;

/// What somebody said, in words: whom it answers to, in groups who says it, and
/// what came with it. `paths` are of the attachments, in their order; None: one
/// could not be had.
pub fn said(hand_in: &HandIn, message: &Message, paths: &[Option<String>]) -> String {
    let mut parts = Vec::new();
    if let Some(quoted) = message.reply_to.as_ref().filter(|it| !it.text.is_empty()) {
        let text: String = quoted.text.chars().take(QUOTED).collect();
        let who = if quoted.is_own {
            "you"
        } else {
            quoted.sender.as_str()
        };
        let text = text.replace('\n', "\n> ");
        parts.push(format!("[Replying to {}]\n> {text}", one_line(who)));
    }
    let text = message.text.trim();
    if !text.is_empty() {
        let name = name(hand_in);
        parts.push(match hand_in.place.chat {
            ChatKind::Direct => text.to_owned(),
            _ => format!("{name}: {text}"),
        });
    }
    let paths = paths.iter().chain(std::iter::repeat(&None));
    let attachments = message.attachments.iter().zip(paths);
    parts.extend(attachments.map(|(attachment, path)| attached(attachment, path.as_deref())));
    parts.join("\n\n")
}

fn attached(attachment: &Attachment, path: Option<&str>) -> String {
    let kind = one_line(&attachment.kind);
    match path {
        Some(path) => format!(
            "[media attached: {path} ({})]",
            one_line(&attachment.mime_type)
        ),
        None => {
            let why = match attachment.missing.as_str() {
                "" => "it could not be had",
                why => why,
            };
            let name = one_line(&attachment.name);
            format!(
                "[{kind} {name:?} came with the message and is missing: {}]",
                one_line(why)
            )
        }
    }
}

/// What people call whoever says it.
fn name(hand_in: &HandIn) -> String {
    let sender = &hand_in.sender;
    let names = [&sender.display_name, &sender.user_name, &sender.id];
    let name = names.into_iter().find(|name| !name.trim().is_empty());
    one_line(name.map_or("somebody", String::as_str))
}

/// Without what would end a line or a bracket.
fn one_line(text: &str) -> String {
    let plain = text
        .chars()
        .filter(|c| !c.is_control() && !"[]".contains(*c));
    plain.take(100).collect::<String>().trim().to_owned()
}
