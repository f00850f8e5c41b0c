use serde_json::json;

use super::*;

fn place(files: &[(&str, &str)]) -> (tempfile::TempDir, Paths) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join("agents/main").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let state = folder.path().to_str().unwrap();
    let paths = Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect()).unwrap();
    (folder, paths)
}

#[test]
fn credentials_every_shape_is_read() {
    let seed = json!({
        "id": "anthropic:work", "provider": "anthropic", "failureCount": 2, "cooldownUntil": 5,
        "credential": {"type": "oauth", "accessToken": "a", "refreshToken": "r", "expiresAt": 9},
    });
    let store = json!({
        "version": 1,
        "profiles": {
            "anthropic:default": {"type": "api_key", "provider": "anthropic", "key": "${KEY}"},
            "openai:default": {"type": "token", "token": "t"},
            "amazon-bedrock:x": {"type": "aws-sdk"},
        },
        "order": {"openai": ["openai:default", 5], "x": "y"},
        "usageStats": {"openai:default": {"lastUsed": 7, "errorCount": 1, "disabledUntil": 8}},
    });
    let (_folder, paths) = place(&[
        ("auth/one.json", &seed.to_string()),
        ("agent/auth-profiles.json", &store.to_string()),
    ]);
    let environment = [("KEY", "k")].into_iter().collect();
    let all = read(&paths, "main", &environment);
    assert_eq!(all.warnings, Vec::<String>::new());
    let ids: Vec<_> = all.list.iter().map(|profile| profile.id.as_str()).collect();
    let order = [
        "anthropic:work",
        "openai:default",
        "anthropic:default",
        "amazon-bedrock:x",
    ];
    assert_eq!(ids, order);
    let stored = BTreeMap::from([("openai".to_owned(), vec!["openai:default".to_owned()])]);
    assert_eq!(all.order, stored);
    assert_eq!(all.list[0].usage.cooldown_until, Some(5));
    assert!(!all.list[0].is_usable(9) && all.list[0].is_usable(8));
    assert_eq!(all.list[1].usage.failure_count, 1);
    assert_eq!(all.list[2].credential, Credential::ApiKey(Secret::new("k")));
}

#[test]
fn credentials_what_is_wrong_is_named_and_the_rest_is_used() {
    let good = json!([{"id": "a", "provider": "x", "credential": {"type": "token", "token": "t"}}]);
    let (_folder, paths) = place(&[
        ("auth/a.json", &good.to_string()),
        ("auth/b.json", "{"),
        (
            "auth/c.json",
            r#"{"id": "c", "provider": "x", "credential": {"type": "magic"}}"#,
        ),
        (
            "auth/d.json",
            r#"{"profiles": {"x:d": {"type": "api_key", "key": "${NOPE}"}}}"#,
        ),
        ("auth/notes.txt", "no profile"),
    ]);
    let all = read(&paths, "main", &Environment::default());
    assert_eq!(all.list.len(), 1);
    assert_eq!(all.warnings.len(), 3);
    let words = ["b.json", "another type", "in key to a variable"];
    for (warning, word) in all.warnings.iter().zip(words) {
        assert!(warning.contains(word), "{warning}");
    }
    let all = all.warnings.join("\n");
    assert!(!all.contains("magic") && !all.contains("NOPE"), "{all}");
}

#[test]
fn profiles_have_variables_in_their_secrets_alone() {
    let hidden = "sk-hidden";
    let environment: Environment = [("KEY", hidden)].into_iter().collect();
    let written = [
        json!({"id": "${KEY}", "provider": "x",
            "credential": {"type": "api-key", "apiKey": "${KEY}"}}),
        json!({"profiles": {"${KEY}": {"type": "token", "provider": "x", "token": "${KEY}"}}}),
        json!({"profiles": {"token": {"type": "token", "provider": "x", "token": "t"}}}),
        json!({"id": "a", "provider": "${KEY}",
            "credential": {"type": "api-key", "apiKey": "k"}}),
        json!({"id": "a", "provider": "x", "credential": {"type": "${KEY}", "apiKey": "k"}}),
        json!({"profiles": {"token": {"type": "${KEY}", "provider": "${KEY}", "token": "t"}}}),
        json!({"profiles": {"a": {"type": "token", "provider": "x",
            "token": {"source": "env", "id": "${KEY}"}}}}),
        json!({"id": {"source": "env", "id": "KEY"}, "provider": "x",
            "credential": {"type": "api-key", "apiKey": "k"}}),
        json!({"id": "a", "provider": "x", "credential": {"type": "api-key", "apiKey": "k",
            "expiresAt": "${KEY}"}}),
    ];
    for (index, document) in written.iter().enumerate() {
        let (_folder, paths) = place(&[("auth/a.json", &document.to_string())]);
        let all = read(&paths, "main", &environment);
        assert_eq!(
            all.list.len(),
            usize::from(index < 3),
            "{document}: {all:?}"
        );
        let said: Vec<&String> = all
            .list
            .iter()
            .flat_map(|profile| [&profile.id, &profile.provider, &profile.source])
            .chain(&all.warnings)
            .collect();
        assert!(said.iter().all(|text| !text.contains(hidden)), "{said:?}");
    }
}

