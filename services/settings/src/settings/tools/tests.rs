use std::path::Path;

use openclaw_config::launch::real;
use openclaw_config::schema::Schema;
use serde_json::json;

use super::*;
use crate::keys::Missing;
use crate::settings::AgentSettings;

fn tools(text: &str) -> Tools {
    json5::from_str(text).unwrap()
}

/// The main agent with this section `sandbox`.
fn main_with(sandbox: &str) -> AgentSettings {
    let state = tempfile::tempdir().unwrap();
    let text = format!("{{sandbox: {sandbox}}}");
    std::fs::write(state.path().join("openclaw.json"), text).unwrap();
    let state = state.path().to_str().unwrap();
    let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings = crate::load(&environment).unwrap();
    settings.agent("main").unwrap().clone()
}

#[test]
fn agents_own_word_comes_last_and_denials_add_up() {
    let global = tools("{deny: ['exec'], exec: {ask: 'always', allowlist: ['make']}}");
    let own = tools("{deny: ['write'], exec: {ask: 'off', safeBins: ['jq']}}");
    let settings = resolve(&[&global, &own]);
    assert_eq!(settings.ask, Some(Ask::Off));
    assert_eq!(settings.layers[0].deny, ["exec"]);
    assert_eq!(settings.layers[1].deny, ["write"]);
    assert_eq!(settings.allowlist, ["make"]);
    assert_eq!(settings.safe_bins.unwrap(), ["jq"]);
}

#[test]
fn openclaws_words_are_understood() {
    for (text, expected) in [
        (
            "{exec: {security: 'allowlist', ask: 'off'}}",
            Some(Ask::OnMiss),
        ),
        ("{exec: {mode: 'ask'}}", Some(Ask::OnMiss)),
        ("{exec: {mode: 'full'}}", Some(Ask::Off)),
        ("{exec: {mode: 'full', ask: 'always'}}", Some(Ask::Always)),
        ("{exec: {security: 'safe-bin'}}", Some(Ask::OnMiss)),
    ] {
        assert_eq!(resolve(&[&tools(text)]).ask, expected, "{text}");
    }
    for (text, expected) in [
        ("{exec: {security: 'safe-bin'}}", true),
        ("{exec: {security: 'allowlist'}}", true),
        ("{exec: {mode: 'ask'}}", true),
        ("{exec: {ask: 'on-miss'}}", false),
        ("{exec: {security: 'full'}}", false),
    ] {
        assert_eq!(resolve(&[&tools(text)]).only_listed, expected, "{text}");
    }
    for (general, own, refuses) in [
        ("{exec: {security: 'allowlist', ask: 'off'}}", "{}", true),
        ("{exec: {security: 'safe-bin', ask: 'off'}}", "{}", true),
        ("{exec: {mode: 'allowlist'}}", "{}", true),
        (
            "{exec: {security: 'allowlist'}}",
            "{exec: {ask: 'off'}}",
            true,
        ),
        ("{exec: {security: 'allowlist'}}", "{}", false),
        (
            "{exec: {security: 'allowlist', ask: 'on-miss'}}",
            "{}",
            false,
        ),
        (
            "{exec: {mode: 'allowlist'}}",
            "{exec: {mode: 'ask'}}",
            false,
        ),
        (
            "{exec: {mode: 'allowlist'}}",
            "{exec: {ask: 'always'}}",
            false,
        ),
        ("{exec: {ask: 'off'}}", "{}", false),
        ("{exec: {security: 'full', ask: 'off'}}", "{}", false),
    ] {
        let settings = resolve(&[&tools(general), &tools(own)]);
        assert_eq!(settings.refuses, refuses, "{general} {own}");
        let runs_all = settings.ask == Some(Ask::Off);
        assert!(!(refuses && runs_all), "{general} {own}");
    }
    let own = resolve(&[
        &tools("{exec: {mode: 'allowlist'}}"),
        &tools("{exec: {ask: 'always'}}"),
    ]);
    assert!(own.only_listed);
    let denied = resolve(&[&tools("{exec: {security: 'deny'}}")]);
    assert_eq!(denied.layers[0].off[0].0, "group:runtime");
}

