//! The arguments of `sessions`, `import` and `export`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `sessions`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Sessions {
    /// What to do with them
    #[command(subcommand)]
    pub(crate) action: Option<Action>,
    /// Without an action they are listed
    #[command(flatten)]
    pub(crate) list: List,
}

/// What `sessions` can do. A SESSION is a key in any form, an id or its first
/// letters, or a label.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List them, the latest first
    List(List),
    /// Show one, and with --transcript what was said in it
    Show(Show),
    /// Find the transcripts of all agents by a project, or by when something was said; exit code 1
    /// when there are none
    Find(Find),
    /// Enter a session before anything is said in it
    Create(Create),
    /// Change its label, model or amount of thinking
    Patch(Patch),
    /// Begin its conversation anew; what was said stays in the transcript
    Reset(One),
    /// Put a summary in the place of all but its newest messages
    Compact(Compact),
    /// End it and keep it; a message takes it up again
    Archive(One),
    /// Take an archived one up again
    Unarchive(One),
    /// Delete it; its transcript is kept compressed
    Delete(Delete),
}

/// Which sessions to list.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only the sessions of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Only those with this in their key, label or id
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Only those that changed in the last minutes
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) active: Option<u32>,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// With the last thing said in each
    #[arg(long)]
    pub(crate) preview: bool,
    /// Archived ones too
    #[arg(long, conflicts_with = "archived")]
    pub(crate) all: bool,
    /// Archived ones alone
    #[arg(long)]
    pub(crate) archived: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// One session.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// A key in any form, an id or its first letters, or a label
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// The agent it belongs to [default: the one that has it]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A key in any form, an id or its first letters, or a label [default: main]
    #[arg(value_name = "SESSION", default_value = "main")]
    pub(crate) session: String,
    /// The agent it belongs to [default: the one that has it]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Print what was said: words, the tools that were used, and their errors
    #[arg(long)]
    pub(crate) transcript: bool,
    /// The newest so many messages [default: all]
    #[arg(long, value_name = "N", requires = "transcript", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Only what was said since the last reset
    #[arg(long, requires = "transcript")]
    pub(crate) current: bool,
    /// With the messages' entries as they are in the transcript
    #[arg(long, requires_all = ["transcript", "json"])]
    pub(crate) raw: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions find`.
#[derive(Debug, Args)]
pub(crate) struct Find {
    /// The project's name, as well as you remember it
    #[arg(value_name = "PROJECT", required_unless_present_any = ["since", "until"])]
    pub(crate) project: Vec<String>,
    /// Only those in which something was said from then on: 2026-11-21, "2026-11-21 18:30",
    /// today, yesterday, or how long ago: 90m, 12h, 3d, 2w
    #[arg(long, value_name = "WHEN", value_parser = openclaw_moment::since, allow_hyphen_values = true)]
    pub(crate) since: Option<i64>,
    /// Only those in which something was said until then; a day counts whole
    #[arg(long, value_name = "WHEN", value_parser = openclaw_moment::until, allow_hyphen_values = true)]
    pub(crate) until: Option<i64>,
    /// Only the transcripts of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl Sessions {
    /// Whether it only lists or shows.
    pub(crate) fn only_reads(&self) -> bool {
        matches!(
            self.action,
            None | Some(Action::List(_) | Action::Show(_) | Action::Find(_))
        )
    }
}

/// What can be set of a session.
#[derive(Debug, Args)]
pub(crate) struct Fields {
    /// A name to find it by; empty: none
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// The model that answers in it; empty: the agent's
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<String>,
    /// How much the model thinks: off, minimal, low, medium, high, …; empty: as it is set up
    #[arg(long, value_name = "LEVEL")]
    pub(crate) thinking: Option<String>,
    /// Any field by the name of OpenClaw's sessions.patch, or limits.NAME, which its turns
    /// then have instead of agents.defaults.limits.NAME; empty clears it
    #[arg(long, value_name = "FIELD=VALUE", value_parser = field)]
    pub(crate) set: Vec<(String, String)>,
}

/// Arguments of `sessions create`.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Its key [default: one of its own]
    #[arg(value_name = "KEY", default_value = "")]
    pub(crate) key: String,
    /// The agent it belongs to [default: the one the key names, or the default agent]
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The session that starts it
    #[arg(long, value_name = "SESSION", default_value = "")]
    pub(crate) parent: String,
    #[command(flatten)]
    pub(crate) fields: Fields,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions patch`.
#[derive(Debug, Args)]
pub(crate) struct Patch {
    #[command(flatten)]
    pub(crate) one: One,
    #[command(flatten)]
    pub(crate) fields: Fields,
}

/// Arguments of `sessions compact`.
#[derive(Debug, Args)]
pub(crate) struct Compact {
    #[command(flatten)]
    pub(crate) one: One,
    /// The summary; without it, it is read from standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// The newest messages that are told to the model as they are
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) keep: u32,
}

/// Arguments of `sessions delete`.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) one: One,
    /// Remove the transcript for good
    #[arg(long)]
    pub(crate) purge: bool,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// A state directory of OpenClaw up to 2026.7, a sessions folder, a transcript or an archive
    /// [default: ~/.openclaw, ~/.clawdbot, ~/.moldbot and ~/.moltbot, as far as they are there and not in use]
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<PathBuf>,
    /// Say what would be taken over, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder to write to, which is made; OpenClaw imports it as a state directory
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,
    /// Only this session
    #[arg(long, value_name = "SESSION", default_value = "")]
    pub(crate) session: String,
    /// Only the sessions of this agent
    #[arg(long, value_name = "ID", default_value = "")]
    pub(crate) agent: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn field(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("give FIELD=VALUE, such as verboseLevel=on")?;
    Ok((name.to_owned(), value.to_owned()))
}
