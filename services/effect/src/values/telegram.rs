//! What Telegram takes, and what its daemon can do with it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::{Map, Value, json};

/// Why somebody who is named is nobody.
pub(super) const NOBODY: &str = "matches nobody: name people by their numeric ids, as 123456789, \
     telegram:123456789 or tg:123456789 (in allowlists * is everybody); a name may change hands. \
     Whoever writes /whoami to the bot is told the id";

/// Why a group is listed in vain.
pub(super) const UNANSWERED: &str = "nobody is answered there: groupPolicy is allowlist, and \
     neither groupAllowFrom nor the group's allowFrom names anybody (who is paired is not): set \
     groupAllowFrom to the ids of those who may talk, or groupPolicy to open";

/// Why a policy lets nobody in but those of a list.
pub(super) const NOT_OPEN: &str = "open lets in everybody where allowFrom has *, and it has none: \
     strangers are left without a word. Add \"*\" to allowFrom, or set dmPolicy to allowlist";

/// Why a token is none.
pub(super) const NO_TOKEN: &str = "is no token of a bot, which is digits, a colon and what \
     BotFather gave behind it, such as 123456789:AAE-x: the daemon cannot connect with it. \
     openclawctl channels login telegram takes another one";

/// What a list of capabilities may have.
pub(super) const CAPABILITY: &str = "inlineButtons";

/// Why a port is none.
pub(super) const ANY_PORT: &str =
    "0 is any port, where nobody calls: 8787 is used; set the port that is called";

/// Why a host is none.
pub(super) const NO_HOST: &str = "is no address of this machine and no name of one: 127.0.0.1 is \
     used; set an address such as 0.0.0.0";

/// Commands that the gateway answers itself, with their other names.
pub const NATIVE: &[&str] = &[
    "abort",
    "agents",
    "approve",
    "commands",
    "compact",
    "exec",
    "help",
    "id",
    "model",
    "models",
    "name",
    "new",
    "queue",
    "reason",
    "reasoning",
    "reset",
    "sessions",
    "status",
    "stop",
    "t",
    "think",
    "thinking",
    "tools",
    "usage",
    "v",
    "verbose",
    "whoami",
];

/// The emoji that Telegram takes as reactions, without what says how they are drawn. Here
/// alone: its double reads the same file, and others' libraries judge it
/// (`tests/integration/tests/suite/telegram_judges.rs`).
const REACTIONS: &str = include_str!("reactions.txt");

/// Says that an emoji is drawn in colours.
const COLOURED: char = '\u{fe0f}';

/// Characters of a command's name.
const NAME_LIMIT: usize = 32;

/// Characters of a command's description.
const DESCRIPTION_LIMIT: usize = 256;

/// Characters of a webhook's secret.
const SECRET_LIMIT: usize = 256;

/// The ports that Telegram calls.
const PORTS: [u16; 4] = [80, 88, 443, 8443];

/// Whether `written` can name somebody, or everybody.
pub(super) fn is_person(written: &str) -> bool {
    let written = written.trim();
    if written == "*" {
        return true;
    }
    let id = match written.split_once(':') {
        None => written,
        Some((before, id)) => {
            let before = before.to_ascii_lowercase();
            if !["telegram", "tg"].contains(&before.as_str()) {
                return false;
            }
            id.trim()
        }
    };
    is_id(id)
}

/// Whether `written` can be the token of a bot.
pub(super) fn is_token(written: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let parts = written.trim().split_once(':');
    parts.is_some_and(|(bot, secret)| {
        let is_bot = !bot.is_empty() && bot.bytes().all(|it| it.is_ascii_digit());
        is_bot && !secret.is_empty() && secret.chars().all(is_plain)
    })
}

/// Whether `written` can be a chat that a binding names: an id, with its topic or not.
pub(super) fn is_chat(written: &str) -> bool {
    match written.split_once(":topic:") {
        Some((chat, topic)) => chat.trim() != "*" && is_person(chat) && is_id(topic),
        None => is_person(written),
    }
}

fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// Why the key of a group or topic is none.
pub(super) fn place_problem(key: &str, section: &str) -> Option<String> {
    if key == "*" || is_id(key) {
        return None;
    }
    let (place, example) = match section {
        "topics" => ("topic", "42"),
        _ => ("group", "-1001234567890"),
    };
    Some(format!(
        "names no {place}: use its numeric id, such as {example}, or * for all others"
    ))
}

