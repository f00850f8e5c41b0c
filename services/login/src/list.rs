//! `auth list`.

use openclaw_config::Environment;
use openclaw_settings::Settings;
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::{Failure, output};

use crate::arguments::List;
use crate::entry::{self, Entry};

/// What a narrow terminal does without.
const SHAPE: Shape<'_> = Shape {
    optional: &["FILE", "PROVIDER"],
    least: &[("PROFILE", 18), ("FILE", 16)],
};

/// Prints what the agents that are meant have.
pub(crate) fn execute(arguments: &List, environment: &Environment) -> Result<(), Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let agents = match &arguments.agent {
        Some(wanted) => vec![crate::agent::named(Some(wanted), &settings)?],
        None => settings.agents.keys().cloned().collect(),
    };
    let mut all = Vec::new();
    for agent in &agents {
        let (entries, warnings) = entry::all(agent, &settings, environment);
        for warning in &warnings {
            output::stderr_line(&format!("warning: {}", output::line(warning)));
        }
        all.extend(entries);
    }
    if arguments.json {
        let documents: Vec<_> = all.iter().map(Entry::document).collect();
        return output::document(&documents);
    }
    if all.is_empty() {
        return output::stdout(&nothing(&settings));
    }
    let head = ["AGENT", "PROFILE", "PROVIDER", "KIND", "STATE", "FILE"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(all.iter().map(Entry::row));
    table::print_named(&rows, SHAPE)
}

fn nothing(settings: &Settings) -> String {
    let file = settings.paths.state.join("agents").display().to_string();
    format!(
        "No key and no login is kept in {file}; those of ~/.config/openclaw/env and of your own \
         Claude Code and Codex are used without.\n"
    )
}
