use super::*;

fn canonical(raw: &str) -> String {
    SessionKey::parse(raw, &AgentId::main())
        .unwrap()
        .to_string()
}

#[test]
fn known_forms_become_canonical() {
    for (raw, expected) in [
        ("", "agent:main:main"),
        (" Main ", "agent:main:main"),
        ("work", "agent:main:work"),
        ("cli:local", "agent:main:cli:direct:local"),
        (
            "Telegram:+1 (234) 567-890",
            "agent:main:telegram:direct:+1234567890",
        ),
        ("telegram:direct:42", "agent:main:telegram:direct:42"),
        ("telegram:dm:42", "agent:main:telegram:direct:42"),
        ("agent:main:telegram:dm:42", "agent:main:telegram:direct:42"),
        (
            "agent:main:signal:default:dm:+49 151 23",
            "agent:main:signal:default:direct:+4915123",
        ),
        (
            "signal:default:direct:+49 151 23",
            "agent:main:signal:default:direct:+4915123",
        ),
        (
            "telegram:group:-7:topic:3",
            "agent:main:telegram:group:-7:topic:3",
        ),
        (
            "discord:guild1:channel2",
            "agent:main:discord:direct:guild1:channel2",
        ),
        ("matrix:@a:b.org", "agent:main:matrix:direct:@a:b.org"),
        ("telegram:group", "agent:main:telegram:direct:group"),
        ("cron:job-1", "agent:main:cron:job-1"),
        ("subagent:0a1b", "agent:main:subagent:0a1b"),
        ("+1 555 0100", "agent:main:whatsapp:direct:+15550100"),
        ("12036@g.us", "agent:main:whatsapp:group:12036@g.us"),
        (
            "whatsapp:12036@g.us",
            "agent:main:whatsapp:group:12036@g.us",
        ),
        ("group:12036@g.us", "agent:main:whatsapp:group:12036@g.us"),
        ("group:-7", "agent:main:unknown:group:-7"),
        ("dm:42", "agent:main:direct:42"),
        ("agent:Ops:Main", "agent:ops:main"),
        ("Global", "global"),
        (
            "agent:main:imessage:group:any;-;chat7",
            "agent:main:imessage:group:any;-;chat7",
        ),
    ] {
        assert_eq!(canonical(raw), expected, "of {raw:?}");
    }
}

#[test]
fn invalid_key_is_named_with_the_allowed_form() {
    for raw in [
        "a b",
        "a::b",
        ":",
        "agent",
        "agent:main",
        "agent::x",
        "agent:a/b:x",
        "a\u{7}b",
    ] {
        let error = SessionKey::parse(raw, &AgentId::main()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(&format!("{raw:?}")), "{text}");
        assert!(text.contains("<channel>:<peer>"), "{text}");
    }
    assert!(SessionKey::parse(&"k".repeat(600), &AgentId::main()).is_err());
}

#[test]
fn stored_key_may_have_the_name_of_a_room() {
    let raw = "agent:main:slack:channel:#General Chat";
    let key = SessionKey::stored(raw, &AgentId::main()).unwrap();
    assert_eq!(key.as_str(), "agent:main:slack:channel:#general chat");
    assert!(SessionKey::parse(raw, &AgentId::main()).is_err());
}

#[test]
fn groups_and_threads_are_told_from_direct_chats() {
    let key = |raw| SessionKey::parse(raw, &AgentId::main()).unwrap();
    assert_eq!(key("telegram:group:-7").chat_type(), "group");
    assert_eq!(key("telegram:7").chat_type(), "direct");
    assert_eq!(key("main").chat_type(), "direct");
    assert_eq!(key("telegram:group:-7:topic:1").kind(), "thread");
    assert_eq!(key("telegram:group:-7").kind(), "group");
    assert_eq!(key("main").kind(), "direct");
    assert_eq!(key("telegram:7").channel(), Some("telegram"));
    assert_eq!(key("work").channel(), None);
    assert!(key("main").is_main());
}