/// Why nothing goes by this proxy.
pub(crate) fn proxy_problem(proxy: &str) -> Option<String> {
    let (scheme, rest) = proxy.trim().split_once("://").unwrap_or_default();
    let is_spoken = ["http", "https"]
        .iter()
        .any(|it| scheme.eq_ignore_ascii_case(it));
    (!is_spoken || host_and_port(rest).is_none()).then(|| {
        "must be the URL of an HTTP proxy, http:// or https:// (SOCKS is not spoken): set it to \
         one, or take it out; nothing is sent to Telegram without the proxy that is wanted"
            .to_owned()
    })
}

/// Why there is no API.
pub(super) fn root_problem(root: &str) -> Option<String> {
    let (scheme, rest) = root.trim().split_once("://").unwrap_or_default();
    let is_spoken = ["http", "https"]
        .iter()
        .any(|it| scheme.eq_ignore_ascii_case(it));
    (!is_spoken || host_and_port(rest).is_none()).then(|| {
        "must be the http:// or https:// URL of a Bot API server, or be taken out for Telegram's \
         own; until then nothing is sent or heard"
            .to_owned()
    })
}

/// The host of what follows the scheme of a URL, and its port.
fn host_and_port(rest: &str) -> Option<(String, Option<u16>)> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let place = authority.rsplit_once('@').map_or(authority, |(_, it)| it);
    let (host, port) = match place.strip_prefix('[') {
        Some(inner) => {
            let (host, after) = inner.split_once(']')?;
            (host, after.strip_prefix(':'))
        }
        None => place
            .split_once(':')
            .map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if host.is_empty() || host.contains(is_odd) {
        return None;
    }
    let port = match port {
        None => None,
        Some(port) => Some(port.parse::<u16>().ok().filter(|port| *port != 0)?),
    };
    Some((host.to_ascii_lowercase(), port))
}

/// Whether Telegram, or the server of one's own at `root`, can call `url`; why not, and
/// what is done instead.
pub fn webhook_url(url: &str, root: Option<&str>) -> Result<(), String> {
    let refused = |why: &str| {
        Err(format!(
            "{why}; it is not used, and Telegram is asked for messages instead (long polling)"
        ))
    };
    let (scheme, rest) = url.trim().split_once("://").unwrap_or_default();
    let is = |name: &str| scheme.eq_ignore_ascii_case(name);
    let Some((host, port)) = host_and_port(rest).filter(|_| is("http") || is("https")) else {
        return refused("must be the https:// URL that Telegram calls");
    };
    let address = host.parse::<IpAddr>().ok();
    let is_here = host == "localhost" || address.is_some_and(|it| it.is_loopback());
    // A server of one's own calls whom it reaches, by http too.
    let is_near = address.is_some_and(|it| match it {
        IpAddr::V4(it) => it.is_private() || it.is_link_local(),
        IpAddr::V6(it) => it.is_unique_local(),
    });
    if is_here || (root.is_some() && is_near) {
        return Ok(());
    }
    if !is("https") {
        return refused("Telegram calls https:// alone");
    }
    match port {
        Some(port) if root.is_none() && !PORTS.contains(&port) => {
            refused("Telegram calls the ports 443, 80, 88 and 8443 alone")
        }
        _ => Ok(()),
    }
}

/// Whether calls of a webhook can be taken at `host`.
pub(super) fn is_host(host: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_label = |label: &str| !label.is_empty() && label.chars().all(is_fine);
    let is_name = || {
        // What ends in a number is an address, or none.
        let last = host.rsplit('.').next().unwrap_or_default();
        host.split('.').all(is_label) && !last.bytes().all(|it| it.is_ascii_digit())
    };
    host.parse::<IpAddr>().is_ok() || is_name()
}

/// The path of a webhook as it is used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Path<'a> {
    /// As it is written.
    Whole(&'a str),
    /// With a slash before it.
    Rooted(String),
    /// No call ever has it.
    None,
}

impl Path<'_> {
    /// What is said of it.
    pub(super) fn said(&self) -> Option<String> {
        match self {
            Self::Whole(_) => None,
            Self::Rooted(path) => {
                Some(format!("a path begins with /: {path} is used; write it so"))
            }
            Self::None => Some(
                "no call has such a path: /telegram-webhook is used; write a path such as /hook, \
                 without spaces, ? and #"
                    .to_owned(),
            ),
        }
    }
}

