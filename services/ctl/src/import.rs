//! `import`: take sessions over from OpenClaw.

mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::sessions::{Import, ImportReport};
use openclaw_terminal::{Failure, output, words};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::cli;
use openclaw_connection::{self as connection, Gateway};
use source::Source;

/// State folders that are looked for when none is named: OpenClaw's own and
/// those of its earlier names (seed 003 §1.2).
const DEFAULTS: [&str; 4] = [".openclaw", ".clawdbot", ".moldbot", ".moltbot"];

/// How sessions elsewhere are taken over.
const NAMED: &str = "name it with: openclawctl import --from DIR";

/// Pieces that wait for the gateway.
const PIECES: usize = 8;

/// Takes sessions over; nothing of the source is changed.
pub(crate) fn execute(
    arguments: &cli::Import,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    let settings = openclaw_settings::load_usable(environment)?;
    let from = match &arguments.from {
        Some(path) => vec![path.clone()],
        None => defaults(&paths)?,
    };
    let mut all = ImportReport::default();
    for path in from {
        let source = Source::look(&settings.folder(path.clone()))?;
        let unread = source.unread();
        let sent = send(&paths, source, arguments.dry_run);
        let mut report = connection::runtime()?.block_on(sent)?;
        report.skipped.extend(unread);
        if !arguments.json {
            output::stdout(&rendered(&report, &path, arguments.dry_run))?;
        }
        add(&mut all, report);
    }
    if arguments.json {
        output::document(&all)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The state folders in the home that are there and not the one in use.
fn defaults(paths: &Paths) -> Result<Vec<PathBuf>, Failure> {
    let home = paths.home.as_deref().ok_or_else(|| {
        Failure::new("there is no home to look for sessions in: HOME is not set").hint(NAMED)
    })?;
    let own = paths.state.canonicalize().unwrap_or(paths.state.clone());
    let found: Vec<PathBuf> = DEFAULTS
        .iter()
        .map(|name| home.join(name))
        .filter(|path| path.is_dir())
        .filter(|path| path.canonicalize().ok().as_ref() != Some(&own))
        .collect();
    if found.is_empty() {
        let names = DEFAULTS.join(", ");
        return Err(Failure::new(format!(
            "there is nothing to import: {} has none of {names} beside the state directory in use",
            home.display()
        ))
        .hint(NAMED));
    }
    Ok(found)
}

async fn send(paths: &Paths, source: Source, dry_run: bool) -> Result<ImportReport, Failure> {
    let gateway = Gateway::at(paths);
    let (pieces, stream) = mpsc::channel(PIECES);
    let reading = tokio::task::spawn_blocking(move || {
        let begin = Import::Begin {
            dry_run,
            source: source.path.display().to_string(),
        };
        if pieces.blocking_send(begin).is_ok() {
            return source.send(&pieces);
        }
        Ok(())
    });
    let answer = gateway.sessions.import(ReceiverStream::new(stream)).await;
    // What could not be read says more than the answer to a half import.
    reading
        .await
        .map_err(|_| Failure::new("reading the files to import broke off"))??;
    answer.map_err(|status| gateway.failure(&status))
}

fn add(all: &mut ImportReport, more: ImportReport) {
    all.sessions += more.sessions;
    all.transcripts += more.transcripts;
    all.messages += more.messages;
    all.imported.extend(more.imported);
    all.skipped.extend(more.skipped);
    for field in more.left_out {
        match all.left_out.iter_mut().find(|it| it.name == field.name) {
            Some(known) => known.sessions += field.sessions,
            None => all.left_out.push(field),
        }
    }
}

fn rendered(report: &ImportReport, from: &Path, dry_run: bool) -> String {
    let verb = if dry_run { "would import" } else { "imported" };
    let mut text = format!(
        "{verb} {} with {} from {}\n",
        words::count(u64::from(report.sessions), "session"),
        words::count(report.messages, "message"),
        output::line(&from.display().to_string())
    );
    for session in &report.imported {
        let messages = words::count(session.messages, "message");
        text.push_str(&format!(
            "  {}  {}  {messages} ({})\n",
            output::line(&session.key),
            output::line(&session.id),
            output::line(&session.source)
        ));
    }
    if !report.left_out.is_empty() {
        let names = report.left_out.iter().map(|field| {
            let sessions = words::count(u64::from(field.sessions), "session");
            format!("{} ({sessions})", output::line(&field.name))
        });
        let names: Vec<String> = names.collect();
        text.push_str(&format!(
            "left out, as they say how turns are done and are yours to set here with \
             `openclawctl sessions patch`: {}\n",
            names.join(", ")
        ));
    }
    if !report.skipped.is_empty() {
        text.push_str(&format!("skipped {}:\n", report.skipped.len()));
    }
    for skipped in &report.skipped {
        let (name, reason) = (output::line(&skipped.name), output::line(&skipped.reason));
        text.push_str(&format!("  {name}: {reason}\n"));
    }
    text
}
