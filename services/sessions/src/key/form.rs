//! The forms that keys had over time, and the one they have now.

/// Digits of an E.164 number (ITU-T E.164 §6.2.1): 15 at most; shorter than
/// three there is no number.
pub const E164_DIGITS: std::ops::RangeInclusive<usize> = 3..=15;

/// Second parts that say what kind of chat follows; a part that is none of
/// these is a peer of a direct chat. `dm` is the older word for `direct`.
const KINDS: [&str; 7] = [
    "direct", "dm", "group", "channel", "room", "thread", "topic",
];

/// First parts that are no channels: keys such as `cron:<job>` stay as they are below the agent.
const SOURCES: [&str; 10] = [
    "direct",
    "cron",
    "hook",
    "subagent",
    "acp",
    "openai",
    "openresponses",
    "explicit",
    "recovered",
    "imported",
];

/// What WhatsApp's group ids end in.
const WHATSAPP_GROUP: &str = "@g.us";

/// The canonical rest of a lowercase key that names no agent.
pub(super) fn canonical(key: &str) -> String {
    let Some((first, rest)) = key.split_once(':') else {
        return alone(key);
    };
    if first == "group" {
        return format!("{}:group:{rest}", group_channel(rest));
    }
    if first == "dm" {
        return current(&format!("direct:{rest}"));
    }
    if SOURCES.contains(&first) || names_chat(rest) || names_account_chat(rest) {
        return current(key);
    }
    if first == "whatsapp" && rest.ends_with(WHATSAPP_GROUP) {
        return format!("whatsapp:group:{rest}");
    }
    current(&format!("{first}:direct:{rest}"))
}

/// The current form of what follows `agent:<agent>:`: `dm` became `direct`, and
/// phone numbers have one spelling.
pub(super) fn current(rest: &str) -> String {
    let mut parts: Vec<&str> = rest.split(':').collect();
    let kind = parts
        .iter()
        .take(3)
        .position(|part| matches!(*part, "direct" | "dm"));
    let Some(kind) = kind.filter(|kind| kind + 1 < parts.len()) else {
        return rest.to_owned();
    };
    parts[kind] = "direct";
    let number = phone_number(parts[kind + 1]);
    parts[kind + 1] = &number;
    parts.join(":")
}

/// Whether `rest`, what follows a channel, begins with a kind of chat.
pub(super) fn names_chat(rest: &str) -> bool {
    let kind = rest.split_once(':').map(|(kind, _)| kind);
    kind.is_some_and(|kind| KINDS.contains(&kind))
}

/// Whether it is `<account>:direct:<peer>`.
fn names_account_chat(rest: &str) -> bool {
    let after_account = rest.split_once(':').map(|(_, after)| after);
    after_account.is_some_and(|after| after.starts_with("direct:") || after.starts_with("dm:"))
}

/// A key of one part.
fn alone(key: &str) -> String {
    let number = phone_number(key);
    if key.is_empty() {
        "main".to_owned()
    } else if is_e164(&number) {
        // The first versions knew WhatsApp alone, and a key was a number.
        format!("whatsapp:direct:{number}")
    } else if key.ends_with(WHATSAPP_GROUP) {
        format!("whatsapp:group:{key}")
    } else {
        key.to_owned()
    }
}

fn group_channel(id: &str) -> &'static str {
    if id.ends_with(WHATSAPP_GROUP) {
        "whatsapp"
    } else {
        "unknown"
    }
}

/// E.164: a number is written with `+` and digits only. Anything else that
/// starts with `+` is left alone.
pub(super) fn phone_number(peer: &str) -> String {
    let formatting = |c: char| matches!(c, ' ' | '-' | '.' | '(' | ')' | '/' | '\u{a0}');
    let bare: String = peer.chars().filter(|c| !formatting(*c)).collect();
    if peer.starts_with('+') && is_e164(&bare) {
        bare
    } else {
        peer.to_owned()
    }
}

fn is_e164(text: &str) -> bool {
    text.strip_prefix('+').is_some_and(|digits| {
        E164_DIGITS.contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit())
    })
}
