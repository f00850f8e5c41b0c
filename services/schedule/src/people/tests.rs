use openclaw_config::{Environment, Paths};
use openclaw_proto::channel::AccountName;
use serde_json::{Value, json};

use super::*;

fn people(document: Value, paired: &[(&str, bool)]) -> People {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let places: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let paths = Paths::resolve(&places).unwrap();
    let settings = Settings::assemble(paths, document, &Environment::default()).unwrap();
    let paired = paired.iter().map(|(peer, is_owner)| PairedPeer {
        account: AccountName {
            channel: "telegram".to_owned(),
            account: String::new(),
        },
        peer: (*peer).to_owned(),
        name: String::new(),
        is_owner: *is_owner,
        approved_ms: 0,
    });
    People {
        settings: Arc::new(settings),
        paired: paired.collect(),
    }
}

fn own(people: &People, key: &str) -> bool {
    people.own(&openclaw_runs::keys::named(&people.settings, key, "main").unwrap())
}

/// Telegram that `7` owns and `9` may talk on.
fn with_guest(scope: &str) -> Value {
    json!({
        "session": {"dmScope": scope, "identityLinks": {"ada": ["telegram:7"], "bob": ["telegram:9"],
            "both": ["telegram:7", "telegram:9"]}},
        "commands": {"ownerAllowFrom": ["telegram:7"]},
        "channels": {"telegram": {"tokenFile": "/t", "dmPolicy": "allowlist", "allowFrom": [7, 9]}},
    })
}

#[test]
fn session_of_a_guest_or_a_group_is_not_the_owners_own() {
    let people = people(with_guest("per-channel-peer"), &[]);
    for (key, expected) in [
        ("agent:main:main", true),
        ("agent:main:work", true),
        ("agent:main:telegram:direct:7", true),
        ("agent:main:telegram:direct:7:topic:3", true),
        ("agent:main:telegram:default:direct:7", true),
        ("agent:main:direct:7", true),
        ("agent:main:telegram:direct:ada", true),
        ("agent:main:telegram:direct:9", false),
        ("agent:main:telegram:direct:9:topic:7", false),
        ("agent:main:telegram:default:direct:9", false),
        ("agent:main:telegram:direct:direct:7", false),
        ("agent:main:signal:direct:7", false),
        ("agent:main:direct:9", false),
        ("agent:main:telegram:direct:bob", false),
        ("agent:main:telegram:direct:both", false),
        ("agent:main:telegram:group:-5", false),
        ("agent:main:cron:j", false),
        ("agent:main:hook:1", false),
        ("agent:main:openai-user:ada", false),
        ("agent:main:openresponses-user:ada", false),
    ] {
        assert_eq!(own(&people, key), expected, "{key}");
    }
}

#[test]
fn main_session_is_the_owners_own_where_nobody_else_talks_in_it() {
    let guest = |scope: &str| own(&people(with_guest(scope), &[]), "main");
    assert!(!guest("main"));
    assert!(guest("per-peer") && guest("per-account-channel-peer"));
    let alone = |account: Value, paired: &[(&str, bool)]| {
        let document = json!({"channels": {"telegram": account}});
        own(&people(document, paired), "main")
    };
    let account = |policy: &str, from: Value| json!({"tokenFile": "/t", "dmPolicy": policy, "allowFrom": from});
    assert!(own(&people(json!({}), &[]), "main"), "no channel at all");
    assert!(alone(account("allowlist", json!([7])), &[]));
    assert!(!alone(account("allowlist", json!([7, 8])), &[]));
    assert!(!alone(account("open", json!(["*"])), &[]));
    assert!(!alone(account("open", json!(["*"])), &[("7", true)]));
    assert!(alone(account("disabled", json!([7, 8])), &[]));
    let pairing = account("pairing", json!([]));
    assert!(alone(pairing.clone(), &[]));
    assert!(alone(pairing.clone(), &[("7", true)]));
    assert!(!alone(pairing.clone(), &[("7", true), ("8", false)]));
    let mut off = account("open", json!(["*"]));
    off["enabled"] = json!(false);
    assert!(alone(off, &[]));
    let mut global = with_guest("main");
    global["session"] = json!({"scope": "global"});
    assert!(!own(&people(global, &[]), "main"));
}

#[test]
fn talker_is_told_by_the_key() {
    assert_eq!(talker("global"), Talker::Everybody);
    assert_eq!(
        talker("agent:a:telegram:default:direct:7"),
        Talker::Person(Some("telegram"), "7")
    );
    assert_eq!(
        talker("agent:a:matrix:direct:@a:b.org"),
        Talker::Person(Some("matrix"), "@a:b.org")
    );
    assert_eq!(talker("agent:a:telegram:direct:group:7"), Talker::Many);
    assert_eq!(talker("agent:a:imported:1"), Talker::Operator);
}
