use std::collections::BTreeMap;
use std::path::PathBuf;

use openclaw_config::Paths;
use openclaw_config::environment::Environment;
use openclaw_config::secret::Secret;
use openclaw_credentials::endpoint;
use serde_json::json;

use super::*;
use crate::settings::Settings;

/// Milliseconds since 1970 that are long past.
const PAST: Option<u64> = Some(1);

fn settings(profiles: &[(&str, &[Profile])]) -> RunnerSettings {
    let document = json!({"agents": {"list": [{"id": "main"}, {"id": "own"}]}});
    settings_of(document, profiles)
}

fn settings_of(document: serde_json::Value, profiles: &[(&str, &[Profile])]) -> RunnerSettings {
    let environment = [("HOME", "/home/u")].into_iter().collect();
    let paths = Paths::resolve(&environment).unwrap();
    let base = Settings::assemble(paths, document, &environment).unwrap();
    let configured = json!({"mine": {"baseUrl": "https://a", "apiKey": "file"}});
    let configured = serde_json::from_value(configured).unwrap();
    let providers = crate::provider::resolve(&configured, &environment, &Default::default());
    let all = profiles.iter();
    RunnerSettings {
        base,
        providers: providers.unwrap(),
        profiles: all
            .map(|(agent, profiles)| ((*agent).to_owned(), profiles.to_vec()))
            .collect(),
        stored_order: BTreeMap::new(),
        order_problems: Vec::new(),
        pinned: None,
        mcp_servers: BTreeMap::new(),
        mcp_problems: Vec::new(),
        embedding: None,
        webhook_token: None,
        environment: Environment::default(),
    }
}

fn profile(id: &str, credential: Credential) -> Profile {
    Profile {
        id: id.to_owned(),
        provider: id.split(':').next().unwrap().to_owned(),
        credential,
        usage: Default::default(),
        source: format!("a credential of {id}"),
        file: Some(PathBuf::from("/f")),
        endpoint: Some(endpoint::Endpoint {
            url: "https://a/token".to_owned(),
            client_id: "c".to_owned(),
            form: endpoint::Form::Json,
            skew_ms: 0,
        }),
    }
}

fn login(id: &str, expires_ms: Option<u64>) -> Profile {
    let credential = Credential::OAuth {
        access: Secret::new(id),
        refresh: Some(Secret::new("refresh")),
        expires_ms,
    };
    profile(id, credential)
}

fn key(id: &str) -> Profile {
    profile(id, Credential::ApiKey(Secret::new(id)))
}

fn expires(settings: &RunnerSettings, agent: &str, place: usize) -> Option<u64> {
    match &settings.profiles[agent][place].credential {
        Credential::OAuth { expires_ms, .. } => *expires_ms,
        _ => panic!("no login"),
    }
}

#[test]
fn logins_are_the_agents_own_or_the_main_agents() {
    let settings = settings(&[
        (
            "main",
            &[login("mine:main", None), login("other:main", None)],
        ),
        ("own", &[login("mine:own", None), key("mine:key")]),
    ]);
    let logins = |agent: &str, providers: &[&str]| -> Vec<String> {
        let providers: Vec<String> = providers.iter().map(|it| (*it).to_owned()).collect();
        let logins = settings.logins(agent, &providers).into_iter();
        logins
            .map(|(agent, profile)| format!("{agent} {}", profile.id))
            .collect()
    };
    assert_eq!(logins("own", &["mine"]), ["own mine:own"]);
    assert_eq!(logins("own", &["other"]), ["main other:main"]);
    assert_eq!(logins("main", &["mine"]), ["main mine:main"]);
    let both = ["own mine:own", "main other:main"];
    assert_eq!(logins("own", &["mine", "other"]), both);
    assert_eq!(logins("own", &["none"]), [""; 0]);
}

#[test]
fn tokens_are_put_into_the_login_that_they_are_for() {
    let before = settings(&[
        ("main", &[login("mine:a", PAST)]),
        ("own", &[login("mine:a", PAST), login("mine:b", PAST)]),
    ]);
    let tokens = renewal::Tokens {
        access: Secret::new("new"),
        refresh: Secret::new("next"),
        expires_ms: Some(7),
    };
    let after = before.with_tokens("own", "mine:a", &tokens);
    let expected = Credential::OAuth {
        access: Secret::new("new"),
        refresh: Some(Secret::new("next")),
        expires_ms: Some(7),
    };
    assert_eq!(after.profiles["own"][0].credential, expected);
    assert_eq!(after.profiles["own"][1], before.profiles["own"][1]);
    assert_eq!(after.profiles["main"], before.profiles["main"]);
    assert_eq!(before.with_tokens("own", "mine:c", &tokens), before);
}

#[test]
fn logins_that_will_do_are_taken_for_good() {
    let before = Arc::new(settings(&[
        ("main", &[login("mine:a", PAST), key("mine:k")]),
        (
            "own",
            &[login("mine:a", PAST), login("mine:b", Some(u64::MAX))],
        ),
    ]));
    let after = before.with_logins(|agent, profile| agent == "own" && profile.id == "mine:a");
    assert_eq!(expires(&after, "own", 0), None);
    assert_eq!(expires(&after, "own", 1), Some(u64::MAX));
    assert_eq!(expires(&after, "main", 0), PAST);
    let same = before.with_logins(|_, _| false);
    assert!(Arc::ptr_eq(&same, &before));
    let all = before.with_logins(|_, _| true);
    assert_eq!(expires(&all, "main", 0), None);
    assert_eq!(expires(&all, "own", 1), Some(u64::MAX), "good anyway");
}

