//! Where log records go: the journal, or JSON lines on stderr.
//!
//! Records carry the fields of the spans they are in. Daemons name theirs
//! `openclaw_session`, `openclaw_run`, `openclaw_channel`, `openclaw_tool`,
//! `openclaw_agent` and `message_id`; the journal shows them in upper case.

use std::env;
use std::os::fd::AsFd as _;
use std::sync::OnceLock;

use openclaw_settings::LogLevel;
use tracing::subscriber::set_global_default;
use tracing_subscriber::layer::{Layered, SubscriberExt as _};
use tracing_subscriber::{Registry, reload};

mod complete;
mod json;
pub mod recent;
mod severity;

use severity::Severity;

type Handle = reload::Handle<Severity, Registry>;
type Filtered = Layered<complete::Complete, Layered<reload::Layer<Severity, Registry>, Registry>>;

/// Whether records go to the journal; not set before the log is installed.
static TO_JOURNAL: OnceLock<bool> = OnceLock::new();

/// Whether this process logs into the journal, and not to its standard error.
pub fn is_journal() -> bool {
    TO_JOURNAL.get().copied().unwrap_or_default()
}

/// The installed log.
#[derive(Debug)]
pub struct Telemetry(Handle);

impl Telemetry {
    /// Installs the log of this process. The first one stays.
    pub fn install(name: &'static str, level: LogLevel) -> Self {
        let (filter, handle) = reload::Layer::new(Severity::new(level));
        let base = Registry::default().with(filter).with(complete::Complete);
        let journal = journal(name);
        TO_JOURNAL.get_or_init(|| journal.is_some());
        // A log that is there already is a test's.
        let _ = match journal {
            Some(layer) if recent::is_wanted() => {
                set_global_default(base.with(layer).with(json::Lines::kept()))
            }
            Some(layer) => set_global_default(base.with(layer)),
            None => set_global_default(stderr(base)),
        };
        Self(handle)
    }

    /// Changes the least severe level that is logged.
    pub fn set_level(&self, level: LogLevel) {
        // Fails only when no log is installed, and then there is none to set.
        let _ = self.0.reload(Severity::new(level));
    }
}

fn stderr(base: Filtered) -> impl tracing::Subscriber + Send + Sync {
    base.with(json::Lines::written())
}

/// The journal, when stderr is connected to it (systemd.exec(5),
/// $JOURNAL_STREAM); otherwise somebody reads stderr itself.
fn journal(name: &'static str) -> Option<tracing_journald::Layer> {
    let stream = env::var("JOURNAL_STREAM").ok()?;
    let (device, inode) = stream.split_once(':')?;
    let stderr = nix::sys::stat::fstat(std::io::stderr().as_fd()).ok()?;
    let same = device.parse() == Ok(stderr.st_dev) && inode.parse() == Ok(stderr.st_ino);
    let layer = same.then(tracing_journald::layer)?.ok()?;
    Some(
        layer
            .with_field_prefix(None)
            .with_syslog_identifier(name.to_owned()),
    )
}