#[test]
fn sources_name_the_kind_and_the_provider_alone() {
    let profile = json!({"id": "anthropic:me@example.org", "provider": "anthropic",
        "credential": {"type": "oauth", "accessToken": "t"}});
    let (_folder, paths) = place(&[("auth/mine.json", &profile.to_string())]);
    let all = read(&paths, "main", &Environment::default());
    assert_eq!(all.list[0].source, "an auth profile for anthropic (login)");
}

#[test]
fn logins_of_earlier_versions_are_no_profiles() {
    let planted = json!({"id": "a", "provider": "anthropic",
        "credential": {"type": "token", "token": "t"}});
    let planted = planted.to_string();
    let (_folder, paths) = place(&[
        ("auth/claude-credentials.json", &planted),
        ("auth/codex-auth.json", &planted),
        ("logins/claude.json", &planted),
    ]);
    let all = read(&paths, "main", &Environment::default());
    assert_eq!(all.list, []);
    assert_eq!(all.warnings.len(), 2);
    for (warning, cli) in all.warnings.iter().zip(["claude", "codex"]) {
        let way_out = format!("openclawctl auth adopt --agent main {cli}");
        assert!(warning.contains(&way_out), "{warning}");
    }
}

#[test]
fn usage_is_kept_beside_the_profiles() {
    let profile =
        json!({"id": "a", "provider": "x", "credential": {"type": "token", "token": "t"}});
    let (_folder, paths) = place(&[("auth/a.json", &profile.to_string())]);
    let mut usage = Usage::default();
    usage.failed(usage::Failure::Refused, 1);
    let file = usage::file(&paths, "main");
    usage::write(&file, &BTreeMap::from([("a".to_owned(), usage.clone())])).unwrap();
    let all = read(&paths, "main", &Environment::default());
    assert_eq!(all.list[0].usage, usage);
    assert!(all.warnings.is_empty());
    fs::write(&file, "rubbish").unwrap();
    assert_eq!(
        read(&paths, "main", &Environment::default()).list[0].usage,
        Usage::default()
    );
}

#[test]
fn service_managers_credentials_are_profiles() {
    let store = r#"{"profiles": {"groq:me": {"type": "api_key", "key": "g"}}}"#;
    let credentials = [
        ("anthropic-api-key", "k"),
        ("anthropic-oauth-token", "t"),
        ("auth-profiles", store),
        ("something-else", "x"),
    ];
    let credentials = credentials.map(|(name, text)| (name.to_owned(), Secret::new(text)));
    let all = passed(&credentials.into(), &Environment::default());
    let found: Vec<_> = all
        .list
        .iter()
        .map(|profile| (profile.provider.as_str(), profile.source.as_str()))
        .collect();
    assert_eq!(found.len(), 2);
    assert_eq!(
        found[0],
        ("anthropic", "the credential anthropic-oauth-token")
    );
    assert_eq!(found[1].0, "groq");
}

#[test]
fn credential_is_sent_and_renewed_by_its_kind() {
    let (secret, refresh) = (Secret::new("s"), Secret::new("r"));
    let login = |refresh: Option<&Secret>| Credential::OAuth {
        access: secret.clone(),
        refresh: refresh.cloned(),
        expires_ms: Some(5),
    };
    for (credential, scheme, renewed) in [
        (
            Credential::ApiKey(secret.clone()),
            Some(Scheme::ApiKey),
            None,
        ),
        (
            Credential::Token(secret.clone()),
            Some(Scheme::Bearer),
            None,
        ),
        (login(Some(&refresh)), Some(Scheme::Bearer), Some(&refresh)),
        (login(None), Some(Scheme::Bearer), None),
        (Credential::AwsSdk, None, None),
    ] {
        let sent = credential.secret();
        assert_eq!(sent, scheme.map(|scheme| (&secret, scheme)));
        assert_eq!(credential.refresh(), renewed);
        let profile = Profile {
            id: "a:b".to_owned(),
            provider: "a".to_owned(),
            credential,
            usage: Usage::default(),
            source: String::new(),
            file: Some(PathBuf::from("/f")),
            endpoint: endpoint::Endpoint::of("anthropic", None, None),
        };
        let renewable = profile.renewable();
        assert_eq!(renewable.is_some(), renewed.is_some());
        if let Some(renewable) = renewable {
            assert_eq!(
                (renewable.id.as_str(), renewable.file),
                ("a:b", PathBuf::from("/f"))
            );
        }
        let nowhere = Profile {
            file: None,
            ..profile
        };
        assert!(nowhere.renewable().is_none());
    }
}