fn route(channel: &str, chat: Chat) -> Route {
    Route {
        channel: channel.to_owned(),
        account: String::new(),
        chat,
        thread: None,
    }
}

#[test]
fn direct_chats_go_where_the_scope_says() {
    let links: IdentityLinks = [(
        "Anna".to_owned(),
        vec!["telegram:42".to_owned(), "signal:+49 151 23".to_owned()],
    )]
    .into();
    let agent = AgentId::main();
    let direct = |channel: &str, peer: &str, scope| {
        let route = route(channel, Chat::Direct(peer.to_owned()));
        route.key(&agent, scope, &links).unwrap().to_string()
    };
    assert_eq!(direct("telegram", "7", DmScope::Main), "agent:main:main");
    assert_eq!(
        direct("telegram", "42", DmScope::PerPeer),
        "agent:main:direct:anna"
    );
    assert_eq!(
        direct("signal", "+4915123", DmScope::PerPeer),
        "agent:main:direct:anna"
    );
    assert_eq!(
        direct("whatsapp", "42", DmScope::PerPeer),
        "agent:main:direct:42"
    );
    assert_eq!(
        direct("matrix", "@a:b.org", DmScope::PerChannelPeer),
        "agent:main:matrix:direct:@a:b.org"
    );
    assert_eq!(
        direct("Telegram", "7", DmScope::PerAccountChannelPeer),
        "agent:main:telegram:default:direct:7"
    );
}

#[test]
fn ids_that_would_be_ambiguous_are_escaped() {
    let key = |id: &str, thread: Option<&str>| {
        let route = Route {
            thread: thread.map(str::to_owned),
            ..route("slack", Chat::Channel(id.to_owned()))
        };
        let key = route.key(&AgentId::main(), DmScope::Main, &IdentityLinks::new());
        key.unwrap().to_string()
    };
    assert_ne!(key("a:thread:1", None), key("a", Some("1")));
    assert_ne!(key("a b", None), key("a%20b", None));
    assert_eq!(key("a b", None), "agent:main:slack:channel:a%u0020b");
}

#[test]
fn groups_have_their_threads() {
    let mut group = route("telegram", Chat::Group("-7".to_owned()));
    group.thread = Some("3".to_owned());
    let key = group.key(&AgentId::main(), DmScope::Main, &IdentityLinks::new());
    assert_eq!(
        key.unwrap().as_str(),
        "agent:main:telegram:group:-7:topic:3"
    );
    let nowhere = route("a:b", Chat::Group("x".to_owned()));
    let error = nowhere.key(&AgentId::main(), DmScope::Main, &IdentityLinks::new());
    assert!(error.unwrap_err().to_string().contains("channel \"a:b\""));
}

#[test]
fn number_before_a_thread_has_one_form_at_once() {
    let raw = "signal:+0 (234:thread:567";
    let once = SessionKey::stored(raw, &AgentId::main()).unwrap();
    let twice = SessionKey::stored(once.as_str(), &AgentId::main()).unwrap();
    assert_eq!(once, twice);
}

#[test]
fn key_of_a_new_session_has_nothing_that_is_not_seen() {
    let key = |raw| SessionKey::parse(raw, &AgentId::main()).unwrap();
    for (raw, character) in [
        ("te\u{200b}st", "U+200B"),
        ("\u{202e}txt", "U+202E"),
        ("a\u{ad}b", "U+00AD"),
    ] {
        let refused = key(raw).check_new().unwrap_err().to_string();
        assert!(refused.contains(character), "{refused}");
        assert!(!refused.contains(raw), "{refused}");
    }
    for raw in [
        "main",
        "telegram:42",
        "größe",
        "工作",
        "❤\u{fe0f}",
        "global",
    ] {
        assert_eq!(key(raw).check_new(), Ok(()), "{raw}");
    }
    let room = "agent:main:slack:channel:#General Chat";
    let room = SessionKey::stored(room, &AgentId::main()).unwrap();
    assert_eq!(room.check_new(), Ok(()));
}
