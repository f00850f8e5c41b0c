//! The state directory, and the configuration as a document: its text, what it
//! is made of ([`pipeline`]), its schema, and how it is edited.

pub mod backup;
pub mod cover;
pub mod descriptors;
pub mod edit;
pub mod environment;
pub mod error;
pub mod exit;
pub mod guarded;
pub mod key;
pub mod launch;
pub mod locate;
pub mod lock_file;
pub mod nearest;
pub mod parse;
pub mod paths;
pub mod pipeline;
pub mod problem;
pub mod programs;
pub mod reach;
pub mod redact;
pub mod restored;
pub mod room;
pub mod schema;
pub mod secret;
pub mod size;
pub mod state_lock;
pub mod substitute;
pub(crate) mod syntax;
pub mod units;
pub mod write;

pub use environment::Environment;
pub use error::{COMMAND_LINE, ENVIRONMENT, Error};
pub use key::KeyPath;
pub use paths::Paths;
pub use problem::Problem;
