//! Routes and scopes between the wire, the configuration and session keys.

use openclaw_config::settings;
use openclaw_proto::gateway::{ChatKind, Route as Sent};
use openclaw_sessions::{Chat, DmScope, Route};

/// The route of a message on `channel`.
pub(crate) fn of(channel: &str, route: Sent) -> Route {
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

/// The configured scope.
pub(crate) fn scope(scope: settings::DmScope) -> DmScope {
    match scope {
        settings::DmScope::Main => DmScope::Main,
        settings::DmScope::PerPeer => DmScope::PerPeer,
        settings::DmScope::PerChannelPeer => DmScope::PerChannelPeer,
        settings::DmScope::PerAccountChannelPeer => DmScope::PerAccountChannelPeer,
    }
}
