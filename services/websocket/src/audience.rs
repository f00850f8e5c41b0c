//! Who is told.

use openclaw_protocol::scope::Scope;

/// The clients an event is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Audience<'a> {
    /// All.
    Everyone,
    /// Operators who may read.
    Readers,
    /// Operators with a scope.
    Holders(Scope),
    /// Who watches runs of this session.
    Run(&'a str),
    /// Of these, who asked for the arguments and results of tools.
    Tools(&'a str),
    /// Those of them who did not.
    Toolless(&'a str),
    /// Who watches runs of this session in the form of seed 002.
    Seed(&'a str),
    /// Who follows the session index.
    Index,
    /// Who follows the messages of this session.
    Messages(&'a str),
}
