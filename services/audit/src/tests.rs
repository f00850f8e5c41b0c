//! Each check finds what it is for, and nothing in an installation that is as
//! it should be.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use super::*;
use crate::scene::{Lets, open};

fn environment(home: &Path) -> Environment {
    let home = home.to_str().unwrap();
    let runtime = format!("{home}/run");
    [("HOME", home), ("OPENCLAW_RUNTIME_DIR", &runtime)]
        .into_iter()
        .collect()
}

fn write(path: &Path, text: &str, mode: u32) {
    let folder = path.parent().unwrap();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn found(home: &Path) -> BTreeSet<&'static str> {
    let scene = Scene::of(&environment(home)).unwrap();
    assert_eq!(scene.problem, None);
    let findings = checks().flat_map(|check| check.look(&scene));
    // It depends on who runs the tests, and on where their program is.
    let others = ["sandbox.runs_as_root", "fs.programs.perms_writable"];
    findings
        .map(|it| it.id)
        .filter(|id| !others.contains(id))
        .collect()
}

#[test]
fn audit_there_are_checks_with_ids_and_remedies_of_their_own() {
    let ids: BTreeSet<&str> = checks().map(|check| check.id).collect();
    assert!(ids.len() >= 40, "{}", ids.len());
    assert_eq!(ids.len(), checks().count());
    assert!(checks().all(|check| !check.remedy.is_empty()));
}

#[test]
fn installation_as_it_should_be_has_no_finding() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join(".openclaw");
    write(
        &state.join("openclaw.json"),
        "{ agents: { defaults: { model: 'a/b' } } }",
        0o600,
    );
    write(&state.join("agents/main/auth/anthropic.json"), "{}", 0o600);
    write(
        &state.join("credentials/telegram-default.token"),
        "1:a",
        0o600,
    );
    assert_eq!(found(home.path()), BTreeSet::new());
}

#[test]
fn modes_that_let_others_in_are_found() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join(".openclaw");
    let file = |name: &str, mode| write(&home.path().join(name), "{}", mode);
    file(".openclaw/openclaw.json", 0o666);
    file(".openclaw/openclaw.json.d/10-x.json", 0o664);
    file(".openclaw/agents/main/auth/anthropic.json", 0o664);
    file(".openclaw/agents/main/sessions/a.jsonl", 0o644);
    file(".openclaw/credentials/x.token", 0o666);
    file(".openclaw/auth.json", 0o640);
    file(".openclaw/logs/run.jsonl", 0o644);
    file(".openclaw/openclaw-backup-1.tar.zst", 0o644);
    file(".config/openclaw/env", 0o644);
    file(".config/systemd/user/openclaw-gateway.service", 0o666);
    file("run/gateway.sock", 0o666);
    for folder in [&state, &home.path().join("run")] {
        fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    }
    let expected = [
        "fs.state_dir.perms_world_writable",
        "fs.state_dir.perms_group_writable",
        "fs.state_dir.perms_readable",
        "fs.config.perms_writable",
        "fs.config.perms_world_readable",
        "fs.config.perms_group_readable",
        "fs.config_include.perms_writable",
        "fs.config_include.perms_world_readable",
        "fs.config_include.perms_group_readable",
        "fs.auth_profiles.perms_writable",
        "fs.auth_profiles.perms_readable",
        "fs.credentials_dir.perms_writable",
        "fs.credentials_dir.perms_readable",
        "fs.token_file.perms",
        "fs.sessions_store.perms_readable",
        "fs.log_file.perms_readable",
        "fs.backup.perms_readable",
        "fs.environment_file.perms_readable",
        "fs.runtime_dir.perms",
        "fs.control_sockets.perms",
        "fs.units.perms_writable",
    ];
    assert_eq!(found(home.path()), BTreeSet::from(expected));
}

#[test]
fn audit_who_may_do_what_is_said() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("env");
    let all = [
        Lets::OthersRead,
        Lets::OthersWrite,
        Lets::GroupRead,
        Lets::GroupWrite,
    ];
    for (mode, expected) in [
        (0o666, "everybody reads and writes it"),
        (0o644, "everybody reads it"),
        (0o602, "everybody writes it"),
        (0o660, "its group reads and writes it"),
        (0o640, "its group reads it"),
    ] {
        write(&place, "", mode);
        let said = open([place.as_path()], &all);
        assert!(said[0].ends_with(expected), "{mode:o}: {said:?}");
    }
}

