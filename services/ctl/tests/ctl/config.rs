//! `config`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::scene::{Scene, text};

struct Config {
    scene: Scene,
}

impl Config {
    fn new(file: &str) -> Self {
        let config = Self {
            scene: Scene::new(),
        };
        if !file.is_empty() {
            fs::write(config.path(), file).unwrap();
        }
        config
    }

    fn path(&self) -> PathBuf {
        self.scene.state().join("openclaw.json")
    }

    fn file(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let all: Vec<_> = ["config"].iter().chain(arguments).copied().collect();
        let mut command = self.scene.command(&all);
        // It would come before the file.
        command.env_remove("OPENCLAW_GATEWAY_PORT");
        command.output().unwrap()
    }

    /// Standard output of a success.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Standard error of a failure.
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        stderr
    }

    fn edit(&self, script: &str) -> Output {
        let editor = self.scene.state().join("editor");
        fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = self.scene.command(&["config", "edit"]);
        command.env("EDITOR", editor).output().unwrap()
    }
}

#[test]
fn values_are_set_shown_and_taken_away() {
    let config = Config::new("// mine\n{\n  // the door\n  gateway: { bind: 'lan', },\n}\n");
    config.ok(&["set", "gateway.port", "19000"]);
    config.ok(&["set", "agents.defaults.model", "ollama/qwen3"]);
    assert_eq!(config.ok(&["get", "gateway.port"]), "19000\n");
    assert_eq!(
        config.ok(&["get", "agents.defaults.model"]),
        "ollama/qwen3\n"
    );
    assert_eq!(
        config.ok(&["get", "agents.defaults.model", "--json"]),
        "\"ollama/qwen3\"\n"
    );
    let written = config.file();
    for part in ["// mine", "// the door", "bind: 'lan'", "port: 19000"] {
        assert!(written.contains(part), "{written}");
    }
    config.ok(&["unset", "gateway.port"]);
    assert!(!config.file().contains("19000"));
    assert_eq!(
        config.fails(1, &["unset", "gateway.port"]).lines().count(),
        1
    );
    assert_eq!(
        config.ok(&["path"]),
        format!("{}\n", config.path().display())
    );
    let mode = fs::metadata(config.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn config_what_is_shown_is_what_is_in_use() {
    let config = Config::new("{ logging: { level: 'warn' } }");
    let get = |variable: Option<&str>, arguments: &[&str]| {
        let mut command = config.scene.command(&["config", "get"]);
        command.args(arguments);
        if let Some(level) = variable {
            command.env("OPENCLAW__LOGGING__LEVEL", level);
        }
        text(&command.output().unwrap().stdout)
    };
    assert_eq!(get(None, &["logging.level"]), "warn\n");
    assert_eq!(get(Some("debug"), &["logging.level"]), "debug\n");
    assert_eq!(get(Some("debug"), &["logging.level", "--file"]), "warn\n");
    assert_eq!(get(None, &["agents.defaults.maxTokens"]), "8192\n");
    let whole: Value = serde_json::from_str(&get(None, &[])).unwrap();
    assert_eq!(whole["logging"]["level"], "warn");
    assert_eq!(whole["sandbox"]["missing"], "refuse");
}

#[test]
fn config_every_key_has_a_value_under_each_of_its_names() {
    let config = Config::new("{ agent: { model: 'claude-x' } }");
    for (key, value) in [
        ("gateway.port", "18789"),
        ("session.dmScope", "main"),
        ("session.reset.mode", "none"),
        ("gateway.host", "127.0.0.1"),
        ("agents.defaults.model", "claude-x"),
        ("agent.model", "claude-x"),
        ("agent.maxTokens", "8192"),
    ] {
        assert_eq!(config.ok(&["get", key]), format!("{value}\n"), "{key}");
    }
    config.ok(&["set", "gateway.host", "0.0.0.0"]);
    assert_eq!(config.ok(&["get", "gateway.host"]), "0.0.0.0\n");
    assert_eq!(config.ok(&["get", "gateway.bind"]), "lan\n");
    let refused = config.fails(78, &["set", "session.dmScop", "main"]);
    assert!(refused.contains("\"dmScope\""), "{refused}");
    config.fails(1, &["get", "gateway.customBindHost"]);
}

#[test]
fn config_nothing_invalid_is_written() {
    let config = Config::new("{ gateway: { port: 1 } }");
    let before = config.file();
    for (arguments, words) in [
        (
            &["set", "gateway.port", "often"][..],
            &["gateway.port", "\"often\"", "65535"][..],
        ),
        (&["set", "gateway.prot", "1"], &["gateway.prot", "\"port\""]),
        (
            &["set", "agents.defaults.backend", "nativ"],
            &["\"nativ\"", "claude-cli", "\"native\""],
        ),
        (
            &["set", "models.providers.x", "{baseUrl: 'ftp://x'}"],
            &["baseUrl", "http://"],
        ),
        (&["patch", "{agnets: {}}"], &["agnets", "\"agents\""]),
        (&["set", "gateway.port.x", "1"], &["gateway.port.x"]),
    ] {
        let said = config.fails(78, arguments);
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        assert!(said.contains("openclaw.json"), "{said}");
        assert_eq!(config.file(), before);
    }
    for arguments in [
        &["set", "a..b", "1"][..],
        &["set", "gateway.port"],
        &["set", "gateway.port", "often", "--json"],
        &["patch", "[1]"],
        &["patch", "{"],
        &["frobnicate"],
    ] {
        config.fails(64, arguments);
    }
    assert_eq!(
        config.ok(&["set", "gateway.port", "2", "--dry-run"]),
        "valid; nothing was written\n"
    );
    assert_eq!(config.file(), before);
}

#[test]
fn broken_file_is_not_written_over() {
    let config = Config::new("{\n gateway: ]\n}");
    for arguments in [
        &["set", "gateway.port", "1"][..],
        &["get"],
        &["unset", "x"],
        &["validate"],
    ] {
        let said = config.fails(78, arguments);
        assert!(said.contains("openclaw.json:2:"), "{said}");
    }
    assert_eq!(config.file(), "{\n gateway: ]\n}");
}

#[test]
fn patches_come_from_everywhere() {
    let config = Config::new("{ logging: { level: 'warn' }, ui: { seamColor: '#fff' } }");
    let patch = config.scene.state().join("patch.json5");
    fs::write(&patch, "{ logging: null, // away\n }").unwrap();
    config.ok(&["patch", "--file", patch.to_str().unwrap()]);
    let mut command = config.scene.command(&["config", "patch"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{ gateway: { port: 5 } }").unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let document: Value = serde_json::from_str(&config.ok(&["get", "--file"])).unwrap();
    let expected = serde_json::json!({"ui": {"seamColor": "#fff"}, "gateway": {"port": 5}});
    assert_eq!(document, expected);
}

#[test]
fn secrets_are_shown_only_when_asked_for() {
    let config = Config::new("{ models: { providers: { anthropic: { apiKey: 'sk-1' } } } }");
    for arguments in [
        &["get"][..],
        &["get", "models"],
        &["get", "models.providers.anthropic.apiKey"],
    ] {
        let shown = config.ok(arguments);
        assert!(
            !shown.contains("sk-1") && shown.contains("__OPENCLAW_REDACTED__"),
            "{shown}"
        );
    }
    let key = ["get", "models.providers.anthropic.apiKey", "--show-secrets"];
    assert_eq!(config.ok(&key), "sk-1\n");
    // What was shown can be given back.
    let shown = config.ok(&["get", "models"]);
    config.ok(&["set", "models", &shown]);
    assert_eq!(config.ok(&key), "sk-1\n");
    let said = config.fails(78, &["set", "hooks.token", "__OPENCLAW_REDACTED__"]);
    assert!(said.contains("hooks.token"), "{said}");
}

#[test]
fn secrets_are_hidden_wherever_they_stand() {
    let config = Config::new(
        "{ mcp: { servers: { s: { command: 'prog', args: ['-H', 'X-Auth: S-ECRET', '-k', 'S-ECRET', \
         '--api', 'S-ECRET', '--root', '/srv/long-S-ECRET-1'], env: { A_TOKEN: 'long-S-ECRET-1' } }, \
         t: { command: 'sh', args: ['-c', 'TOKEN=S-ECRET exec prog', '-y', '@scope/server'] } } } }",
    );
    for arguments in [
        &["get"][..],
        &["get", "mcp"],
        &["get", "mcp.servers.s.args"],
    ] {
        let shown = config.ok(arguments);
        assert!(!shown.contains("S-ECRET"), "{shown}");
        assert!(shown.contains("--root"), "{shown}");
    }
    let shown = config.ok(&["get", "mcp.servers.t.args"]);
    assert!(
        shown.contains("@scope/server") && !shown.contains("S-ECRET"),
        "{shown}"
    );
    let shown = config.ok(&["get", "mcp"]);
    config.ok(&["set", "mcp", &shown]);
    assert!(
        config.file().contains("TOKEN=S-ECRET exec prog"),
        "{}",
        config.file()
    );
}

#[test]
fn key_that_is_written_twice_is_an_error_with_its_place() {
    let text = "{\n gateway: { port: 1,\n  port: 2 },\n logging: { level: 'warn' } }";
    let config = Config::new(text);
    let said = config.fails(78, &["validate"]);
    assert!(
        said.contains(":3:3: gateway.port") && said.contains("twice"),
        "{said}"
    );
    let output = config.run(&["validate", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["valid"], false);
    assert_eq!(document["problems"][0]["path"], "gateway.port");
    // The rest of it can be changed.
    config.ok(&["set", "logging.level", "info"]);
    config.ok(&["unset", "gateway.port"]);
    config.ok(&["validate"]);
}

/// Keys of a file that somebody else wrote are shown in the line that names them.
#[test]
fn keys_with_line_ends_make_no_line_of_their_own() {
    let config = Config::new(r#"{ "a\nerror: forged": 1, "logging": { "b\nnote: forged": 2 } }"#);
    for arguments in [&["validate"][..], &["set", "logging.level", "info"]] {
        let said = config.run(arguments).stderr;
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("forged"), "{said}");
        let mut lines = said.lines().map(str::trim_start);
        let is_forged = |line: &&str| line.starts_with("error: f") || line.starts_with("note: f");
        assert_eq!(lines.find(is_forged), None, "{said}");
    }
}

#[test]
fn validation_tells_everything() {
    let config = Config::new("{\n gateway: { port: 'x' },\n colour: 1,\n}");
    let said = config.fails(78, &["validate"]);
    assert!(
        said.contains(":2:13: gateway.port") && said.contains(":3:2: colour"),
        "{said}"
    );
    let output = config.run(&["validate", "--json"]);
    assert_eq!(output.status.code(), Some(78));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["valid"], false);
    assert_eq!(document["problems"][0]["path"], "gateway.port");
    assert_eq!(document["problems"][1]["line"], 3);

    let other = config.scene.state().join("other.json");
    let other_name = other.to_str().unwrap();
    fs::write(&other, "{ models: { default: '${NOPE}' } }").unwrap();
    let said = config.fails(78, &["validate", other_name]);
    assert!(
        said.contains("models.default") && said.contains("${NOPE}"),
        "{said}"
    );
    fs::write(&other, "{ models: { default: 'a/b' } }").unwrap();
    assert!(
        config
            .ok(&["validate", other_name])
            .contains("other.json is valid")
    );
    config.fails(78, &["validate", "/nonexistent.json"]);
}

#[test]
fn schema_is_printed() {
    let config = Config::new("");
    let schema: Value = serde_json::from_str(&config.ok(&["schema"])).unwrap();
    assert!(schema["properties"]["gateway"].is_object());
    let part: Value = serde_json::from_str(&config.ok(&["schema", "gateway.port"])).unwrap();
    assert_eq!(part["maximum"], 65535);
    assert!(
        config
            .fails(1, &["schema", "gateway.prot"])
            .contains("\"port\"")
    );
}

#[test]
fn editors_text_is_taken_over_when_it_is_valid() {
    let config = Config::new("{ gateway: { port: 1 } } // mine\n");
    assert!(config.edit("sed -i s/1/2/ \"$1\"").status.success());
    assert_eq!(config.file(), "{ gateway: { port: 2 } } // mine\n");
    assert_eq!(text(&config.edit("true").stdout), "nothing was changed\n");

    let refused = config.edit("sed -i s/2/x/ \"$1\"");
    assert_eq!(refused.status.code(), Some(78));
    let said = text(&refused.stderr);
    assert!(said.contains("your text is in "), "{said}");
    let kept = said.split("your text is in ").nth(1).unwrap().trim();
    assert!(fs::read_to_string(kept).unwrap().contains("port: x"));
    assert_eq!(config.file(), "{ gateway: { port: 2 } } // mine\n");

    let failed = config.edit("exit 3");
    assert_eq!(failed.status.code(), Some(1));
    let path = config.path();
    let meanwhile = format!("sed -i s/2/3/ \"$1\"; echo '{{}}' > {}", path.display());
    let failed = config.edit(&meanwhile);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
    assert!(text(&failed.stderr).contains("changed by somebody else"));
    assert_eq!(config.file(), "{}\n");
}

/// As another user, which only root can become.
#[test]
fn config_without_permission_nothing_is_changed_and_the_file_is_named() {
    use std::os::unix::process::CommandExt as _;

    const NOBODY: u32 = 65_534;
    if !test_skip::is_root("a configuration that may not be written") {
        return;
    }
    let config = Config::new("{ gateway: { port: 1 } }");
    fs::set_permissions(config.scene.state(), fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["config", "set", "gateway.port", "2"];
    let mut command = config.scene.command(&arguments);
    let Ok(output) = command.uid(NOBODY).gid(NOBODY).output() else {
        test_skip::skipped(
            "a configuration that may not be written: others may not enter the folder of openclawctl",
        );
        return;
    };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("openclaw.json; nothing was changed"),
        "{said}"
    );
    assert!(said.contains("ermission denied"), "{said}");
    assert_eq!(config.file(), "{ gateway: { port: 1 } }");
}
