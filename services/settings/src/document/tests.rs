use std::fs;

use serde_json::json;

use super::*;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn loaded(files: &[(&str, &str)], variables: &[(&str, &str)]) -> Result<Value, Error> {
    let folder = folder(files);
    let environment = variables.iter().copied().collect();
    read(
        &folder.path().join("openclaw.json"),
        &environment,
        Missing::Refused,
    )
}

fn error(files: &[(&str, &str)]) -> String {
    loaded(files, &[("TOKEN", "s3cret")])
        .unwrap_err()
        .to_string()
}

#[test]
fn comments_trailing_commas_and_references() {
    let text = "{ // mine\n models: { providers: { x: { apiKey: '${TOKEN}', }, }, }, }";
    let document = loaded(&[("openclaw.json", text)], &[("TOKEN", "s3cret")]).unwrap();
    assert_eq!(document["models"]["providers"]["x"]["apiKey"], "s3cret");
}

#[test]
fn empty_and_missing_files_are_empty_documents() {
    assert_eq!(loaded(&[("openclaw.json", " \n")], &[]).unwrap(), json!({}));
    assert_eq!(
        loaded(&[("openclaw.json", "// x")], &[]).unwrap(),
        json!({})
    );
    assert_eq!(loaded(&[], &[]).unwrap(), json!({}));
}

#[test]
fn unknown_keys_get_a_hint_and_a_place() {
    let text = error(&[("openclaw.json", "{\n  agnets: {} }")]);
    assert!(
        text.contains("openclaw.json:2:3: agnets: is not known"),
        "{text}"
    );
    assert!(text.contains("did you mean \"agents\"?"), "{text}");
    let text = error(&[("openclaw.json", "{ agents: { defaults: { modle: 'x' } } }")]);
    assert!(
        text.contains("agents.defaults.modle") && text.contains("\"model\""),
        "{text}"
    );
}

#[test]
fn values_are_named_with_what_is_allowed() {
    let text = error(&[(
        "openclaw.json",
        "{ agents: { defaults: {\n backend: 'nativ' } } }",
    )]);
    for part in [
        "openclaw.json:2:2",
        "agents.defaults.backend",
        "\"nativ\"",
        "claude-cli",
        "mean \"native\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = error(&[("openclaw.json", "{ gateway: { port: 99999 } }")]);
    assert!(
        text.contains("gateway.port: is 99999; allowed: a whole number from 0 to 65535"),
        "{text}"
    );
}

#[test]
fn problem_is_placed_in_the_file_it_comes_from() {
    let main = "{ gateway: { $include: 'parts/g.json' } }";
    let text = error(&[
        ("openclaw.json", main),
        ("parts/g.json", "{\n\n port: 'x' }"),
    ]);
    assert!(text.contains("parts/g.json:3:2: gateway.port"), "{text}");
    let overlay = ("openclaw.json.d/10.json", "{ gateway:\n { port: 'x' } }");
    let text = error(&[("openclaw.json", "{ gateway: { port: 1 } }"), overlay]);
    assert!(text.contains("10.json:2:4: gateway.port"), "{text}");
}

#[test]
fn sections_of_openclaw_are_taken_as_they_are() {
    let text = r##"{
        meta: { lastTouchedVersion: "2026.9.6", lastTouchedAt: "2026-09-01T00:00:00.000Z" },
        wizard: { lastRunAt: "x" }, browser: { enabled: true, color: "#fff" },
        channels: { telegram: { accounts: { default: { token: "${TOKEN}" } } }, discord: { anything: [1] } },
        plugins: { enabled: true, entries: { "memory-lancedb": { enabled: true } } },
        tools: { exec: { security: "safe-bin", host: "host", timeoutSec: 120 }, profile: "coding" },
        gateway: { mode: "local", tailscale: { mode: "off" }, remote: { url: "wss://x" } },
        agents: { defaults: { heartbeat: { every: "30m" }, compaction: { mode: "safeguard" } },
            list: [{ id: "main", name: "Me", identity: { emoji: "x" }, groupChat: {} }] },
        session: { dmScope: "main" }, update: { checkOnStart: false }, bindings: [],
    }"##;
    loaded(&[("openclaw.json", text)], &[("TOKEN", "t")]).unwrap();
}

/// Steps 5, 6, 9 of the seed: where a variable may come from.
#[test]
fn references_are_answered_from_every_source_in_order() {
    let text = "{ env: { vars: { B: 'vars', C: 'vars', G: '${D}' } },
        channels: { l: ['${A}', '${B}', '${C}', '${D}', '${G}', '$${A}', '${E}'] } }";
    let files = [("openclaw.json", text), (".env", "A=dot\nB=dot\nD=dot\n")];
    let document = loaded(&files, &[("A", "outer"), ("C", "outer"), ("E", "${A}")]).unwrap();
    let expected = json!(["outer", "vars", "outer", "dot", "dot", "${A}", "${A}"]);
    assert_eq!(document["channels"]["l"], expected);
}

#[test]
fn missing_variable_is_named_with_its_path() {
    let text = error(&[(
        "openclaw.json",
        "{ gateway: { auth: {\n token: '${NOPE}' } } }",
    )]);
    assert!(
        text.contains("openclaw.json:2:2: gateway.auth.token"),
        "{text}"
    );
    assert!(text.contains("${NOPE}"), "{text}");
    let folder = folder(&[("openclaw.json", "{ models: { default: '${NOPE}' } }")]);
    let path = folder.path().join("openclaw.json");
    let kept = read(&path, &Environment::default(), Missing::KeptForOwner).unwrap();
    assert_eq!(kept["models"]["default"], "${NOPE}");
}

