use openclaw_config::Environment;
use openclaw_settings::Origin;

use super::*;

fn loaded(file: &str, variables: &[(&str, &str)]) -> (tempfile::TempDir, RunnerSettings) {
    let state = tempfile::tempdir().unwrap();
    std::fs::write(state.path().join("openclaw.json"), file).unwrap();
    for name in ["claude", "codex"] {
        let program = state.path().join(name);
        std::fs::write(&program, "").unwrap();
        let mut permissions = program.metadata().unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        std::fs::set_permissions(&program, permissions).unwrap();
    }
    let state_text = state.path().to_str().unwrap();
    let environment: Environment = variables
        .iter()
        .map(|(name, value)| (*name, value.replace("STATE", state_text)))
        .chain([("OPENCLAW_STATE_DIR", state_text.to_owned())])
        .collect();
    let settings = crate::settings::load(&environment, Origin::File).unwrap();
    (state, settings)
}

fn chosen(file: &str, variables: &[(&str, &str)]) -> Choice {
    let (_state, settings) = loaded(file, variables);
    choose(&settings, settings.agent("main").unwrap(), None, None)
}

#[test]
fn choice_nobody_answers_for_a_model_that_was_chosen() {
    let state = tempfile::tempdir().unwrap();
    let variables = [("OPENCLAW_STATE_DIR", state.path().to_str().unwrap())];
    let environment: Environment = variables.into_iter().collect();
    let settings = crate::settings::load(&environment, Origin::File).unwrap();
    for wish in ["foo/bar", "anthropic/claude-sonnet-5"] {
        let choice = choose(&settings, settings.agent("main").unwrap(), Some(wish), None);
        let why = choice.plan.unwrap_err();
        assert!(why.contains(wish), "{why}");
    }
}

#[test]
fn configured_cli_does_not_pass_on_a_chosen_model_of_others() {
    let state = tempfile::tempdir().unwrap();
    std::fs::write(
        state.path().join("openclaw.json"),
        "{agents: {defaults: {backend: 'claude-cli', claudeCliPath: '/bin/true'}}}",
    )
    .unwrap();
    let variables = [
        ("OPENCLAW_STATE_DIR", state.path().to_str().unwrap()),
        ("ANTHROPIC_API_KEY", "k"),
    ];
    let environment: Environment = variables.into_iter().collect();
    let settings = crate::settings::load(&environment, Origin::File).unwrap();
    let main = settings.agent("main").unwrap();
    let why = choose(&settings, main, Some("openai/gpt-5"), None).plan;
    assert!(why.unwrap_err().contains("openai/gpt-5"));
    let own = choose(&settings, main, Some("anthropic/claude-opus-4"), None);
    assert!(own.plan.is_ok(), "{:?}", own.plan);
}

#[test]
fn cli_is_what_its_backend_asks() {
    for (cli, known) in CLIS.into_iter().zip(openclaw_agent_clis::ALL) {
        let backend = Backend::Cli(known);
        assert_eq!(backend.name(), cli.known().backend);
        assert_eq!(backend.provider(), Some(cli.known().provider));
    }
}

#[test]
fn configured_cli_does_not_pass_on_a_configured_model_of_others() {
    let variables = [
        ("ANTHROPIC_API_KEY", "k"),
        ("CODEX_API_KEY", "k"),
        ("PATH", "STATE"),
    ];
    for (backend, model, answers) in [
        ("claude-cli", "ollama/qwen3", None),
        ("claude-cli", "nosuch/zz", None),
        ("codex-cli", "anthropic/claude-sonnet-5", None),
        ("codex-cli", "gpt-x", Some("gpt-x")),
        ("claude-cli", "claude-sonnet-5", Some("claude-sonnet-5")),
    ] {
        for file in [
            format!("{{agents: {{defaults: {{backend: '{backend}', model: '{model}'}}}}}}"),
            format!(
                "{{models: {{default: '{model}'}}, agents: {{defaults: {{backend: '{backend}'}}}}}}"
            ),
        ] {
            let choice = chosen(&file, &variables);
            assert_eq!(choice.backend, backend, "{file}");
            match (choice.plan, answers) {
                (Ok(plan), Some(answers)) => assert_eq!(plan.model(), answers, "{file}"),
                (Err(why), None) => assert!(why.contains(model), "{why}"),
                (plan, _) => panic!("{file}: {plan:?}"),
            }
        }
    }
}

#[test]
fn lack_is_that_of_a_configured_model() {
    let nothing = chosen("", &[]);
    assert_eq!(nothing.lack(), None);
    let remedy = nothing.remedy();
    assert!(remedy.contains("openclawctl setup"), "{remedy}");
    let unknown = chosen("{models: {default: 'foo/bar'}}", &[]);
    assert_eq!(unknown.backend, OFFLINE);
    let lack = unknown.lack().unwrap();
    assert!(lack.contains("foo/bar names no known provider"), "{lack}");
    assert!(unknown.remedy().starts_with(lack), "{lack}");
}

#[test]
fn choice_nothing_there_is_offline() {
    let (_state, settings) = loaded("", &[]);
    let main = settings.agent("main").unwrap();
    let choice = choose(&settings, main, None, None);
    assert_eq!(choice.backend, "offline");
    let all = candidates(&settings, main, None, None);
    assert!(all[..3].iter().all(|candidate| candidate.plan.is_err()));
}

