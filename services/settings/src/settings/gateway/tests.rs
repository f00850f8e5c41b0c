use openclaw_config::pipeline::overrides;
use openclaw_config::schema::Schema;
use serde_json::{Value, json};

use super::*;
use crate::keys;

fn resolve(gateway: Value, hooks: Value, variables: &[(&str, &str)]) -> Result<Gateway, String> {
    let text = |error: Error| error.to_string();
    let mut document = json!({"gateway": gateway, "hooks": hooks});
    let environment = variables.iter().copied().collect();
    overrides::apply(&mut document, &environment, Schema::shipped()).map_err(text)?;
    let keys = keys::typed("f".as_ref(), &document).map_err(text)?;
    let (gateway, hooks) = (keys.gateway, keys.hooks);
    let mut settings = Gateway::resolve(&gateway, &hooks, "f").map_err(text)?;
    assert!(settings.token.is_none() && settings.cli.secret.is_none());
    let credentials = [(
        "openclaw-hooks-token".to_owned(),
        Secret::new("from-systemd"),
    )];
    let credentials = credentials.into_iter().collect();
    settings
        .with_secrets(&gateway, &hooks, &credentials, "f")
        .map_err(text)?;
    Ok(settings)
}

#[test]
fn defaults_are_openclaws_on_the_loopback() {
    let settings = resolve(json!({}), json!({}), &[]).unwrap();
    assert_eq!((settings.port, settings.cli.port), (18789, 8080));
    assert!(settings.address.is_loopback() && !settings.port_is_chosen);
    assert_eq!(settings.mode, AuthMode::Token);
    assert!(settings.cli.secret.is_none() && !settings.metrics && !settings.hooks.enabled);
    assert!(settings.chat_completions && settings.responses);
}

#[test]
fn environment_comes_before_the_file_and_credentials_before_both() {
    let variables = [
        ("OPENCLAW_GATEWAY_PORT", "19000"),
        ("OPENCLAW_GATEWAY_TOKEN", "outside"),
        ("OPENCLAW_CLI_SECRET", " s "),
    ];
    let gateway = json!({"port": 1, "auth": {"token": "inside"}});
    let settings = resolve(gateway, json!({"enabled": true, "token": "t"}), &variables).unwrap();
    assert_eq!(settings.port, 19000);
    assert_eq!(settings.token, Some(Secret::new("outside")));
    assert_eq!(settings.cli.secret, Some(Secret::new("s")));
    assert_eq!(settings.hooks.token, Some(Secret::new("from-systemd")));
}

#[test]
fn empty_secret_is_none() {
    let variables = [("OPENCLAW_CLI_SECRET", "  ")];
    let gateway = json!({"auth": {"token": ""}, "cli": {"secret": ""}});
    let settings = resolve(gateway, json!({}), &variables).unwrap();
    assert_eq!((settings.token, settings.cli.secret), (None, None));
}

#[test]
fn gateway_what_cannot_be_is_refused_by_its_key() {
    let cases = [
        (json!({"bind": "moon"}), "gateway.bind"),
        (json!({"bind": "custom"}), "gateway.customBindHost"),
        (
            json!({"auth": {"mode": "trusted-proxy"}}),
            "gateway.auth.mode",
        ),
        (
            json!({"auth": {"mode": "none"}, "bind": "lan"}),
            "gateway.auth.mode",
        ),
        (
            json!({"auth": {"mode": "password"}}),
            "OPENCLAW_GATEWAY_PASSWORD",
        ),
        (json!({"auth": {"token": "${NOPE}"}}), "gateway.auth.token"),
        (json!({"trustedProxies": ["x"]}), "gateway.trustedProxies.0"),
        (
            json!({"controlUi": {"allowedOrigins": ["x"]}}),
            "allowedOrigins.0",
        ),
        (
            json!({"auth": {"rateLimit": {"maxAttempts": 0}}}),
            "maxAttempts",
        ),
    ];
    for (gateway, key) in cases {
        let error = resolve(gateway.clone(), json!({}), &[]).unwrap_err();
        assert!(error.contains(key), "{gateway}: {error}");
    }
    let error = resolve(json!({}), json!({"path": "/"}), &[]).unwrap_err();
    assert!(error.contains("hooks.path"), "{error}");
    let error = resolve(json!({}), json!({}), &[("OPENCLAW_CLI_PORT", "http")]).unwrap_err();
    assert!(
        error.contains("the environment: OPENCLAW_CLI_PORT"),
        "{error}"
    );
}