#[test]
fn repositories_that_look_like_folders_are_found() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join(".openclaw");
    let workspace = state.join("workspace");
    let repository = |place: &Path| {
        for folder in ["objects", "refs"] {
            fs::create_dir_all(place.join(folder)).unwrap();
        }
        fs::write(place.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    };
    for private in [&state, &workspace] {
        fs::create_dir_all(private).unwrap();
        fs::set_permissions(private, Permissions::from_mode(0o700)).unwrap();
    }
    // One with a working tree, and one that is somewhere else.
    repository(&workspace.join("project/.git"));
    repository(&home.path().join("elsewhere"));
    std::os::unix::fs::symlink(home.path().join("elsewhere"), workspace.join("link")).unwrap();
    let id = "fs.workspace.bare_repository";
    assert!(!found(home.path()).contains(id));
    repository(&workspace.join("notes/2024"));
    assert!(found(home.path()).contains(id));
}

/// Its objects and references may lie anywhere else.
#[test]
fn repositories_with_a_common_folder_are_found() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join(".openclaw/workspace/notes");
    write(&place.join("HEAD"), "ref: refs/heads/main\n", 0o600);
    assert!(!found(home.path()).contains("fs.workspace.bare_repository"));
    write(&place.join("commondir"), "../common\n", 0o600);
    assert!(found(home.path()).contains("fs.workspace.bare_repository"));
}

/// Who makes a repository may make more around it than anybody looks at.
#[test]
fn workspaces_that_are_not_searched_to_the_end_are_told() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().join(".openclaw/workspace");
    let id = "fs.workspace.not_searched";
    fs::create_dir_all(workspace.join("a/b/c/d/e/f/g/h")).unwrap();
    assert!(!found(home.path()).contains(id));
    fs::create_dir_all(workspace.join("a/b/c/d/e/f/g/h/i")).unwrap();
    assert!(found(home.path()).contains(id));
}

