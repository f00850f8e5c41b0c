use openclaw_credentials::Credential;

use super::*;

fn resolve_with(
    configured: &str,
    environment: &[(&str, &str)],
) -> Result<BTreeMap<String, Provider>, (String, String)> {
    let configured = serde_json::from_str(configured).unwrap();
    let environment = environment.iter().copied().collect();
    resolve(&configured, &environment, &BTreeMap::new())
}

#[test]
fn environment_comes_before_the_file() {
    let file = r#"{"anthropic":{"baseUrl":"https://proxy.example","apiKey":"file"}}"#;
    let from_file = resolve_with(file, &[]).unwrap();
    assert_eq!(from_file["anthropic"].base_url, "https://proxy.example");
    assert_eq!(
        from_file["anthropic"].key.as_ref().unwrap().reveal(),
        "file"
    );

    let variables = [
        ("ANTHROPIC_API_KEY", "env"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/"),
    ];
    let from_environment = resolve_with(file, &variables).unwrap();
    assert_eq!(from_environment["anthropic"].base_url, "http://127.0.0.1:9");
    assert_eq!(
        from_environment["anthropic"].key.as_ref().unwrap().reveal(),
        "env"
    );
}

#[test]
fn local_servers_need_no_key() {
    let providers = resolve_with("{}", &[]).unwrap();
    assert!(providers["ollama"].is_usable());
    assert!(!providers["anthropic"].is_usable());
}

#[test]
fn mistakes_are_named() {
    let (key, problem) = resolve_with(r#"{"mine":{"baseUrl":"localhost:1"}}"#, &[]).unwrap_err();
    assert_eq!(key, "models.providers.mine.baseUrl");
    assert!(problem.contains("http://"), "{problem}");
}

#[test]
fn provider_that_cannot_be_asked_takes_only_itself_away() {
    let file = r#"{"mine":{}, "soap":{"baseUrl":"http://localhost:1","api":"soap"}}"#;
    let providers = resolve_with(file, &[]).unwrap();
    for (id, words) in [("mine", "baseUrl is missing"), ("soap", "api is \"soap\"")] {
        assert!(!providers[id].is_usable());
        let fault = providers[id].fault.as_deref().unwrap();
        assert!(
            fault.starts_with("models.providers.") && fault.contains(words),
            "{fault}"
        );
    }
    assert!(providers["ollama"].is_usable());
}

#[test]
fn keys_are_not_printed() {
    let providers = resolve_with("{}", &[("OPENAI_API_KEY", "sk-hidden")]).unwrap();
    assert!(!format!("{providers:?}").contains("sk-hidden"));
}

fn provider(configured: &str) -> Provider {
    let providers = resolve_with(&format!(r#"{{"mine":{configured}}}"#), &[]);
    providers.unwrap().remove("mine").unwrap()
}

#[test]
fn provider_is_asked_in_its_own_api() {
    let api = |configured: &str| provider(configured).api;
    for (name, expected) in [
        ("anthropic-messages", Api::Anthropic),
        ("anthropic", Api::Anthropic),
        ("openai-completions", Api::OpenAi),
        ("openai-chat", Api::OpenAi),
        ("openai", Api::OpenAi),
    ] {
        let configured = format!(r#"{{"baseUrl":"http://a","api":"{name}"}}"#);
        assert_eq!(api(&configured), expected, "{name}");
        assert_eq!(provider(&configured).fault, None);
    }
    assert_eq!(api(r#"{"baseUrl":"http://a"}"#), Api::OpenAi);
    let known = resolve_with(r#"{"openai":{"api":"anthropic-messages"}}"#, &[]).unwrap();
    assert_eq!(known["anthropic"].api, Api::Anthropic);
    assert_eq!(known["openai"].api, Api::Anthropic, "as it is configured");
    assert_eq!(known["openrouter"].api, Api::OpenAi);
}

#[test]
fn known_providers_have_their_own_addresses_and_variables() {
    let providers = resolve_with("{}", &[]).unwrap();
    let ids: Vec<&str> = known().collect();
    assert_eq!(ids, ["anthropic", "openai", "openrouter", "ollama"]);
    assert!(
        providers
            .keys()
            .eq(["anthropic", "ollama", "openai", "openrouter"])
    );
    for (id, url) in [
        ("anthropic", "https://api.anthropic.com"),
        ("openai", "https://api.openai.com/v1"),
        ("openrouter", "https://openrouter.ai/api/v1"),
        ("ollama", "http://127.0.0.1:11434/v1"),
    ] {
        assert_eq!(providers[id].base_url, url);
        let (key, address) = variables(id);
        let upper = id.to_uppercase();
        assert_eq!(key, format!("{upper}_API_KEY"));
        assert_eq!(address, format!("{upper}_BASE_URL"));
        let source = format!("{key} or models.providers.{id}.apiKey");
        assert_eq!(providers[id].key_source, source);
        assert_eq!(providers[id].access, []);
    }
    let of_own = (
        "MY_OWN_ONE_API_KEY".to_owned(),
        "MY_OWN_ONE_BASE_URL".to_owned(),
    );
    assert_eq!(variables("my-own.one"), of_own);
}

#[test]
fn ways_in_come_from_the_service_manager_then_the_environment_then_the_file() {
    let configured = r#"{"mine":{"baseUrl":"https://a","apiKey":"file"}}"#;
    let configured = serde_json::from_str(configured).unwrap();
    let environment = [("MINE_API_KEY", "variable")].into_iter().collect();
    let passed = BTreeMap::from([
        ("mine-api-key".to_owned(), Secret::new("passed")),
        ("other-api-key".to_owned(), Secret::new("other")),
    ]);
    let providers = resolve(&configured, &environment, &passed).unwrap();
    let mine = &providers["mine"];
    let ways: Vec<_> = mine
        .access
        .iter()
        .map(|access| {
            (
                access.id.as_str(),
                access.secret.reveal(),
                access.is_passed(),
            )
        })
        .collect();
    let expected = [
        ("mine-api-key", "passed", true),
        ("MINE_API_KEY", "variable", false),
        ("models.providers.mine.apiKey", "file", false),
    ];
    assert_eq!(ways, expected);
    let sources: Vec<_> = mine
        .access
        .iter()
        .map(|access| access.source.as_str())
        .collect();
    let passed = format!("{PASSED}mine-api-key");
    let expected = [
        passed.as_str(),
        "the variable MINE_API_KEY",
        "models.providers.mine.apiKey",
    ];
    assert_eq!(sources, expected);
    assert!(
        mine.access
            .iter()
            .all(|access| access.scheme == Scheme::ApiKey)
    );
    assert_eq!(mine.key.as_ref().unwrap().reveal(), "passed");
    assert_eq!(mine.key_source, passed);
    assert!(mine.is_usable());
}

#[test]
fn ways_in_of_an_agent_come_first() {
    let configured = r#"{"baseUrl":"https://a","apiKey":"file"}"#;
    let own = |id: &str| Access {
        agent: Some("main".to_owned()),
        ..access(id, Secret::new(id), format!("the profile {id}"))
    };
    let both = provider(configured).with_access(vec![own("one"), own("two")]);
    let ids: Vec<_> = both
        .access
        .iter()
        .map(|access| access.id.as_str())
        .collect();
    assert_eq!(ids, ["one", "two", "models.providers.mine.apiKey"]);
    assert_eq!(both.key.as_ref().unwrap().reveal(), "one");
    assert_eq!(both.key_source, "the profile one");
    let same = provider(configured).with_access(Vec::new());
    assert_eq!(same, provider(configured));
}

#[test]
fn way_in_is_what_a_profile_holds() {
    let profile = |credential| Profile {
        id: "mine:work".to_owned(),
        provider: "mine".to_owned(),
        credential,
        usage: Usage::default(),
        source: "an API key for mine".to_owned(),
        file: None,
        endpoint: None,
    };
    let access = Access::of(&profile(Credential::ApiKey(Secret::new("k"))), "main").unwrap();
    let expected = Access {
        agent: Some("main".to_owned()),
        ..super::access(
            "mine:work",
            Secret::new("k"),
            "an API key for mine".to_owned(),
        )
    };
    assert_eq!(access, expected);
    let token = profile(Credential::Token(Secret::new("t")));
    assert_eq!(Access::of(&token, "main").unwrap().scheme, Scheme::Bearer);
    assert_eq!(Access::of(&profile(Credential::AwsSdk), "main"), None);
    assert!(!access.is_passed());
}

#[test]
fn images_are_seen_as_the_model_says() {
    let models = r#""models":[{"id":"text","input":["text"]},
        {"id":"both","input":["text","image"]},{"id":"silent"}]"#;
    for (api, unknown) in [("anthropic", true), ("openai", false)] {
        let configured = format!(r#"{{"baseUrl":"http://a","api":"{api}",{models}}}"#);
        let provider = provider(&configured);
        let seen = ["text", "both", "silent", "other"].map(|model| provider.sees_images(model));
        assert_eq!(seen, [false, true, unknown, unknown], "{api}");
    }
}

#[test]
fn provider_is_usable_with_a_key_or_where_none_is_needed() {
    let is_usable = |configured: &str| provider(configured).is_usable();
    assert!(is_usable(r#"{"baseUrl":"http://a"}"#));
    assert!(!is_usable(r#"{"baseUrl":"https://a"}"#));
    assert!(is_usable(r#"{"baseUrl":"https://a","apiKey":"k"}"#));
    assert!(!is_usable(
        r#"{"baseUrl":"https://a","apiKey":"k","api":"soap"}"#
    ));
    assert!(!is_usable(r#"{"baseUrl":"http://a","api":"soap"}"#));
    assert!(!is_usable(r#"{"apiKey":"k"}"#));
}

#[test]
fn addresses_have_a_scheme_and_a_host() {
    for (url, expected) in [
        ("http://a", "http://a"),
        ("https://a/v1///", "https://a/v1"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1"),
    ] {
        assert_eq!(checked_url(url).unwrap(), expected);
    }
    for url in ["", "a", "ftp://a", "http://", "https:///v1", "HTTP:/a"] {
        let problem = checked_url(url).unwrap_err();
        assert!(problem.contains(&format!("{url:?}")), "{problem}");
    }
}

#[test]
fn apis_are_those_of_the_providers_also_where_a_key_is_a_reference() {
    let text = r#"{"gate":{"api":"anthropic","apiKey":"${KEY}"},"lm":{"baseUrl":"http://a"},
        "openai":{"api":"anthropic-messages"},"odd":{"api":"telepathy"}}"#;
    let apis = apis(&serde_json::from_str(text).unwrap());
    let of = |id: &str| apis.get(id).copied();
    assert_eq!(of("gate"), Some(Api::Anthropic));
    assert_eq!(of("lm"), Some(Api::OpenAi));
    assert_eq!(of("openai"), Some(Api::Anthropic));
    assert_eq!(of("anthropic"), Some(Api::Anthropic));
    assert_eq!(of("odd"), None);
}