#[test]
fn tools_nobody_is_asked_only_where_nothing_can_be_done() {
    let ask = |sandbox: &str, is_apart| main_with(sandbox).ask(is_apart);
    for (sandbox, is_apart, expected) in [
        ("{}", true, Ask::Off),
        ("{network: 'allowlist'}", true, Ask::Off),
        ("{network: 'full'}", true, Ask::OnMiss),
        ("{paths: {rw: ['/srv']}}", true, Ask::OnMiss),
        ("{}", false, Ask::OnMiss),
    ] {
        assert_eq!(ask(sandbox, is_apart), expected, "{sandbox} {is_apart}");
    }
}

#[test]
fn tools_who_does_not_know_the_machine_takes_a_level_that_may_come_out_lower_for_a_lower_one() {
    for (sandbox, missing, expected) in [
        ("{}", Missing::Refuse, Ask::OnMiss),
        ("{level: 'workspace'}", Missing::Refuse, Ask::OnMiss),
        ("{level: 'strict'}", Missing::Refuse, Ask::Off),
        ("{level: 'strict'}", Missing::Weaken, Ask::OnMiss),
    ] {
        let asked = main_with(sandbox).may_ask(missing);
        assert_eq!(asked, expected, "{sandbox} {missing:?}");
    }
}

#[test]
fn server_that_cannot_be_takes_only_itself_away() {
    let mcp: Mcp = json5::from_str(
        "{servers: {
            good: {command: 'srv', args: ['-x'], env: {A: 'b'}, network: 'none'},
            known: {command: 'srv', trusted: true},
            off: {command: 'srv', enabled: false},
            far: {url: 'https://x'}, 'a b': {command: 'x'}, empty: {},
            unset: {command: 'x', env: {KEY: '${NOPE}'}},
        }}",
    )
    .unwrap();
    let paths = Paths::resolve(&[("HOME", "/home/u")].into_iter().collect()).unwrap();
    let (servers, problems) = servers(&mcp, &paths);
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["good", "known"]);
    assert!(servers["known"].trusted && !servers["good"].trusted);
    assert_eq!(servers["good"].network, ServerNetwork::None);
    assert_eq!(servers["good"].call_limit, Duration::from_secs(120));
    let names: Vec<String> = problems.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(
        names,
        [
            "mcp.servers.a b",
            "mcp.servers.empty.command",
            "mcp.servers.far.url",
            "mcp.servers.unset.env.KEY",
        ]
    );
    assert!(problems[3].1.contains("NOPE"), "{problems:?}");
}

#[test]
fn server_call_takes_some_time_and_not_for_ever() {
    for wrong in [0, 540_001] {
        let document = json!({"mcp": {"servers": {"x": {"requestTimeoutMs": wrong}}}});
        let problems = Schema::shipped().check(&document);
        assert_eq!(problems.len(), 1);
        assert_eq!(
            problems[0].path.to_string(),
            "mcp.servers.x.requestTimeoutMs"
        );
    }
}

#[test]
fn server_has_no_network_unless_the_configuration_says_so() {
    let network = |text: &str| {
        let server: Server = json5::from_str(text).unwrap();
        network(&server)
    };
    assert_eq!(network("{}"), Ok(ServerNetwork::None));
    assert_eq!(
        network("{network: 'none', hosts: ['a.org']}"),
        Ok(ServerNetwork::None)
    );
    assert_eq!(network("{network: 'full'}"), Ok(ServerNetwork::Full));
    let listed = ServerNetwork::Allowlist(vec![Host::parse("a.org").unwrap()]);
    assert_eq!(network("{hosts: ['a.org']}"), Ok(listed.clone()));
    assert_eq!(
        network("{network: 'allowlist', hosts: ['a.org']}"),
        Ok(listed)
    );
    assert!(network("{hosts: ['https://a.org']}").is_err());
    assert!(network("{network: 'fulll'}").is_err());
}