#[test]
fn pinned_profile_is_one_of_the_agents_or_the_main_agents() {
    let mut settings = settings(&[
        ("main", &[key("mine:a"), key("other:b")]),
        ("own", &[key("mine:c"), key("mine:a")]),
    ]);
    assert_eq!(settings.profile_ids("own"), ["mine:a", "mine:c", "other:b"]);
    assert_eq!(settings.profile_ids("main"), ["mine:a", "other:b"]);
    assert!(!settings.is_pinned("mine"));
    assert!(!settings.pin("main", "mine:c", true));
    assert_eq!(settings.pinned, None);
    assert!(settings.pin("own", "mine:c", false));
    assert!(settings.is_pinned("mine") && !settings.is_pinned("other"));
    assert!(settings.pin("own", "other:b", true));
    let expected = Pinned {
        provider: "other".to_owned(),
        id: "other:b".to_owned(),
        is_only: true,
    };
    assert_eq!(settings.pinned, Some(expected));
}

/// Logins that no agent was named for are the main agent's, whichever is the default one.
#[test]
fn logins_of_the_main_agent_serve_the_only_one_of_the_list() {
    let document = json!({"agents": {"list": [{"id": "own"}]}});
    let profiles: [(&str, &[Profile]); 1] = [("main", &[login("mine:a", PAST)])];
    let settings = settings_of(document, &profiles);
    assert_eq!(settings.default_agent, "own");
    assert_eq!(settings.profile_ids("own"), ["mine:a"]);
    let found = settings.logins("own", &["mine".to_owned()]);
    assert_eq!(found[0].0, "main");
    assert!(settings.expired_login("own", "mine").is_some());
}

/// The ids of the profiles by which the agent `own` asks the provider `mine`.
fn asked_with(settings: &RunnerSettings) -> Vec<String> {
    let provider = settings.provider("own", "mine").unwrap();
    let ids = provider.access.into_iter().map(|access| access.id);
    ids.filter(|id| id.starts_with("mine:")).collect()
}

#[test]
fn order_leaves_out_profiles_of_every_agent_until_somebody_names_one() {
    let mut settings = settings(&[
        ("main", &[key("mine:main"), login("mine:login", PAST)]),
        ("own", &[key("mine:own"), key("mine:b")]),
    ]);
    let listed = |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        BTreeMap::from([("mine".to_owned(), ids)])
    };
    assert_eq!(asked_with(&settings), ["mine:own", "mine:b"]);
    settings.base.profile_order.listed = listed(&["mine:b", "mine:main"]);
    assert_eq!(asked_with(&settings), ["mine:b"]);
    assert_eq!(settings.expired_login("own", "mine"), None);
    assert_eq!(settings.logins("own", &["mine".to_owned()]), []);
    settings.base.profile_order.listed = listed(&["mine:main"]);
    assert_eq!(asked_with(&settings), ["mine:main"]);
    settings.base.profile_order.listed = listed(&["mine:login"]);
    assert_eq!(asked_with(&settings), [""; 0]);
    assert!(settings.expired_login("own", "mine").is_some());
    // The agent's own file comes before the configuration.
    settings.stored_order = BTreeMap::from([("own".to_owned(), listed(&["mine:own"]))]);
    assert_eq!(asked_with(&settings), ["mine:own"]);

    assert!(settings.pin("own", "mine:b", false));
    assert_eq!(asked_with(&settings), ["mine:own"]);
    assert!(settings.pin("own", "mine:b", true));
    assert_eq!(asked_with(&settings), ["mine:b"]);
}

fn ways(settings: &RunnerSettings, agent: &str) -> Vec<String> {
    let provider = settings.providers["mine"].clone();
    let provider = settings.with_pinned(agent, provider);
    provider
        .access
        .into_iter()
        .map(|access| access.id)
        .collect()
}

#[test]
fn pinned_profile_comes_first_or_alone() {
    let mut settings = settings(&[
        ("main", &[key("mine:main"), key("other:b")]),
        ("own", &[key("mine:own"), login("mine:gone", PAST)]),
    ]);
    let file = "models.providers.mine.apiKey";
    let of_file = settings.providers["mine"].access.clone();
    assert_eq!(of_file.len(), 1);
    assert_eq!(ways(&settings, "own"), [file]);
    assert!(settings.pin("own", "other:b", true));
    assert_eq!(ways(&settings, "own"), [file], "of another provider");

    assert!(settings.pin("own", "mine:own", false));
    assert_eq!(ways(&settings, "own"), ["mine:own", file]);
    assert!(settings.pin("own", "mine:main", true));
    assert_eq!(ways(&settings, "own"), ["mine:main"]);
    assert!(settings.pin("own", "mine:own", true));
    let provider = settings.with_pinned("own", settings.providers["mine"].clone());
    assert_eq!(provider.key.unwrap().reveal(), "mine:own");
    assert_eq!(provider.fault, None);

    // It is there already: moved, not doubled.
    let own = Access::of(&key("mine:own"), "own").unwrap();
    let mut there = settings.providers["mine"].clone();
    there.access.push(own);
    assert!(settings.pin("own", "mine:own", false));
    let moved = settings.with_pinned("own", there).access;
    let ids: Vec<&str> = moved.iter().map(|access| access.id.as_str()).collect();
    assert_eq!(ids, ["mine:own", file]);

    assert!(settings.pin("own", "mine:gone", false));
    assert_eq!(ways(&settings, "own"), [file]);
    assert!(settings.pin("own", "mine:gone", true));
    let provider = settings.with_pinned("own", settings.providers["mine"].clone());
    assert_eq!((provider.key, provider.access), (None, Vec::new()));
    let fault = provider.fault.unwrap();
    assert!(
        fault.contains("mine:gone of the session has expired"),
        "{fault}"
    );
}