#[test]
fn addresses_and_modes_by_what_is_written() {
    let address = |bind: &str| {
        resolve(json!({"bind": bind}), json!({}), &[])
            .unwrap()
            .address
    };
    assert_eq!(address("lan").to_string(), "0.0.0.0");
    assert_eq!(address("::1").to_string(), "::1");
    let settings = resolve(json!({"auth": {"password": "p"}}), json!({}), &[]).unwrap();
    assert_eq!(settings.mode, AuthMode::Password);
}

fn mapped(mapping: Value) -> Result<hooks::Mapping, String> {
    let settings = resolve(json!({}), json!({"mappings": [{}, mapping]}), &[])?;
    Ok(settings.hooks.mappings[1].clone())
}

#[test]
fn turn_of_a_hook_takes_some_time_and_no_more_than_a_day() {
    for seconds in [1, 86_400] {
        let mapping = mapped(json!({"timeoutSeconds": seconds})).unwrap();
        assert_eq!(mapping.timeout, Some(seconds));
    }
    for seconds in [0, 86_401] {
        let error = mapped(json!({"timeoutSeconds": seconds})).unwrap_err();
        assert!(
            error.contains("hooks.mappings[1].timeoutSeconds: must be from 1 to 86400"),
            "{error}"
        );
    }
}

