use serde_json::{Value, json};

use super::*;
use crate::pipeline::overrides;
use crate::schema::Schema;

fn resolve(gateway: Value, hooks: Value, variables: &[(&str, &str)]) -> Result<Gateway, String> {
    let text = |error: Error| error.to_string();
    let mut document = json!({"gateway": gateway, "hooks": hooks});
    let environment = variables.iter().copied().collect();
    overrides::apply(&mut document, &environment, &Schema::shipped()).map_err(text)?;
    let part = |name: &str| document[name].clone();
    let (gateway, hooks) = (
        serde_json::from_value(part("gateway")).unwrap(),
        serde_json::from_value(part("hooks")).unwrap(),
    );
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
fn the_defaults_are_openclaws_on_the_loopback() {
    let settings = resolve(json!({}), json!({}), &[]).unwrap();
    assert_eq!((settings.port, settings.cli.port), (18789, 8080));
    assert!(settings.address.is_loopback() && !settings.port_is_chosen);
    assert_eq!(settings.mode, AuthMode::Token);
    assert!(settings.cli.secret.is_none() && !settings.metrics && !settings.hooks.enabled);
    assert!(settings.chat_completions && settings.responses);
}

#[test]
fn the_environment_comes_before_the_file_and_credentials_before_both() {
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
fn an_empty_secret_is_none() {
    let variables = [("OPENCLAW_CLI_SECRET", "  ")];
    let gateway = json!({"auth": {"token": ""}, "cli": {"secret": ""}});
    let settings = resolve(gateway, json!({}), &variables).unwrap();
    assert_eq!((settings.token, settings.cli.secret), (None, None));
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
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
