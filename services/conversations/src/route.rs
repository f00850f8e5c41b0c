//! Routes and scopes between the wire, the configuration and session keys.

use openclaw_proto::gateway::{ChatKind, Route as Sent};
use openclaw_sessions::{AgentId, Chat, DmScope, Route, SessionKey};
use openclaw_settings::{self as settings, SessionScope, SessionSettings};

/// The route of a message on `channel`.
pub fn of(channel: &str, route: Sent) -> Route {
    Route {
        channel: channel.to_owned(),
        account: route.account,
        chat: match route.chat {
            ChatKind::Direct => Chat::Direct(route.id),
            ChatKind::Group => Chat::Group(route.id),
            ChatKind::Channel => Chat::Channel(route.id),
            ChatKind::Room => Chat::Room(route.id),
        },
        thread: route.thread,
    }
}

/// The session that messages of no other belong to.
pub fn main(agent: &AgentId, settings: &SessionSettings) -> SessionKey {
    scoped(SessionKey::main(agent), settings)
}

/// `key`, or where all share one conversation and it is the main session's, the
/// key of that one.
pub fn scoped(key: SessionKey, settings: &SessionSettings) -> SessionKey {
    match settings.scope {
        SessionScope::Global if key.is_main() => SessionKey::global(key.agent()),
        _ => key,
    }
}

/// The configured scope.
pub fn scope(scope: settings::DmScope) -> DmScope {
    match scope {
        settings::DmScope::Main => DmScope::Main,
        settings::DmScope::PerPeer => DmScope::PerPeer,
        settings::DmScope::PerChannelPeer => DmScope::PerChannelPeer,
        settings::DmScope::PerAccountChannelPeer => DmScope::PerAccountChannelPeer,
    }
}
