//! `approvals`: calls of the agent that wait to be allowed.

use std::process::ExitCode;

use jiff::Timestamp;
use openclaw_config::{Environment, Paths};
use openclaw_proto::approval::{Approval, Approvals, Decision, Grant, Terms};
use openclaw_proto::call::RefusalCode;
use openclaw_terminal::{Failure, output};

use crate::cli::approvals as cli;
use openclaw_connection::{self as connection, Gateway};

/// Characters of an id that are shown; enough to name it.
const ID_WIDTH: usize = 8;

/// Characters of a command that was decided about.
const WIDTH: usize = 200;

/// Who decides here.
const BY: &str = "openclawctl";

pub(crate) mod question;

use question::Screen;

/// Lists or decides.
pub(crate) fn execute(
    arguments: &cli::Approvals,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(async {
        let gateway = Gateway::at(&paths);
        match &arguments.action {
            None => list(&gateway, &arguments.list).await,
            Some(action) => run(&gateway, action).await,
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn run(gateway: &Gateway, action: &cli::Action) -> Result<(), Failure> {
    match action {
        cli::Action::List(list) => self::list(gateway, list).await,
        cli::Action::Allow(allow) => {
            if allow.always {
                must_be_on_screen(gateway, &allow.id).await?;
                return decided(gateway, &allow.id, Decision::AllowAlways).await;
            }
            decided(gateway, &allow.id, Decision::AllowOnce).await
        }
        cli::Action::Deny(deny) => decided(gateway, &deny.id, Decision::Deny).await,
        cli::Action::Revoke(revoke) => self::revoke(gateway, revoke).await,
    }
}

/// Takes back what was allowed for good. The list writes out what is not seen of
/// a command; that is taken for the command too.
async fn revoke(gateway: &Gateway, revoke: &cli::Revoke) -> Result<(), Failure> {
    let agent = revoke.agent.as_deref().unwrap_or_default();
    let directory = revoke.directory.as_deref().unwrap_or_default();
    let approvals = gateway.client.list_approvals(0).await;
    let approvals = approvals.map_err(|error| gateway.failure(&error))?;
    let mut commands: Vec<String> = approvals.grants.into_iter().map(|it| it.command).collect();
    commands.retain(|it| *it == revoke.command || output::line(it) == revoke.command);
    let command = commands.first().unwrap_or(&revoke.command);
    let revoked = gateway.client.revoke_grant(agent, command, directory);
    revoked.await.map_err(|error| match error.code() {
        Some(RefusalCode::NotFound) => Failure::new(format!(
            "{:?} was not allowed for good; `openclawctl approvals list` shows what was",
            revoke.command
        )),
        _ => gateway.failure(&error),
    })?;
    output::stdout_line("revoked")
}

/// Refuses to allow for good what nobody had before them: the list said that.
async fn must_be_on_screen(gateway: &Gateway, id: &str) -> Result<(), Failure> {
    let approvals = gateway.client.list_approvals(0).await;
    let approvals = approvals.map_err(|error| gateway.failure(&error))?;
    let screen = Screen::here();
    let is_long = |it: &Approval| it.id.starts_with(id) && !asked(it, "").is_on(screen);
    if approvals.waiting.iter().any(is_long) {
        return Err(Failure::new(format!(
            "what waits under {id:?} is longer than the screen, and can be allowed this time \
             only: `openclawctl approvals allow {id}`"
        )));
    }
    Ok(())
}

async fn decided(gateway: &Gateway, id: &str, decision: Decision) -> Result<(), Failure> {
    let approval = decide(gateway, id, decision).await?;
    output::stdout_line(&format!(
        "{}: {}",
        words(decision),
        output::line(&approval.command)
    ))
}

/// Decides about what waits under `id`.
pub(crate) async fn decide(
    gateway: &Gateway,
    id: &str,
    decision: Decision,
) -> Result<Approval, Failure> {
    let decided = gateway.client.decide_approval(id, decision, BY);
    decided.await.map_err(|error| match error.code() {
        Some(RefusalCode::NotFound) => Failure::new(format!(
            "nothing waits under {id:?} (any more); `openclawctl approvals` lists what does"
        )),
        Some(RefusalCode::FailedPrecondition) if decision == Decision::AllowAlways => {
            Failure::new(format!(
                "what waits under {id:?} can be allowed this time only (`openclawctl approvals` \
                 says why): `openclawctl approvals allow {id}`"
            ))
        }
        _ => gateway.failure(&error),
    })
}

fn words(decision: Decision) -> &'static str {
    match decision {
        Decision::AllowOnce => "allowed once",
        Decision::AllowAlways => "allowed from now on",
        Decision::Deny => "denied",
    }
}

async fn list(gateway: &Gateway, list: &cli::List) -> Result<(), Failure> {
    let approvals = gateway.client.list_approvals(list.decided).await;
    let approvals = approvals.map_err(|error| gateway.failure(&error))?;
    if list.json {
        output::document(&approvals)
    } else {
        output::stdout(&text(&approvals))
    }
}

fn text(approvals: &Approvals) -> String {
    let mut text = String::new();
    if approvals.waiting.is_empty() {
        text.push_str("Nothing waits to be allowed.\n")
    } else {
        text.push_str("Waiting (openclawctl approvals allow|deny ID):\n")
    }
    approvals
        .waiting
        .iter()
        .for_each(|approval| text.push_str(&waiting(approval)));
    if !approvals.decided.is_empty() {
        text.push_str("\nDecided:\n");
    }
    for approval in &approvals.decided {
        text.push_str(&format!(
            "  {}  {:12}  {}{}\n",
            time(approval.decided_ms),
            output::line(&approval.decision),
            output::one_line(&approval.command, WIDTH),
            by(&approval.by),
        ));
    }
    if !approvals.grants.is_empty() {
        text.push_str("\nAllowed from now on (openclawctl approvals revoke COMMAND):\n");
    }
    approvals
        .grants
        .iter()
        .for_each(|grant| text.push_str(&granted(grant)));
    text
}

fn asked<'a>(approval: &'a Approval, terms: &'a str) -> question::Question<'a> {
    question::Question {
        tool: &approval.tool,
        command: &approval.command,
        cwd: &approval.cwd,
        reason: &approval.reason,
        session: &approval.session_key,
        origin: &approval.origin,
        form: &approval.form,
        only_once: &approval.only_once,
        terms,
    }
}

fn waiting(approval: &Approval) -> String {
    let terms = approval
        .terms
        .as_ref()
        .map(Terms::words)
        .unwrap_or_default();
    let (question, screen) = (asked(approval, &terms), Screen::here());
    let id = output::line(short(&approval.id));
    // Where its id is above the screen it is said again.
    let again = if question.is_on(screen) {
        String::new()
    } else {
        format!("    {id}\n")
    };
    format!(
        "  {id}  until {}\n{}{again}",
        time(approval.expires_ms),
        question.text("    ", screen)
    )
}

fn granted(grant: &Grant) -> String {
    let terms = match &grant.terms {
        Some(terms) => format!("at {}, or stricter", output::line(&terms.words())),
        None => "asked about again: it does not say how confined it was".to_owned(),
    };
    format!(
        "  {}  {}\n      in {}  since {}{}\n      {terms}\n",
        output::line(&grant.agent_id),
        output::line(&grant.command),
        output::line(&grant.directory),
        time(grant.created_ms),
        by(&grant.by)
    )
}

fn by(who: &str) -> String {
    match who {
        "" => String::new(),
        who => format!("  ({})", output::line(who)),
    }
}

/// The beginning of an id.
pub(crate) fn short(id: &str) -> &str {
    id.get(..ID_WIDTH).unwrap_or(id)
}

fn time(at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::system()))
        .map_or_else(
            |_| "-".to_owned(),
            |at| at.strftime("%m-%d %H:%M:%S").to_string(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approvals_what_waits_says_how_to_decide() {
        let approvals = Approvals {
            waiting: vec![Approval {
                id: "0123456789".to_owned(),
                command: "rm\n-r x".to_owned(),
                tool: "execute_shell".to_owned(),
                ..Approval::default()
            }],
            ..Approvals::default()
        };
        let text = text(&approvals);
        assert!(text.contains("  01234567  until "), "{text}");
        assert!(text.contains("    │ rm⏎\n    │ -r x\n"), "{text}");
        assert!(text.contains("allow|deny ID"), "{text}");
        assert!(super::text(&Approvals::default()).starts_with("Nothing waits"));
    }

    #[test]
    fn approvals_what_was_allowed_for_good_says_how_confined() {
        let grant = |terms: Option<Terms>| Grant {
            command: "touch a".to_owned(),
            terms,
            ..Grant::default()
        };
        let terms = Terms {
            level: "strict".to_owned(),
            network: "full".to_owned(),
            ..Terms::default()
        };
        let text = granted(&grant(Some(terms)));
        assert!(
            text.contains("at sandbox level strict, network full, or stricter"),
            "{text}"
        );
        let text = granted(&grant(None));
        assert!(text.contains("asked about again"), "{text}");
    }

    #[test]
    fn approvals_what_is_shown_moves_no_cursor() {
        let hostile = "a\u{1b}]52;c;eA==\u{7}\r\u{9b}2J\u{202e}\nb".to_owned();
        let approval = Approval {
            id: hostile.clone(),
            tool: hostile.clone(),
            command: hostile.clone(),
            cwd: hostile.clone(),
            reason: hostile.clone(),
            session_key: hostile.clone(),
            decision: hostile.clone(),
            by: hostile.clone(),
            ..Approval::default()
        };
        let grant = Grant {
            agent_id: hostile.clone(),
            command: hostile.clone(),
            directory: hostile.clone(),
            by: hostile.clone(),
            ..Grant::default()
        };
        let text = text(&Approvals {
            waiting: vec![approval.clone()],
            decided: vec![approval],
            grants: vec![grant],
        });
        let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(acts), "{text:?}");
        let forged = text.lines().filter(|line| line.starts_with('b'));
        assert_eq!(forged.count(), 0, "{text}");
    }
}
