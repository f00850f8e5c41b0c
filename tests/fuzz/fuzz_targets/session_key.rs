//! Session keys: any text is refused or becomes canonical, which it stays.
#![no_main]

use libfuzzer_sys::fuzz_target;
use openclaw_sessions::store::Patch;
use openclaw_sessions::{AgentId, Chat, DmScope, IdentityLinks, KEY_LIMIT, Route, SessionKey};

fuzz_target!(|text: &str| {
    let agent = AgentId::main();
    let other: AgentId = "other".parse().expect("an agent id");
    for parse in [SessionKey::parse, SessionKey::stored] {
        let Ok(key) = parse(text, &agent) else {
            continue;
        };
        assert!(key.as_str().len() <= KEY_LIMIT);
        assert!(!key.as_str().contains(char::is_control));
        if key.as_str().starts_with("agent:") {
            assert_eq!(parse(key.as_str(), &other).as_ref(), Ok(&key));
        }
        let stored = SessionKey::stored(key.as_str(), &agent);
        assert_eq!(stored.expect("a canonical key can be stored"), key);
        (key.kind(), key.chat_type(), key.channel(), key.is_main());
    }
    let (channel, peer) = text.split_once(':').unwrap_or((text, text));
    let links: IdentityLinks = [(peer.to_owned(), vec![text.to_owned()])].into();
    for chat in [Chat::Direct(peer.to_owned()), Chat::Group(peer.to_owned())] {
        let route = Route {
            channel: channel.to_owned(),
            account: String::new(),
            chat,
            thread: Some(peer.to_owned()),
        };
        for scope in [
            DmScope::Main,
            DmScope::PerPeer,
            DmScope::PerAccountChannelPeer,
        ] {
            if let Ok(key) = route.key(&agent, scope, &links) {
                assert_eq!(SessionKey::parse(key.as_str(), &agent), Ok(key));
            }
        }
    }
    let _ = Patch::default().change_text(channel, peer);
});
