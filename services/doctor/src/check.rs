//! One thing that was looked at.

use openclaw_terminal::output;
use openclaw_terminal::painted::{Painted, Style};
use openclaw_terminal::width::columns;
use serde::{Serialize, Serializer};

use crate::remedy::Mend;

/// How the suite is started.
pub const START: &str = "start it with: openclawctl start";

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, but less well or less safely than it could.
    Warn,
    /// It does not work, or a promise is broken.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it is.
    pub state: State,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// What `--fix` does about it; in a document, whether it does.
    #[serde(
        rename = "mendable",
        serialize_with = "as_true",
        skip_serializing_if = "Option::is_none"
    )]
    pub mend: Option<Mend>,
}

fn as_true<S: Serializer>(_: &Option<Mend>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(true)
}

impl Check {
    /// It is as it should be.
    pub fn ok(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: State::Ok,
            detail: detail.into(),
            fix: None,
            mend: None,
        }
    }

    /// The same check, which `--fix` mends so.
    #[must_use]
    pub(crate) fn mended_by(self, mend: Mend) -> Self {
        Self {
            mend: Some(mend),
            ..self
        }
    }

    /// It could be better.
    pub fn warn(
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Warn,
            fix: Some(fix.into()),
            ..Self::ok(name, detail)
        }
    }

    /// It must be mended.
    pub fn fail(
        name: impl Into<String>,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Fail,
            ..Self::warn(name, detail, fix)
        }
    }
}

/// The topic of what this machine must have.
const PROGRAMS: &str = "programs and units";
/// What checks are about, by how their names begin; the rest are confinements.
const TOPICS: [(&str, &[&str]); 5] = [
    ("settings", &["configuration", "keys of"]),
    (
        "files",
        &[
            "state",
            "transcript",
            "session",
            "ledger",
            "left",
            "workspace",
            "backup",
            "disk",
        ],
    ),
    (
        PROGRAMS,
        &["program", "openclaw", "unit", "linger", "drop-in", "bus"],
    ),
    (
        "daemons",
        &[
            "gateway",
            "agent-runner",
            "memory",
            "socket",
            "port",
            "http",
            "jobs",
            "channel",
        ],
    ),
    ("models and tools", &["model", "key of", "tool server"]),
];
const SANDBOX: &str = "sandbox";
/// Columns of a state with what is behind it.
const STATE: usize = 6;
/// The space behind a name.
const GAP: usize = 2;

fn topic(name: &str) -> &'static str {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|it| name.starts_with(it));
    if openclaw_agent_clis::ALL
        .iter()
        .any(|cli| cli.program == name)
    {
        return PROGRAMS;
    }
    let found = TOPICS.iter().find(|(_, beginnings)| begins(beginnings));
    found.map_or(SANDBOX, |(topic, _)| topic)
}

/// What failed, what is to be looked at, then what is well by what it is about:
/// one line a check, a second one for the fix.
pub fn paint(checks: &[Check], text: &mut Painted) {
    let names = checks.iter().map(|it| columns(&output::line(&it.name)));
    let width = STATE + names.max().unwrap_or(0) + GAP;
    for (state, heading) in [(State::Fail, "does not work"), (State::Warn, "to look at")] {
        let found = checks.iter().filter(|check| check.state == state);
        section(heading, found, width, text);
    }
    for heading in TOPICS.iter().map(|(topic, _)| *topic).chain([SANDBOX]) {
        let found = checks.iter().filter(|check| check.state == State::Ok);
        section(
            heading,
            found.filter(|it| topic(&it.name) == heading),
            width,
            text,
        );
    }
}

fn section<'a>(
    heading: &str,
    checks: impl Iterator<Item = &'a Check>,
    width: usize,
    text: &mut Painted,
) {
    let mut checks = checks.peekable();
    if checks.peek().is_none() {
        return;
    }
    if !text.text().is_empty() {
        text.end();
    }
    text.line(Style::Strong, &format!("{heading}:"));
    checks.for_each(|check| line(check, width, text));
}

fn line(check: &Check, width: usize, text: &mut Painted) {
    let (state, style) = match check.state {
        State::Ok => ("ok", Style::Good),
        State::Warn => ("warn", Style::Warning),
        State::Fail => ("FAIL", Style::Bad),
    };
    let name = format!("{state:<STATE$}{}", check.name);
    text.entry((style, &name), width, (Style::Plain, &check.detail));
    if let Some(fix) = &check.fix {
        let offer = match check.mend {
            Some(_) => " (openclawctl doctor --fix does it)",
            None => "",
        };
        let fix = format!("fix: {fix}{offer}");
        text.entry((Style::Plain, ""), width, (Style::Faint, &fix));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(checks: &[Check]) -> String {
        let mut text = Painted::plain();
        paint(checks, &mut text);
        text.text().to_owned()
    }

    #[test]
    fn fix_stands_under_its_check() {
        let checks = [
            Check::ok("seccomp", "fine"),
            Check::ok("state", "fine"),
            Check::fail("sockets", "none", "start it"),
        ];
        let expected = "does not work:\nFAIL  sockets  none\n               fix: start it\n\n\
                        files:\nok    state    fine\n\nsandbox:\nok    seccomp  fine\n";
        assert_eq!(shown(&checks), expected);
    }

    #[test]
    fn check_what_can_be_mended_is_offered() {
        let check = Check::warn("a", "wide", "chmod").mended_by(Mend::Modes);
        let document = serde_json::to_value(&check).unwrap();
        assert_eq!(document["mendable"], true);
        let shown = shown(&[check]);
        assert!(
            shown.ends_with("fix: chmod (openclawctl doctor --fix does it)\n"),
            "{shown}"
        );
        let document = serde_json::to_value(Check::ok("a", "b")).unwrap();
        assert_eq!(document.get("mendable"), None);
    }
}
