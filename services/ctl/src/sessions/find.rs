//! `sessions find`: what has to do with a project, or was said at a time.

use std::process::ExitCode;

use openclaw_proto::sessions::{Findings, Search, SessionMatch};
use openclaw_terminal::{Failure, output, words};

use super::failure;
use crate::cli::sessions::Find;
use openclaw_connection::Gateway;

/// Characters of a message on its line.
const MESSAGE_WIDTH: usize = 100;

/// Prints what is found; exit code 1 when nothing is, as grep(1) has it.
pub(super) async fn execute(gateway: &Gateway, arguments: &Find) -> Result<ExitCode, Failure> {
    if let (Some(since), Some(until)) = (arguments.since, arguments.until)
        && since >= until
    {
        return Err(Failure::usage("--since is not before --until"));
    }
    let project = arguments.project.join(" ");
    let search = Search {
        project: project.clone(),
        agent_id: arguments.agent.clone().unwrap_or_default(),
        limit: arguments.limit,
        since_ms: arguments.since,
        until_ms: arguments.until,
    };
    let answer = gateway.sessions.find(search).await;
    let findings = answer.map_err(|status| failure(gateway, &status))?;
    for problem in &findings.problems {
        output::stderr_line(&format!("warning: {}; passed over", output::line(problem)));
    }
    if arguments.json {
        output::document(&findings)?;
    } else {
        let now = jiff::Timestamp::now().as_millisecond();
        output::stdout(&rendered(&findings, &project, now))?;
    }
    Ok(if findings.sessions.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn rendered(findings: &Findings, project: &str, now_ms: i64) -> String {
    if findings.sessions.is_empty() {
        let searched = words::count(u64::from(findings.searched), "transcript");
        return match project {
            "" => format!("nothing was said then in {searched}\n"),
            // Words within are memory's to find.
            project => format!(
                "nothing about {project:?} in where {searched} began and in their first messages; \
                 openclawctl memory search looks into them\n"
            ),
        };
    }
    let blocks = findings.sessions.iter().map(|found| block(found, now_ms));
    blocks.collect::<Vec<_>>().join("\n")
}

fn block(found: &SessionMatch, now_ms: i64) -> String {
    let name = match found.key.as_str() {
        "" => output::line(&format!("{} (in no index)", found.id)),
        key => output::line(&format!("{key}  {}", found.id)),
    };
    let mut lines = vec![
        name,
        format!(
            "  {}, {}, matched by {}",
            words::ago(found.modified_at_ms, now_ms),
            words::count(found.lines, "line"),
            output::line(&found.matched)
        ),
    ];
    if !found.cwd.is_empty() {
        lines.push(format!("  in {}", output::line(&found.cwd)));
    }
    let message = |text: &str| output::one_line(text, MESSAGE_WIDTH);
    if !found.first_user_message.is_empty() {
        lines.push(format!("  first: {}", message(&found.first_user_message)));
    }
    let last = found.last_user_messages.iter();
    lines.extend(last.map(|text| format!("  last:  {}", message(text))));
    lines.push(format!("  {}", output::line(&found.transcript_path)));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
