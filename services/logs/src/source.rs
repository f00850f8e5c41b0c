//! Where the log is.

use std::path::{Path, PathBuf};

use openclaw_config::{Environment, Paths, programs};
use openclaw_terminal::Failure;

use crate::filter::Filter;
use crate::record::Take;
use crate::{file, journal};

/// Where it is kept.
#[derive(Debug)]
pub(crate) enum Source {
    /// In systemd's journal.
    Journal,
    /// In the file of the suite here, and the one before it.
    File(PathBuf),
    /// In a file that was named.
    Named(PathBuf),
}

impl Source {
    /// The file that is named; else of a suite that runs in the foreground its
    /// file, and under systemd the journal.
    pub(crate) fn choose(
        paths: &Paths,
        environment: &Environment,
        named: Option<&Path>,
    ) -> Result<Self, Failure> {
        if let Some(named) = named {
            return Ok(Self::Named(named.to_owned()));
        }
        let file = openclaw_foreground::log_file(paths);
        let has_journal = programs::on_path("journalctl", environment).is_some();
        let has_manager = openclaw_service_manager::runtime(environment).is_some();
        if openclaw_foreground::is_running(paths) {
            return Ok(Self::File(file));
        }
        if has_journal && (has_manager || !file.exists()) {
            return Ok(Self::Journal);
        }
        if file.exists() {
            return Ok(Self::File(file));
        }
        Err(
            Failure::new("there is no log: no journal, and openclawctl run has not run here")
                .hint("of a suite that runs elsewhere: openclawctl logs --file FILE"),
        )
    }

    /// Gives every record that `filter` wants to `take`; with `follow` also those
    /// that come, until the reader is gone or somebody ends it.
    pub(crate) fn read(
        &self,
        environment: &Environment,
        filter: &Filter,
        follow: bool,
        take: &mut Take<'_>,
    ) -> Result<(), Failure> {
        match self {
            Self::Journal => journal::read(environment, filter, follow, take),
            Self::File(path) => file::read(path, filter, follow, true, take),
            Self::Named(path) => file::read(path, filter, follow, false, take),
        }
    }
}
