//! `restore`: a state that was backed up, in the place of this one.

use std::path::Path;
use std::process::ExitCode;

use openclaw_backup::{Existing, Manifest, Options, Restored};
use openclaw_config::{Environment, Paths};
use openclaw_terminal::{Failure, output, words};
use serde_json::{Value, json};

use super::{elsewhere, endable, failure, left_out, shown};
use crate::cli::{self, backup::Workspaces};
use openclaw_connection as connection;

/// Checks the file, or puts back what it holds.
pub(crate) fn execute(
    arguments: &cli::Restore,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    if arguments.check {
        return check(arguments);
    }
    // One that nothing can be read of says of no agent where it writes.
    let settings = openclaw_settings::load_usable(environment).ok();
    let options = Options {
        paths: Paths::resolve(environment)?,
        existing: match arguments.workspaces {
            None => Existing::Refused,
            Some(Workspaces::Replace) => Existing::MovedAside,
            Some(Workspaces::Keep) => Existing::Kept,
        },
        written: settings.map_or_else(Vec::new, |it| it.where_agents_write().to_vec()),
        stop: format!("kill {} (it restores a backup)", std::process::id()),
    };
    let file = arguments.file.clone();
    let restored =
        endable::run(move |unfinished| openclaw_backup::restore(&file, &options, unfinished))?;
    if arguments.json {
        output::document(&document(&arguments.file, &restored))?;
    } else {
        output::stdout(&rendered(&restored))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(arguments: &cli::Restore) -> Result<ExitCode, Failure> {
    let manifest = openclaw_backup::check(&arguments.file).map_err(failure)?;
    if arguments.json {
        output::document(&json!({ "file": arguments.file, "manifest": manifest }))?;
    } else {
        let file = shown(&arguments.file.display().to_string());
        output::stdout(&format!(
            "{file} is whole: {}\n{}{}",
            summary(&manifest),
            elsewhere(&manifest),
            left_out(&manifest.left_out)
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn summary(manifest: &Manifest) -> String {
    format!(
        "{} with {}, of {} on {}, by version {}",
        words::count(manifest.files.len() as u64, "file"),
        words::bytes(manifest.bytes()),
        shown(&manifest.made),
        shown(&manifest.host),
        shown(&manifest.program),
    )
}

fn document(file: &Path, restored: &Restored) -> Value {
    let workspaces = restored.workspaces.iter().map(|(workspace, place, before)| {
        json!({ "agents": workspace.agents, "place": place, "before": before })
    });
    let mentions = restored
        .mentions
        .iter()
        .map(|mention| json!({ "key": mention.key, "path": mention.path, "here": mention.here }));
    json!({
        "file": file,
        "made": restored.manifest.made,
        "files": restored.manifest.files.len(),
        "state": restored.state,
        "before": restored.before,
        "workspaces": workspaces.collect::<Vec<_>>(),
        "otherPlaces": mentions.collect::<Vec<_>>(),
    })
}

fn rendered(restored: &Restored) -> String {
    let path = |path: &Path| shown(&path.display().to_string());
    let mut text = format!(
        "restored {}: {}\n",
        path(&restored.state),
        summary(&restored.manifest)
    );
    if let Some(before) = &restored.before {
        text.push_str(&format!("what was there before is in {}\n", path(before)));
    }
    for (workspace, place, before) in &restored.workspaces {
        let agents = workspace.agents.join(", ");
        text.push_str(&format!(
            "restored the workspace {} (of {})\n",
            path(place),
            shown(&agents)
        ));
        if let Some(before) = before {
            text.push_str(&format!("what was there before is in {}\n", path(before)));
        }
    }
    for mention in &restored.mentions {
        text.push_str(&format!(
            "the configuration names {} as it was on {}: openclawctl config set {} {}\n",
            output::line(&mention.path),
            shown(&restored.manifest.host),
            output::line(&mention.key),
            output::line(&mention.here.display().to_string())
        ));
    }
    text.push_str(&left_out(&restored.manifest.left_out));
    text.push_str(&format!("{}\n", connection::START));
    text
}
