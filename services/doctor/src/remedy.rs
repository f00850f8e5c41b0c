//! What may be done about what was found.

use std::path::PathBuf;

use nix::unistd::User;
use openclaw_folder::ConfiguredFolder;
use openclaw_sessions::AgentId;

/// What is done about something that was found. Doing it twice does no more
/// than doing it once.
#[derive(Debug, Clone)]
pub enum Mend {
    /// What others may do with the state is taken away.
    Modes,
    /// What others may do with a file of the user's is taken away.
    File(PathBuf),
    /// A way in gets the mode it must have.
    Mode {
        /// The socket or folder.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A folder is made.
    Folder {
        /// Where.
        path: ConfiguredFolder,
        /// Whose it is to be, where that is somebody else.
        owner: Option<User>,
    },
    /// A socket is removed at which nobody listens.
    Socket(PathBuf),
    /// An index of sessions is made from the transcripts.
    Index {
        /// Whose it is.
        agent: AgentId,
        /// The folder of the sessions.
        folder: PathBuf,
    },
    /// Folders of turns that have ended are removed.
    Turns,
    /// A unit that failed may be started again.
    Failed(String),
    /// The manager reads its files again.
    Reload,
    /// The drop-ins are written from the configuration.
    DropIns,
    /// The manager runs without a session.
    Linger,
    /// An installation in the home gives way to the package.
    Shadow(Shadow),
}

/// Folders of units that a user's manager has twice: the home's come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadow {
    /// Of the installation in the home.
    pub(crate) home: PathBuf,
    /// Of a package.
    pub(crate) package: PathBuf,
}
