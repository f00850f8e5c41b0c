//! Whether messages come and go on each configured account of a channel.

use openclaw_contacts::{Condition, Finding};
use openclaw_doctor::Check;

use openclaw_connection as connection;
use openclaw_status::{Answer, Suite};

/// One check for each account; none where no channel is configured.
pub(super) fn accounts(suite: &Suite) -> Vec<Check> {
    if let Answer::Missing { problem } = &suite.channels {
        return vec![Check::fail("channels", problem.as_str(), connection::START)];
    }
    suite.channels().into_iter().map(check).collect()
}

fn check(finding: Finding) -> Check {
    let Finding {
        name,
        condition,
        detail,
        fix,
    } = finding;
    let fix = fix.unwrap_or_default();
    match condition {
        Condition::Well | Condition::Off => Check::ok(name, detail),
        Condition::Partly | Condition::Unsteady => Check::warn(name, detail, fix),
        Condition::Broken => Check::fail(name, detail, fix),
    }
}

#[cfg(test)]
mod tests {
    use openclaw_doctor::State;

    use super::*;

    #[test]
    fn account_that_is_broken_fails_and_one_that_is_off_does_not() {
        for (condition, state) in [
            (Condition::Well, State::Ok),
            (Condition::Off, State::Ok),
            (Condition::Partly, State::Warn),
            (Condition::Unsteady, State::Warn),
            (Condition::Broken, State::Fail),
        ] {
            let check = check(Finding {
                name: "channel telegram".to_owned(),
                condition,
                detail: "so".to_owned(),
                fix: Some("do that".to_owned()),
            });
            assert_eq!(check.state, state, "{condition:?}");
            let is_mended = state != State::Ok;
            assert_eq!(check.fix.is_some(), is_mended, "{condition:?}");
        }
    }
}