#[test]
fn server_starts_in_no_home_and_sees_no_state_folder() {
    let paths = Paths::resolve(&[("HOME", "/home/u")].into_iter().collect()).unwrap();
    for (server, key) in [
        ("{cwd: '~'}", "cwd"),
        ("{cwd: '/home/u/'}", "cwd"),
        ("{cwd: '/home'}", "cwd"),
        ("{cwd: '/home/other'}", "cwd"),
        ("{cwd: '/'}", "cwd"),
        ("{cwd: '/tmp'}", "cwd"),
        ("{cwd: '~/.openclaw'}", "cwd"),
        ("{cwd: '~/.openclaw/../.openclaw'}", "cwd"),
        ("{paths: {ro: ['~']}}", "paths.ro"),
        ("{paths: {rw: ['/srv', '/home/u']}}", "paths.rw"),
    ] {
        let mcp: Mcp = json5::from_str(&format!("{{servers: {{x: {server}}}}}")).unwrap();
        let (named, _) = check_paths(&mcp, &paths).unwrap_err();
        assert_eq!(named, format!("mcp.servers.x.{key}"), "{server}");
    }
    for server in [
        "{cwd: '~/work'}",
        "{cwd: '~/.openclaw/workspace', paths: {ro: ['~/books'], rw: ['/srv/x']}}",
    ] {
        let mcp: Mcp = json5::from_str(&format!("{{servers: {{x: {server}}}}}")).unwrap();
        assert_eq!(check_paths(&mcp, &paths), Ok(()), "{server}");
    }
}

#[test]
fn server_has_a_name_that_tools_can_begin_with() {
    let paths = Paths::resolve(&[("HOME", "/home/u")].into_iter().collect()).unwrap();
    let server: Server = json5::from_str("{command: 'srv'}").unwrap();
    let is_taken = |name: &str| one(name, &server, &paths).is_ok();
    for name in ["a", "A-z_9", &"x".repeat(SERVER_NAME_LENGTH)] {
        assert!(is_taken(name), "{name}");
    }
    let long = "x".repeat(SERVER_NAME_LENGTH + 1);
    for name in ["", "a b", "a.b", "\u{e4}", &long] {
        assert!(!is_taken(name), "{name}");
    }
}

#[test]
fn server_is_as_it_is_written() {
    let paths = Paths::resolve(&[("HOME", "/home/u")].into_iter().collect()).unwrap();
    let server: Server = json5::from_str(
        "{command: '~/srv', args: ['-x'], env: {A: 'b'}, cwd: '~/w', network: 'full', trusted: true,
          requestTimeoutMs: 5, paths: {ro: ['~/r'], rw: ['/w']}}",
    )
    .unwrap();
    let expected = McpServer {
        command: "/home/u/srv".to_owned(),
        arguments: vec!["-x".to_owned()],
        variables: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
        folder: Some("/home/u/w".into()),
        network: ServerNetwork::Full,
        read_only: vec!["/home/u/r".into()],
        read_write: vec!["/w".into()],
        trusted: true,
        call_limit: Duration::from_millis(5),
    };
    assert_eq!(one("x", &server, &paths), Ok(expected));
}

#[test]
fn tools_what_servers_need_and_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let server = |command: &str, cwd: Option<&str>, paths: [&str; 2]| McpServer {
        command: command.to_owned(),
        arguments: Vec::new(),
        variables: BTreeMap::new(),
        folder: cwd.map(PathBuf::from),
        network: ServerNetwork::None,
        read_only: vec![paths[0].into()],
        read_write: vec![paths[1].into()],
        trusted: false,
        call_limit: Duration::from_secs(1),
    };
    let file = format!("{text}/file");
    let servers = [
        ("good", server("/bin/sh", Some(text), [text, &file])),
        ("idle", server("/bin/sh", None, [text, text])),
        (
            "none",
            server("/no/such", Some("/no/folder"), ["/no/r", "/no/w"]),
        ),
        ("file", server("/bin/sh", Some(&file), [text, text])),
    ];
    let servers = servers.map(|(name, server)| (name.to_owned(), server));
    let problems = absent(&BTreeMap::from(servers), &Environment::default());
    let said: Vec<String> = problems
        .iter()
        .map(|(key, problem)| format!("{key} {problem}"))
        .collect();
    let expected = [
        format!("mcp.servers.file.cwd is {file}, which is no folder"),
        "mcp.servers.none.command is \"/no/such\", which is not there".to_owned(),
        "mcp.servers.none.cwd is /no/folder, which is not there; make it".to_owned(),
        "mcp.servers.none.paths.ro has /no/r, which is not there".to_owned(),
        "mcp.servers.none.paths.rw has /no/w, which is not there".to_owned(),
    ];
    assert_eq!(said, expected);
}

