//! One thing that was looked at.

use openclaw_terminal::output;
use serde::{Serialize, Serializer};

use crate::remedy::Mend;

/// How the suite is started.
pub const START: &str =
    "start it with: systemctl --user start openclaw.target (without systemd: openclawctl run)";

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
    pub fn mended_by(self, mend: Mend) -> Self {
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

/// One line a check, a second one for the fix.
pub fn render(checks: &[Check]) -> String {
    let width = checks
        .iter()
        .map(|check| output::line(&check.name).chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let state = match check.state {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail => "FAIL",
        };
        let (name, detail) = (output::line(&check.name), output::line(&check.detail));
        let line = format!("{state:<4}  {name:<width$}  {detail}");
        text.push_str(line.trim_end());
        text.push('\n');
        if let Some(fix) = &check.fix {
            let fix = output::line(fix);
            let offer = match check.mend {
                Some(_) => " (openclawctl doctor --fix does it)",
                None => "",
            };
            text.push_str(&format!("      {:<width$}  fix: {fix}{offer}\n", ""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_stands_under_its_check() {
        let checks = [
            Check::ok("a", "fine"),
            Check::fail("sockets", "none", "start it"),
        ];
        let expected = "ok    a        fine\nFAIL  sockets  none\n               fix: start it\n";
        assert_eq!(render(&checks), expected);
    }

    #[test]
    fn what_can_be_mended_is_offered() {
        let check = Check::warn("a", "wide", "chmod").mended_by(Mend::Modes);
        let document = serde_json::to_value(&check).unwrap();
        assert_eq!(document["mendable"], true);
        let shown = render(&[check]);
        assert!(
            shown.ends_with("fix: chmod (openclawctl doctor --fix does it)\n"),
            "{shown}"
        );
        let document = serde_json::to_value(Check::ok("a", "b")).unwrap();
        assert_eq!(document.get("mendable"), None);
    }
}