#[test]
fn mapping_takes_what_is_filled() {
    let plain = mapped(json!({"id": " ", "name": "", "channel": "last"})).unwrap();
    assert_eq!(plain.id, "mapping-2");
    assert_eq!((plain.name, plain.channel, plain.path), (None, None, None));
    let full = mapped(json!({
        "id": "x", "match": {"path": "/a/b/", "source": "s"}, "action": "wake", "wakeMode": "next-heartbeat",
        "sessionMode": "persistent", "name": "n", "agentId": "a", "sessionKey": "k", "channel": "c",
        "messageTemplate": "m", "textTemplate": "t", "model": "p/m", "thinking": "low",
    }))
    .unwrap();
    assert_eq!(full.id, "x");
    assert_eq!(full.path.as_deref(), Some("a/b"));
    assert_eq!(full.source.as_deref(), Some("s"));
    assert_eq!(full.action, hooks::Action::Wake);
    assert_eq!(full.wake_mode, hooks::WakeMode::NextHeartbeat);
    assert_eq!(full.session_mode, hooks::SessionMode::Persistent);
    let texts = [
        full.name,
        full.agent_id,
        full.session_key,
        full.channel,
        Some(full.message),
        Some(full.text),
        full.model,
        full.thinking,
    ];
    let expected = ["n", "a", "k", "c", "m", "t", "p/m", "low"];
    assert_eq!(texts, expected.map(|text| Some(text.to_owned())));
    for (key, word) in [("action", "x"), ("wakeMode", "later"), ("sessionMode", "x")] {
        let error = mapped(json!({ key: word })).unwrap_err();
        let expected = format!("hooks.mappings[1].{key}: is \"{word}\", not one of ");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn path_of_hooks_is_plain_and_not_the_root() {
    let path = |path: &str| {
        let settings = resolve(json!({}), json!({ "path": path }), &[]);
        settings.map(|settings| settings.hooks.path)
    };
    for (written, expected) in [("/a", "/a"), ("a", "/a"), ("/a/b//", "/a/b")] {
        assert_eq!(path(written).unwrap(), expected);
    }
    for wrong in ["/", "//", "", "/a{b", "/a}", "/*", "/a?b", "/#a"] {
        let error = path(wrong).unwrap_err();
        assert!(error.contains("hooks.path: is "), "{wrong}: {error}");
    }
}

#[test]
fn keys_of_hooks_sessions_begin_as_they_may() {
    let settings = |hooks: Value| resolve(json!({}), hooks, &[]);
    let templated = json!([{"sessionKey": "hook:{{id}}"}]);
    let error = settings(json!({ "mappings": templated })).unwrap_err();
    assert!(error.contains("hooks.mappings[0].sessionKey"), "{error}");
    let prefixes = json!(["Hook:"]);
    settings(json!({"mappings": templated, "allowedSessionKeyPrefixes": prefixes})).unwrap();
    settings(json!({"mappings": [{"sessionKey": "hook:fixed"}]})).unwrap();
    let error = settings(json!({"allowedSessionKeyPrefixes": ["other:"]})).unwrap_err();
    assert!(error.contains("hooks.allowedSessionKeyPrefixes"), "{error}");
}

#[test]
fn preset_is_named_where_its_session_lacks_a_prefix() {
    for own in [json!([]), json!([{"id": "own"}])] {
        let hooks = json!({"presets": ["gmail"], "mappings": own});
        let (key, problem) =
            super::hooks::resolve(&serde_json::from_value(hooks).unwrap()).unwrap_err();
        assert_eq!(key, "hooks.presets");
        assert!(problem.contains("\"gmail\""), "{problem}");
        assert!(
            problem.contains("hooks.allowedSessionKeyPrefixes"),
            "{problem}"
        );
    }
}

#[test]
fn preset_of_gmail_is_a_mapping_behind_ones_own() {
    let presets = json!({"presets": ["gmail"], "mappings": [{"id": "own"}],
        "allowedSessionKeyPrefixes": ["hook:"]});
    let mappings = resolve(json!({}), presets, &[]).unwrap().hooks.mappings;
    let ids: Vec<&str> = mappings.iter().map(|mapping| mapping.id.as_str()).collect();
    assert_eq!(ids, ["own", "gmail"]);
    assert_eq!(mappings[1].for_each.as_deref(), Some("messages"));
    assert!(mappings[1].deliver);
    let none = resolve(json!({}), json!({"presets": ["other"]}), &[]).unwrap();
    assert_eq!(none.hooks.mappings, []);
}

#[test]
fn origins_have_a_scheme_or_are_all() {
    let origins = |text: &str| {
        let gateway = json!({"controlUi": {"allowedOrigins": ["*", text]}});
        resolve(gateway, json!({}), &[])
    };
    for text in [
        "*",
        "https://a.example",
        "HTTP://A.example/",
        "tauri://localhost",
    ] {
        origins(text).unwrap();
    }
    for text in ["a.example", "", "**"] {
        let error = origins(text).err().unwrap();
        assert!(
            error.contains("gateway.controlUi.allowedOrigins.1"),
            "{error}"
        );
    }
    let own = super::origins(&["*".to_owned(), "HTTPS://A.example//".to_owned()]).unwrap();
    assert_eq!(own, ["*", "https://a.example"]);
}

#[test]
fn proxies_are_addresses() {
    let written = ["10.0.0.1", "::1"].map(str::to_owned);
    let proxies = super::proxies(&written).unwrap();
    let texts: Vec<_> = proxies.iter().map(ToString::to_string).collect();
    assert_eq!(texts, written);
    let wrong = ["10.0.0.1", "proxy"].map(str::to_owned);
    let (key, problem) = super::proxies(&wrong).unwrap_err();
    assert_eq!(key, "gateway.trustedProxies.1");
    assert!(problem.starts_with("is \"proxy\""), "{problem}");
}