#[test]
fn servers_that_nobody_uses_are_ended_unless_that_is_never() {
    let idle = |text: &str| super::idle(&json5::from_str(text).unwrap());
    assert_eq!(idle("{sessionIdleTtlMs: 0}"), None);
    assert_eq!(
        idle("{sessionIdleTtlMs: 1}"),
        Some(Duration::from_millis(1))
    );
}

#[test]
fn server_elsewhere_is_found_among_all() {
    let paths = Paths::resolve(&[("HOME", "/home/u")].into_iter().collect()).unwrap();
    let found = |text: &str| elsewhere(&json5::from_str(text).unwrap(), &paths);
    let near = "{servers: {a: {command: 'x'}, b: {}, d: {url: 'u', disabled: true}}}";
    assert_eq!(found(near), None);
    let (key, problem) = found("{servers: {a: {}, far: {url: 'https://x'}}}").unwrap();
    assert_eq!(key.to_string(), "mcp.servers.far.url");
    assert!(problem.contains("is a server elsewhere"), "{problem}");
}

#[test]
fn layers_add_up_and_the_last_word_holds() {
    let general = tools(
        "{profile: 'minimal', allow: ['a'], alsoAllow: ['b'], web: {search: {enabled: false}},
          fs: {workspaceOnly: true}, exec: {timeoutSec: 3, approvalTimeoutSec: 9,
          safeBinTrustedDirs: ['/x'], security: 'allowlist'}}",
    );
    let own = tools(
        "{web: {search: {enabled: true}, fetch: {enabled: false}}, fs: {workspaceOnly: false},
          exec: {timeoutSec: 5, safeBinTrustedDirs: ['/y'], mode: 'full'}}",
    );
    let both = resolve(&[&general, &own]);
    assert_eq!(both.layers.len(), 2);
    assert_eq!(both.layers[0].allow, ["a"]);
    assert_eq!(both.layers[0].also_allow, ["b"]);
    let search = ("web_search", "tools.web.search.enabled is false");
    assert_eq!(both.layers[0].off, [search]);
    let fetch = ("web_fetch", "tools.web.fetch.enabled is false");
    assert_eq!(both.layers[1].off, [fetch]);
    assert!(both.workspace_only && !both.only_listed);
    assert_eq!(both.command_time, Some(Duration::from_secs(5)));
    assert_eq!(both.patience, Duration::from_secs(9));
    assert_eq!(both.trusted_folders, ["/x", "/y"]);
    let plain = resolve(&[&tools("{}")]);
    assert!(!plain.workspace_only && !plain.only_listed);
    assert_eq!((plain.ask, plain.command_time), (None, None));
}

#[test]
fn mode_deny_takes_commands_away_as_security_deny_does() {
    for text in ["{exec: {mode: 'deny'}}", "{exec: {security: 'deny'}}"] {
        let settings = resolve(&[&tools(text)]);
        let (entry, key) = settings.layers[0].off[0];
        assert_eq!(entry, "group:runtime", "{text}");
        assert!(key.starts_with("tools.exec."), "{key}");
    }
    let settings = resolve(&[&tools("{exec: {mode: 'full', security: 'full'}}")]);
    assert_eq!(settings.layers[0].off, []);
}

#[test]
fn dots_are_taken_out_of_paths() {
    for (path, plain) in [
        ("/a/../b", "/b"),
        ("/a/b/..", "/a"),
        ("/a/./b", "/a/b"),
        ("/..", "/"),
    ] {
        assert_eq!(real(Path::new(path)), Path::new(plain), "{path}");
    }
}
