//! What an agent could leave behind for the host, or for its own next turns, to follow or to obey.
//!
//! `$HOME`, `$TMPDIR` and the working folder are the agent's in `line`, and so is `$A` everywhere; `$AH` is its home and
//! `$WORK` its workspace, seen from outside; the other variables are those of the attempts.

mod files;
mod logins;

/// One thing that is left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plant {
    pub(crate) name: &'static str,
    /// Run by the agent, which is to succeed with it.
    pub(crate) line: &'static str,
    /// What a careless host would do with it, run outside at the end: only if that does harm, the plant proves anything.
    pub(crate) careless: &'static str,
    /// Succeeds when harm was done.
    pub(crate) harm: &'static str,
}

/// Those that can be there at the same time, one agent for each of them.
pub(crate) const GROUPS: [(&str, &[Plant]); 4] = [
    ("plant-files", files::ALL),
    ("plant-logins", logins::FILES),
    ("plant-folders", logins::FOLDERS),
    ("plant-links", logins::LINKS),
];
