use super::*;

fn tools(text: &str) -> Tools {
    json5::from_str(text).unwrap()
}

#[test]
fn the_agents_own_word_comes_last_and_denials_add_up() {
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
    let own = resolve(&[
        &tools("{exec: {mode: 'allowlist'}}"),
        &tools("{exec: {ask: 'always'}}"),
    ]);
    assert!(own.only_listed);
    let denied = resolve(&[&tools("{exec: {security: 'deny'}}")]);
    assert_eq!(denied.layers[0].deny, ["group:runtime"]);
}

#[test]
fn nobody_is_asked_only_where_nothing_can_be_done() {
    let ask = |sandbox: &str, level| {
        let state = tempfile::tempdir().unwrap();
        let text = format!("{{sandbox: {sandbox}}}");
        std::fs::write(state.path().join("openclaw.json"), text).unwrap();
        let state = state.path().to_str().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let settings = crate::load(&environment).unwrap();
        settings.agent("main").unwrap().ask(level)
    };
    for (sandbox, level, expected) in [
        ("{}", SandboxLevel::Strict, Ask::Off),
        ("{network: 'allowlist'}", SandboxLevel::Strict, Ask::Off),
        ("{network: 'full'}", SandboxLevel::Strict, Ask::OnMiss),
        ("{paths: {rw: ['/srv']}}", SandboxLevel::Strict, Ask::OnMiss),
        ("{}", SandboxLevel::Workspace, Ask::OnMiss),
        ("{}", SandboxLevel::Off, Ask::OnMiss),
    ] {
        assert_eq!(ask(sandbox, level), expected, "{sandbox} {level:?}");
    }
}

#[test]
fn a_server_that_cannot_be_takes_only_itself_away() {
    let mcp: Mcp = json5::from_str(
        "{servers: {
            good: {command: 'srv', args: ['-x'], env: {A: 'b'}, network: 'none'},
            known: {command: 'srv', trusted: true},
            off: {command: 'srv', enabled: false},
            far: {url: 'https://x'}, 'a b': {command: 'x'}, empty: {},
            quick: {command: 'x', requestTimeoutMs: 0},
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
            "mcp.servers.quick.requestTimeoutMs",
            "mcp.servers.unset.env.KEY",
        ]
    );
    assert!(problems[4].1.contains("NOPE"), "{problems:?}");
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