#[test]
fn candidates_are_all_backends_with_the_chosen_one_as_it_was_chosen() {
    let variables = [("ANTHROPIC_API_KEY", "k"), ("PATH", "STATE")];
    for (file, expected) in [
        ("", "claude-cli"),
        ("{agents: {defaults: {backend: 'native'}}}", "native"),
        ("{agents: {defaults: {backend: 'codex-cli'}}}", "codex-cli"),
        ("{agents: {defaults: {backend: 'offline'}}}", "offline"),
        ("{models: {default: 'ollama/llama3.2'}}", "native"),
    ] {
        let (_state, settings) = loaded(file, &variables);
        let main = settings.agent("main").unwrap();
        let choice = choose(&settings, main, None, None);
        assert_eq!(choice.backend, expected, "{file}");
        let all = candidates(&settings, main, None, None);
        let names: Vec<&str> = all.iter().map(|one| one.backend).collect();
        assert_eq!(names, ["claude-cli", "native", "codex-cli", "offline"]);
        let same = all.iter().find(|one| one.backend == expected).unwrap();
        assert_eq!(same.plan.is_ok(), choice.plan.is_ok(), "{file}");
        if let (Ok(plan), Ok(chosen)) = (&same.plan, &choice.plan) {
            assert_eq!(plan.provider(), chosen.provider(), "{file}");
        }
    }
}

#[test]
fn key_is_native_and_the_cli_with_it_comes_first() {
    let native = chosen("", &[("ANTHROPIC_API_KEY", "k")]);
    assert_eq!(native.backend, "native");
    assert!(
        native.reason.contains("ANTHROPIC_API_KEY"),
        "{}",
        native.reason
    );
    let cli = chosen("", &[("ANTHROPIC_API_KEY", "k"), ("PATH", "STATE")]);
    assert_eq!(cli.backend, "claude-cli");
    let not_logged_in = chosen("", &[("PATH", "STATE")]);
    assert_eq!(not_logged_in.backend, "offline");
}

#[test]
fn login_that_has_expired_is_named() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("agents/main/auth");
    std::fs::create_dir_all(&folder).unwrap();
    let credential = r#"{"type": "oauth", "accessToken": "a", "expiresAt": 1}"#;
    let profile = format!(r#"{{"id": "me", "provider": "anthropic", "credential": {credential}}}"#);
    std::fs::write(folder.join("login.json"), profile).unwrap();
    let variables = [("OPENCLAW_STATE_DIR", state.path().to_str().unwrap())];
    for file in [
        "",
        "{models: {default: 'anthropic/claude-sonnet-5'}}",
        // Such a server needs no key.
        "{models: {providers: {anthropic: {baseUrl: 'http://127.0.0.1:9'}}}}",
    ] {
        std::fs::write(state.path().join("openclaw.json"), file).unwrap();
        let environment: Environment = variables.into_iter().collect();
        let settings = crate::settings::load(&environment, Origin::File).unwrap();
        let all = candidates(&settings, settings.agent("main").unwrap(), None, None);
        let native = all.iter().find(|one| one.backend == "native");
        let why = native.unwrap().plan.as_ref().unwrap_err();
        assert!(
            why.starts_with("an auth profile for anthropic (login) has expired"),
            "{why}"
        );
    }
}

#[test]
fn choice_another_providers_model_is_not_for_the_cli() {
    let variables = [("ANTHROPIC_API_KEY", "k"), ("PATH", "STATE")];
    let choice = chosen("{models: {default: 'ollama/llama3.2'}}", &variables);
    assert_eq!(choice.backend, "native");
    assert_eq!(choice.plan.unwrap().model(), "llama3.2");
}

#[test]
fn second_cli_answers_where_nothing_else_would_or_where_it_is_asked_for() {
    let key = [("CODEX_API_KEY", "k"), ("PATH", "STATE")];
    let alone = chosen("", &key);
    assert_eq!(alone.backend, "codex-cli");
    assert!(alone.reason.contains("CODEX_API_KEY"), "{}", alone.reason);
    let both = [("OPENAI_API_KEY", "k"), ("PATH", "STATE")];
    assert_eq!(chosen("", &both).backend, "native");
    let file = "{agents: {defaults: {backend: 'codex-cli', model: 'openai/gpt-x'}}}";
    let configured = chosen(file, &both);
    assert_eq!(configured.backend, "codex-cli");
    assert_eq!(configured.plan.unwrap().model(), "gpt-x");
    let why = chosen(file, &[("PATH", "STATE")]).plan.unwrap_err();
    assert!(why.contains("not logged in; run `codex login`"), "{why}");
}

#[test]
fn cli_that_the_sandbox_bars_is_passed_over_unless_it_is_configured() {
    let variables = [("ANTHROPIC_API_KEY", "k"), ("PATH", "STATE")];
    let barred = |file: &str| {
        let (_state, settings) = loaded(file, &variables);
        let main = settings.agent("main").unwrap();
        choose(&settings, main, None, Some("no level holds; sudo true"))
    };
    assert_eq!(chosen("", &variables).backend, "claude-cli");
    assert_eq!(barred("").backend, "native");
    let configured = barred("{agents: {defaults: {backend: 'claude-cli'}}}");
    assert_eq!(configured.failure, Code::Sandbox);
    let why = configured.plan.unwrap_err();
    assert!(why.contains("no level holds; sudo true"), "{why}");
}

#[test]
fn configured_backend_stays_even_when_it_cannot_be_used() {
    let choice = chosen("{agents: {defaults: {backend: 'native'}}}", &[]);
    assert_eq!(choice.backend, "native");
    assert!(choice.plan.unwrap_err().contains("ANTHROPIC_API_KEY"));
}