#[test]
fn environment_comes_before_files_and_overlays() {
    let files = [
        (
            "openclaw.json",
            "{ logging: { level: 'error' }, gateway: { port: 1 } }",
        ),
        (
            "openclaw.json.d/10.json",
            "{ logging: { level: 'warn' }, gateway: { port: 2 } }",
        ),
    ];
    let document = loaded(&files, &[("OPENCLAW__LOGGING__LEVEL", "debug")]).unwrap();
    assert_eq!(document["logging"]["level"], "debug");
    assert_eq!(document["gateway"]["port"], 2);
}

#[test]
fn login_shell_answers_last() {
    let folder = folder(&[(
        "openclaw.json",
        "{ env: { shellEnv: { enabled: true } }, models: { default: '${FROM_PROFILE}' } }",
    )]);
    let shell = folder.path().join("shell");
    fs::write(
        &shell,
        "#!/bin/sh\nexport FROM_PROFILE=yes\nshift 2; eval \"$1\"\n",
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&shell, mode).unwrap();
    let environment = [("SHELL", shell.to_str().unwrap())].into_iter().collect();
    let path = folder.path().join("openclaw.json");
    let document = load(&path, &environment, Missing::KeptForGateway).unwrap();
    assert_eq!(document.value["models"]["default"], "yes");
    // The others do not run it.
    let others = load(&path, &environment, Missing::KeptForOwner).unwrap();
    assert_eq!(others.value["models"]["default"], "${FROM_PROFILE}");
    fs::write(&shell, "#!/bin/sh\nexit 1\n").unwrap();
    let without = load(&path, &environment, Missing::KeptForGateway).unwrap_err();
    assert!(without.to_string().contains("FROM_PROFILE"), "{without}");
}

#[test]
fn values_of_references_are_checked_as_written_ones() {
    let text = "{ agents: { defaults: { backend: '${BACKEND}' } } }";
    let files = [("openclaw.json", text)];
    let document = loaded(&files, &[("BACKEND", "native")]).unwrap();
    assert_eq!(document["agents"]["defaults"]["backend"], "native");
    // Known at once, and only after the variables that the file brings.
    let refused = loaded(&files, &[("BACKEND", "nativ")]).unwrap_err();
    let brought = "{ env: { vars: { BACKEND: 'nativ' } }, \
                   agents: { defaults: { backend: '${BACKEND}' } } }";
    let later = loaded(&[("openclaw.json", brought)], &[]).unwrap_err();
    for error in [refused, later] {
        let words = error.to_string();
        assert!(words.contains("agents.defaults.backend"), "{words}");
    }
}

fn whole(text: &str, variables: &[(&str, &str)]) -> (PathBuf, tempfile::TempDir, Document) {
    let folder = folder(&[("openclaw.json", text)]);
    let path = folder.path().join("openclaw.json");
    let environment = variables.iter().copied().collect();
    let document = load(&path, &environment, Missing::Refused).unwrap();
    (path, folder, document)
}

#[test]
fn document_what_a_variable_does_is_not_said_of_the_file() {
    let file = &[("openclaw.json", "{}")];
    for (variable, value, told) in [
        (
            "OPENCLAW__TOOLS__BY_PROVIDER",
            r#"{"openai": {"deny": ["exec"]}}"#,
            "the environment: OPENCLAW__TOOLS__BY_PROVIDER: is a restriction",
        ),
        (
            "OPENCLAW__GATEWAY__TLS__ENABLED",
            "true",
            "the environment: OPENCLAW__GATEWAY__TLS__ENABLED: is a restriction",
        ),
    ] {
        let error = loaded(file, &[(variable, value)]).unwrap_err();
        assert!(error.to_string().starts_with(told), "{error}");
        assert!(error.is_beyond_file(), "{error}");
    }
    let text = "{ logging: { file: '/x' }, talk: { provider: 'a' } }";
    let variables = [("OPENCLAW__LOGGING__MAX_FILE_BYTES", "1")];
    let (_, _folder, document) = whole(text, &variables);
    let unused: Vec<_> = document
        .unused()
        .into_iter()
        .map(|it| it.keys.join(" "))
        .collect();
    assert_eq!(
        unused,
        [
            "talk.provider",
            "logging.file OPENCLAW__LOGGING__MAX_FILE_BYTES"
        ]
    );
}

#[test]
fn error_has_the_place_of_what_is_wrong() {
    let text = "{\n  gateway: { auth: { mode: 'token' } } }";
    let fault = |path: &Path, key: &str| Error::Value {
        origin: path.display().to_string(),
        key: key.to_owned(),
        problem: "is odd".to_owned(),
    };
    let (path, _folder, document) = whole(text, &[]);
    let said = document
        .placed(&path, fault(&path, "gateway.auth.mode"))
        .to_string();
    assert_eq!(
        said,
        format!("{}:2:22: gateway.auth.mode: is odd", path.display())
    );
    let variables = [("OPENCLAW__GATEWAY__AUTH__MODE", "none")];
    let (path, _folder, document) = whole(text, &variables);
    let said = document
        .placed(&path, fault(&path, "gateway.auth.mode"))
        .to_string();
    assert_eq!(
        said,
        "the environment: OPENCLAW__GATEWAY__AUTH__MODE: is odd"
    );
    // What is about something else stays as it is.
    let elsewhere = document.placed(&path, fault(Path::new("/other"), "gateway.auth.mode"));
    assert_eq!(elsewhere.to_string(), "/other: gateway.auth.mode: is odd");
}