#[test]
fn links_and_synced_folders_are_found() {
    let home = tempfile::tempdir().unwrap();
    let real = home.path().join("Dropbox/openclaw");
    write(&real.join("there.json"), "{}", 0o600);
    std::os::unix::fs::symlink(real.join("there.json"), real.join("openclaw.json")).unwrap();
    let link = home.path().join("Dropbox/link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let own = environment(home.path());
    let named = [(
        "OPENCLAW_STATE_DIR".to_owned(),
        link.to_str().unwrap().to_owned(),
    )];
    let all = own.beginning_with("");
    let variables = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment: Environment = variables.chain(named).collect();
    let scene = Scene::of(&environment).unwrap();
    let ids: BTreeSet<&str> = checks()
        .flat_map(|check| check.look(&scene))
        .map(|it| it.id)
        .collect();
    for id in ["fs.state_dir.symlink", "fs.config.symlink", "fs.synced_dir"] {
        assert!(ids.contains(id), "{id}: {ids:?}");
    }
}

/// A configuration, and what is found in it.
const CONFIGURATIONS: [(&str, &[&str]); 13] = [
    (
        "{ gateway: { bind: 'lan', auth: { mode: 'none' } } }",
        &["gateway.bind_no_auth", "gateway.loopback_no_auth", "gateway.bind_beyond_loopback"],
    ),
    (
        "{ gateway: { auth: { token: 'changeme' }, cli: { secret: 'short-one' },
            controlUi: { allowedOrigins: ['*'] }, allowedHosts: ['*'],
            http: { endpoints: { metrics: { enabled: true } } }, control: { channelUids: [1001] } } }",
        &[
            "gateway.token_placeholder_value", "gateway.token_too_short", "gateway.cli_secret_too_short",
            "gateway.control_ui.allowed_origins_wildcard", "gateway.allowed_hosts_wildcard",
            "gateway.http.metrics_enabled", "gateway.control.channel_uids",
            "config.secrets.gateway_token_in_config",
        ],
    ),
    (
        "{ gateway: { auth: { mode: 'password', password: 'password', rateLimit: { maxAttempts: 1000 } } } }",
        &[
            "gateway.password_placeholder_value", "gateway.password_too_short",
            "gateway.auth_no_rate_limit", "config.secrets.gateway_password_in_config",
        ],
    ),
    (
        "{ hooks: { enabled: true, token: 'abc', allowRequestSessionKey: true } }",
        &[
            "hooks.token_too_short", "hooks.default_session_key_unset", "hooks.allowed_agent_ids_unrestricted",
            "hooks.request_session_key_enabled", "hooks.request_session_key_prefixes_missing",
            "config.secrets.hooks_token_in_config",
        ],
    ),
    (
        "{ sandbox: { level: 'off', missing: 'weaken', network: 'full', hosts: ['com'],
            providerTools: ['web_search'], paths: { ro: ['~/.ssh', 'x'], rw: ['/etc', '~/.openclaw/state'] } } }",
        &[
            "sandbox.level_off", "sandbox.missing_weaken", "sandbox.network_full", "sandbox.hosts_broad",
            "sandbox.provider_tools", "sandbox.path_with_keys", "sandbox.dangerous_bind_mount",
            "sandbox.path_of_state", "sandbox.bind_mount_non_absolute",
        ],
    ),
    (
        "{ sandbox: { level: 'workspace' }, agents: { defaults: { limits: { costPerDay: 9000, costPerTurn: 900 } } } }",
        &["sandbox.level_below_strict", "limits.no_daily_budget", "limits.no_turn_budget"],
    ),
    (
        "{ tools: { exec: { ask: 'off', security: 'full', allowlist: ['bash'], safeBins: ['python3', 'jq'],
            safeBinTrustedDirs: ['/tmp/bin'] }, fs: { workspaceOnly: false } } }",
        &[
            "tools.exec.ask_off", "tools.exec.security_full_configured",
            "tools.exec.allowlist_interpreter_without_strict_inline_eval",
            "tools.exec.safe_bins_interpreter_unprofiled", "tools.exec.safe_bins_broad_behavior",
            "tools.exec.safe_bin_trusted_dirs_risky", "tools.fs.reads_beyond_workspace",
        ],
    ),
    (
        "{ tools: { profile: 'minimal', alsoAllow: ['read'], deny: ['group:fs'] } }",
        &["tools.profile_minimal_overridden", "tools.exec.fs_tools_disabled_but_exec_enabled"],
    ),
    (
        "{ mcp: { servers: { a: { command: 'npx', args: ['-y', 'x-mcp'], network: 'full', trusted: true,
            env: { API_KEY: 'abc' } } } } }",
        &[
            "mcp.server_unpinned", "mcp.server_network_full", "mcp.server_trusted", "mcp.server_secret_in_config",
        ],
    ),
    (
        "{ mcp: { servers: { a: { command: '~/.openclaw/workspace/run', network: 'full' },
            b: { command: '~/.openclaw/workspace/run' } } } }",
        &["mcp.server_program_writable", "mcp.server_network_full"],
    ),
    (
        "{ tools: { exec: { ask: 'off' } }, channels: { telegram: { botToken: '1:a', dmPolicy: 'open', allowFrom: ['*'],
            groupPolicy: 'open', groupAllowFrom: ['*'], groups: { '*': {} } } } }",
        &[
            "tools.exec.ask_off", "channels.dm_open", "channels.allow_from_wildcard", "channels.group_open",
            "channels.group_allow_from_wildcard", "channels.groups_wildcard",
            "security.exposure.open_channels_with_exec", "config.secrets.bot_token_in_config",
        ],
    ),
    (
        "{ models: { providers: { mine: { baseUrl: 'http://models.example/v1', apiKey: 'k' },
            here: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: '${KEY:-x}' } } } }",
        &["models.provider_plain_http", "config.secrets.provider_key_in_config"],
    ),
    (
        "{ logging: { content: true, level: 'error' }, env: { shellEnv: true } }",
        &["logging.content", "logging.silent", "env.shell_env"],
    ),
];

#[test]
fn configuration_that_opens_more_is_found() {
    for (text, expected) in CONFIGURATIONS {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join(".openclaw/openclaw.json"), text, 0o600);
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(found(home.path()), expected, "{text}");
    }
}

#[test]
fn audit_no_secret_is_said() {
    let home = tempfile::tempdir().unwrap();
    let text =
        "{ gateway: { auth: { token: 'sesame' } }, hooks: { enabled: true, token: 'sesame' } }";
    write(&home.path().join(".openclaw/openclaw.json"), text, 0o600);
    let scene = Scene::of(&environment(home.path())).unwrap();
    let findings: Vec<Finding> = checks().flat_map(|check| check.look(&scene)).collect();
    assert!(
        findings
            .iter()
            .any(|it| it.id == "hooks.token_reuse_gateway_token")
    );
    let document = document(&findings).to_string();
    assert!(!document.contains("sesame"), "{document}");
    let mut text = Painted::plain();
    paint(&findings, true, &mut text);
    assert!(
        !text.text().contains("sesame") && text.text().contains("ok        "),
        "{}",
        text.text()
    );
}
