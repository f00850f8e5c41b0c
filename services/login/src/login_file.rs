//! A login that lies where an agent could have put it: read beneath the agent's
//! folder, through no link, and shown without its secrets.

use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use nix::unistd::{Uid, User};
use openclaw_credentials::login::Login;
use openclaw_folder::Folder;
use openclaw_terminal::Failure;

use crate::contents::{self, Contents};
use crate::entry::now_ms;

/// Nobody here renews a CLI's login.
const ENDED: &str = "it has ended: log in again where it was made, and adopt that";

/// Characters of a text that the file says of itself.
const SHOWN: usize = 100;

/// A file that is where logins are.
pub(crate) struct LoginFile {
    pub(crate) login: Login,
    /// Seen from the agent's folder.
    pub(crate) place: String,
    /// Whose file it is.
    owner: String,
    /// When it was written, in local time.
    time: String,
    /// What it holds, or why it is no login.
    pub(crate) contents: Result<Contents, String>,
}

/// What is in the agent's home, and where earlier versions moved it.
pub(crate) fn look(agent: &Folder, login: Login) -> Result<Vec<LoginFile>, Failure> {
    let places = [
        format!("home/{}", login.in_home()),
        format!("auth/{}", login.earlier()),
    ];
    let mut all = Vec::new();
    for place in places {
        all.extend(one(agent, login, &place)?);
    }
    Ok(all)
}

fn one(agent: &Folder, login: Login, place: &str) -> Result<Option<LoginFile>, Failure> {
    let opened = agent.open_file(place);
    let Some((file, status)) = opened.with_context(|| format!("cannot look at {place}"))? else {
        return Ok(None);
    };
    let bytes = agent.read_open(file, &status, Path::new(place), contents::LIMIT);
    let contents = bytes.map_err(|error| error.to_string());
    Ok(Some(LoginFile {
        login,
        place: place.to_owned(),
        owner: owner(Uid::from_raw(status.st_uid)),
        time: time(status.st_mtime.saturating_mul(1000)),
        contents: contents.and_then(|bytes| contents::parse(login, &bytes)),
    }))
}

impl LoginFile {
    /// Whether turns can run on it.
    pub(crate) fn is_usable(&self) -> bool {
        let contents = self.contents.as_ref();
        contents.is_ok_and(|it| !has_ended(it))
    }

    /// For whoever decides. What the file says of itself is escaped.
    pub(crate) fn description(&self, agent_id: &str) -> String {
        let mut lines = vec![format!(
            "{} of {agent_id}: {}\n  file     of {}, written {}",
            self.login.title(),
            self.place,
            self.owner,
            self.time
        )];
        match &self.contents {
            Err(problem) => lines.push(format!("  problem  {problem}")),
            Ok(contents) => lines.extend(described(contents)),
        }
        lines.join("\n")
    }
}

fn described(contents: &Contents) -> Vec<String> {
    let mut lines = vec![format!(
        "  holds    {}, SHA-256 {}…",
        contents.holds.words(),
        contents.fingerprint
    )];
    let said = [
        ("account", contents.account.as_deref()),
        ("mail", contents.mail.as_deref()),
    ];
    for (name, text) in said {
        lines.extend(text.map(|text| format!("  {name:<8} {} (says the file)", escaped(text))));
    }
    let expires = match contents.expires_ms {
        None => "not said".to_owned(),
        Some(end) => time(i64::try_from(end).unwrap_or(i64::MAX)),
    };
    lines.push(format!("  expires  {expires}"));
    if has_ended(contents) {
        lines.push(format!("  problem  {ENDED}"));
    }
    lines
}

fn has_ended(contents: &Contents) -> bool {
    contents.expires_ms.is_some_and(|end| end <= now_ms())
}

/// A text that somebody else wrote: nothing in it reaches the terminal as it
/// is, and where it is cut is seen.
fn escaped(text: &str) -> String {
    let all: String = text.escape_default().collect();
    if all.chars().count() > SHOWN {
        all.chars().take(SHOWN).chain(['…']).collect()
    } else {
        all
    }
}

fn owner(uid: Uid) -> String {
    let user = User::from_uid(uid).ok().flatten();
    user.map_or_else(|| format!("the user {uid}"), |user| user.name)
}

/// A Unix time in milliseconds, in local time.
fn time(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => {
            let local = time.to_zoned(TimeZone::system());
            local.strftime("%Y-%m-%d %H:%M").to_string()
        }
        Err(_) => "at no time there is".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(place: &str, text: &str) -> (tempfile::TempDir, Folder) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        let folder = Folder::open(home.path()).unwrap().unwrap();
        (home, folder)
    }

    #[test]
    fn login_is_shown_without_its_secrets_and_with_escapes() {
        let text = r#"{"tokens": {"access_token": "secret-token", "account_id": "a1"},
            "OPENAI_API_KEY": null}"#;
        let (_home, folder) = agent("home/.codex/auth.json", text);
        let all = look(&folder, Login::Codex).unwrap();
        let shown = all[0].description("main");
        assert!(!shown.contains("secret-token"), "{shown}");
        for part in ["Codex of main", "tokens", "SHA-256", "a1", "not said"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(escaped("a\u{1b}]52;x\u{202e}"), "a\\u{1b}]52;x\\u{202e}");
        assert!(escaped(&"x".repeat(1000)).ends_with('…'));
    }

    #[test]
    fn login_that_has_ended_is_shown_as_such_and_no_use() {
        for (end, is_usable) in [("1000", false), ("99999999999999", true), ("null", true)] {
            let text = format!(
                r#"{{"claudeAiOauth": {{"accessToken": "at", "refreshToken": "rt", "expiresAt": {end}}}}}"#
            );
            let (_home, folder) = agent("home/.claude/.credentials.json", &text);
            let all = look(&folder, Login::Claude).unwrap();
            assert_eq!(all[0].is_usable(), is_usable, "{end}");
            let shown = all[0].description("main");
            assert_eq!(shown.contains("it has ended"), !is_usable, "{shown}");
        }
    }

    #[test]
    fn links_and_large_files_are_no_logins() {
        let (home, folder) = agent("real.json", "{}");
        std::fs::create_dir_all(home.path().join("home")).unwrap();
        std::os::unix::fs::symlink(home.path(), home.path().join("home/.claude")).unwrap();
        assert!(look(&folder, Login::Claude).is_err());
        let (_home, folder) = agent("home/.claude/.credentials.json", &" ".repeat(70_000));
        let all = look(&folder, Login::Claude).unwrap();
        assert!(all[0].contents.is_err());
    }
}
