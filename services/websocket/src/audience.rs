//! The receivers of an event.

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
    /// Clients that watch runs of this session.
    Run(&'a str),
    /// Those of them that asked for the arguments and results of tools.
    Tools(&'a str),
    /// Those of them that did not.
    Toolless(&'a str),
    /// Clients that watch runs of this session in the form of seed 002.
    Seed(&'a str),
    /// Clients that follow the session index.
    Index,
    /// Clients that follow the messages of this session.
    Messages(&'a str),
}
