//! Paths and headers of the turn socket.

/// Where the agent asks for its turn.
pub const TURN: &str = "/turn";

/// Where the agent asks what is new while the turn goes on.
pub const NEWS: &str = "/news";

/// A host tool is called at this path with the tool's name behind it.
pub const TOOLS: &str = "/tool/";

/// The model is asked below this path.
pub const MODEL: &str = "/model/";

/// Header of a question to the model: the [`Code`](crate::Code) with which the
/// answer to the same question broke off.
pub const BROKE_OFF: &str = "openclaw-broke-off";

/// Header of every request: the version of the contract that the agent speaks.
pub const VERSION: &str = "openclaw-turn-version";