#[test]
fn credentials_of_two_profiles_with_one_id_the_first_counts() {
    let profile = |token: &str| json!({"id": "x:a", "provider": "x", "credential": {"type": "token", "token": token}});
    let (_folder, paths) = place(&[
        ("auth/1.json", &profile("first").to_string()),
        ("auth/2.json", &profile("second").to_string()),
        ("auth/3.txt", &profile("other").to_string()),
    ]);
    let all = read(&paths, "main", &Environment::default());
    assert_eq!(all.warnings, [""; 0]);
    let secrets: Vec<_> = all.list.iter().map(|it| it.credential.clone()).collect();
    assert_eq!(secrets, [Credential::Token(Secret::new("first"))]);
    let file = folder(&paths, "main").join("1.json");
    assert_eq!(all.list[0].file.as_deref(), Some(file.as_path()));
}

#[test]
fn why_a_file_cannot_be_read_is_said_without_its_content() {
    let path = PathBuf::from("/f");
    let source = || std::io::Error::other("no such thing");
    for (error, words) in [
        (
            Error::Syntax {
                path: path.clone(),
                line: 3,
                column: 7,
                message: "sk-secret".to_owned(),
            },
            "line 3, column 7 is not JSON",
        ),
        (
            Error::Read {
                path: path.clone(),
                source: source(),
            },
            "no such thing",
        ),
        (Error::TooLarge(path), "it has more than 4194304 bytes"),
        (Error::NoStateDirectory, "it is not in a form that is known"),
    ] {
        assert_eq!(unread(&error), words);
    }
}

#[test]
fn names_of_providers_and_profiles_are_held_to() {
    let read = |id: &str, provider: &str| {
        let credential = json!({"type": "token", "token": "t"});
        let document = json!({"id": id, "provider": provider, "credential": credential});
        store::profiles(document, &Environment::default())
    };
    for provider in ["a", "A-z_9.x", &"x".repeat(64)] {
        let list = read("x:a", provider).unwrap();
        assert_eq!(
            list[0].source,
            format!("an auth profile for {provider} (token)")
        );
    }
    for provider in ["", "a b", "a/b", "\u{e4}", &"x".repeat(65)] {
        let problem = read("x:a", provider).unwrap_err();
        assert!(
            problem.starts_with("profile 1 has a provider that is none"),
            "{problem}"
        );
    }
    read(&"x".repeat(256), "x").unwrap();
    for id in ["", "a\nb", &"x".repeat(257)] {
        let problem = read(id, "x").unwrap_err();
        assert!(
            problem.starts_with("profile 1 has an id that is none"),
            "{problem}"
        );
    }
    let read = |document: serde_json::Value| store::profiles(document, &Environment::default());
    assert_eq!(read(json!({})), Ok(Vec::new()));
    assert_eq!(read(json!([])), Ok(Vec::new()));
    for (document, words) in [
        (json!(5), "holds no profiles"),
        (
            json!({"profiles": 5}),
            "profiles is neither an object nor a list",
        ),
        (json!([5]), "profile 1 is no object"),
        (json!({"x": 5}), "profile 1 has no id"),
        (json!({"id": "a"}), "profile 1 has no provider"),
        (
            json!({"id": "a", "provider": "b"}),
            "profile 1 has no credential",
        ),
    ] {
        assert_eq!(read(document), Err(words.to_owned()));
    }
}

#[test]
fn passed_profile_is_of_its_agent_alone_and_before_files() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().to_str().unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let paths = Paths::resolve(&environment).unwrap();
    let profile = |key: &str| {
        format!(
            r#"{{"id": "anthropic:default", "provider": "anthropic",
                "credential": {{"type": "api-key", "apiKey": "{key}"}}}}"#
        )
    };
    let folder = folder(&paths, "my.work");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("anthropic.json"), profile("in-a-file")).unwrap();
    let credentials = [
        ("openclaw-profile.my.work.anthropic", profile("passed")),
        ("openclaw-profile.other.anthropic", profile("of another")),
        (
            "openclaw-profile.my.work.openai",
            "{\"id\": \"secret\"".to_owned(),
        ),
    ];
    let credentials = credentials
        .into_iter()
        .map(|(name, text)| (name.to_owned(), Secret::new(text)))
        .collect();
    let found = read_with(&paths, "my.work", &environment, &credentials);
    let [profile] = &found.list[..] else {
        panic!("{found:?}");
    };
    assert_eq!(profile.credential.secret().unwrap().0.reveal(), "passed");
    assert_eq!(profile.file, None);
    let [warning] = &found.warnings[..] else {
        panic!("{found:?}");
    };
    assert!(
        warning.contains("my.work.openai") && !warning.contains("secret"),
        "{warning}"
    );
}