/// Reads the path of a webhook.
pub(super) fn webhook_path(path: &str) -> Path<'_> {
    let is_odd = |c: char| !c.is_ascii_graphic() || "?#".contains(c);
    if path.is_empty() || path.contains(is_odd) || path.contains("://") {
        Path::None
    } else if path.starts_with('/') {
        Path::Whole(path)
    } else {
        Path::Rooted(format!("/{path}"))
    }
}

/// Why Telegram takes no such secret.
pub fn secret_problem(secret: &str) -> Option<String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_secret = (1..=SECRET_LIMIT).contains(&secret.len()) && secret.chars().all(is_fine);
    (!is_secret).then(|| {
        format!(
            "Telegram takes 1 to {SECRET_LIMIT} letters, digits, _ and -: one that is made by the \
             daemon is used; set another one"
        )
    })
}

/// Why Telegram puts no such reaction on a message; empty is none.
pub(super) fn reaction_problem(emoji: &str) -> Option<String> {
    let plain = emoji.trim().replace(COLOURED, "");
    let is_one = plain.is_empty() || REACTIONS.split_whitespace().any(|it| it == plain);
    (!is_one).then(|| {
        "is none of Telegram's reactions, and no message gets it: set one of them, such as 👀 \
         or 👍"
            .to_owned()
    })
}

/// Whether the gateway's own commands are in the menu.
pub(super) fn offers_ours(commands: Option<&Value>) -> bool {
    commands.and_then(|it| it.get("native")) != Some(&Value::Bool(false))
}

/// A command as the menu has it: its name and description; or its key that is wrong,
/// and why it is left out.
type Read = Result<(String, String), (&'static str, String)>;

/// Reads commands of one's own, as OpenClaw does.
pub(super) fn commands(written: &[Value], offers_ours: bool) -> Vec<Read> {
    let mut seen = BTreeSet::new();
    let read = written.iter().map(|command| {
        let text = |key: &str| command[key].as_str().unwrap_or_default().trim();
        let name = text("command");
        let name = name.strip_prefix('/').unwrap_or(name);
        let name = name.to_lowercase().replace('-', "_");
        let wrong = |problem: &str| Err(("command", format!("{problem}; it is left out")));
        let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || name.len() > NAME_LIMIT || !name.chars().all(is_fine) {
            return wrong("Telegram takes names of 1 to 32 letters a-z, digits and _");
        }
        if offers_ours && NATIVE.contains(&name.as_str()) {
            return wrong("the gateway answers the command of that name itself: use another name");
        }
        if !seen.insert(name.clone()) {
            return wrong("there is a command of that name already: use another name");
        }
        let description = text("description");
        if description.is_empty() || description.chars().count() > DESCRIPTION_LIMIT {
            let problem = "Telegram takes a description of 1 to 256 characters; the command is \
                           left out";
            return Err(("description", problem.to_owned()));
        }
        Ok((name, description.to_owned()))
    });
    read.collect()
}

/// Leaves in the settings of an account, which those of all accounts are in already,
/// what can act, as it acts.
pub fn keep_acting(account: &mut Map<String, Value>) {
    let text = |account: &Map<String, Value>, key: &str| {
        account.get(key).and_then(Value::as_str).map(str::to_owned)
    };
    let root = text(account, "apiRoot");
    if text(account, "webhookUrl").is_some_and(|url| webhook_url(&url, root.as_deref()).is_err()) {
        account.remove("webhookUrl");
    }
    match text(account, "webhookPath").as_deref().map(webhook_path) {
        Some(Path::Rooted(path)) => drop(account.insert("webhookPath".to_owned(), json!(path))),
        Some(Path::None) => drop(account.remove("webhookPath")),
        Some(Path::Whole(_)) | None => {}
    }
    if text(account, "webhookHost").is_some_and(|host| !is_host(&host)) {
        account.remove("webhookHost");
    }
    if account.get("webhookPort") == Some(&json!(0)) {
        account.remove("webhookPort");
    }
    let offers_ours = offers_ours(account.get("commands"));
    if let Some(Value::Array(written)) = account.get("customCommands") {
        let read = commands(written, offers_ours).into_iter().flatten();
        let read =
            read.map(|(name, description)| json!({"command": name, "description": description}));
        let read: Vec<Value> = read.collect();
        account.insert("customCommands".to_owned(), json!(read));
    }
}
