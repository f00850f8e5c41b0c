//! One thing that was looked at.

use openclaw_terminal::output;
use serde::Serialize;

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// It works, but less well or less safely than it could.
    Warn,
    /// It does not work, or a promise is broken.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) state: State,
    pub(super) detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

impl Check {
    /// It is as it should be.
    pub(super) fn ok(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            state: State::Ok,
            detail: detail.into(),
            fix: None,
        }
    }

    /// It could be better.
    pub(super) fn warn(
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
    pub(super) fn fail(
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
pub(super) fn render(checks: &[Check]) -> String {
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
            text.push_str(&format!("      {:<width$}  fix: {fix}\n", ""));
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
}
