use std::fs;

use serde_json::json;

use super::*;

struct Scene(tempfile::TempDir);

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn held(
        &self,
        key: &str,
        variables: &[(&str, &str)],
        set: &[(&str, &str)],
    ) -> Vec<OverridingValue> {
        let state = self.0.path().to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state)]
            .into_iter()
            .chain(variables.iter().copied());
        let set = set
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let environment = variables.collect::<Environment>().overridden(set);
        let paths = Paths::resolve(&environment).unwrap();
        held(&paths, &environment, &KeyPath::parse(key).unwrap()).unwrap()
    }

    /// Who holds the one value, with the state folder left out, and the value.
    fn one(&self, key: &str, variables: &[(&str, &str)], set: &[(&str, &str)]) -> (String, Value) {
        let mut all = self.held(key, variables, set);
        assert_eq!(all.len(), 1, "{key}: {all:?}");
        let held = all.remove(0);
        let state = format!("{}/", self.0.path().display());
        let by = held.by.to_string().replace(&state, "");
        (by, held.value.unwrap_or_default())
    }
}

#[test]
fn last_drop_in_holds() {
    let scene = Scene::new(&[
        (
            "openclaw.json",
            "{ logging: { level: 'warn' }, gateway: { port: 1, bind: 'lan' } }",
        ),
        (
            "openclaw.json.d/10-a.json",
            "{ logging: { level: 'error' } }",
        ),
        (
            "openclaw.json.d/50-b.json",
            "{ logging: { level: 'debug' }, gateway: { port: null } }",
        ),
    ]);
    let by = "openclaw.json.d/50-b.json".to_owned();
    assert_eq!(
        scene.one("logging.level", &[], &[]),
        (by.clone(), json!("debug"))
    );
    assert_eq!(scene.one("gateway", &[], &[]), (by, Value::Null));
    assert_eq!(scene.held("gateway.bind", &[], &[]), []);
    let same = Scene::new(&[
        ("openclaw.json", "{ logging: { level: 'debug' } }"),
        (
            "openclaw.json.d/10-a.json",
            "{ logging: { level: 'debug' } }",
        ),
    ]);
    assert_eq!(same.held("logging.level", &[], &[]), []);
}

#[test]
fn variable_comes_before_the_file_and_the_command_line_before_both() {
    let scene = Scene::new(&[
        (
            "openclaw.json",
            "{ logging: { level: 'warn' }, gateway: { port: 1 },
           agents: { defaults: { model: 'a/b' }, list: [{ id: 'x', backend: 'native' }] } }",
        ),
        (".env", "OPENCLAW_GATEWAY_PORT=19000\n"),
    ]);
    let variables = [
        ("OPENCLAW_LOG", "error"),
        ("OPENCLAW__AGENTS__DEFAULTS__MODEL", "c/d"),
    ];
    let level = scene.one("logging.level", &variables, &[]);
    assert_eq!(
        level,
        ("the variable OPENCLAW_LOG".to_owned(), json!("error"))
    );
    let set = [("logging.level", "debug")];
    let level = scene.one("logging.level", &variables, &set);
    assert_eq!(
        level,
        (
            "the command line of openclawctl run".to_owned(),
            json!("debug")
        )
    );
    let port = scene.one("gateway.port", &[], &[]);
    assert_eq!(
        port,
        (
            "the variable OPENCLAW_GATEWAY_PORT in .env".to_owned(),
            json!(19000)
        )
    );
    // Under its other name, too.
    let model = scene.one("agent.model", &variables, &[]);
    assert_eq!(model.1, json!("c/d"));
    let backend = [("OPENCLAW_BACKEND", "offline")];
    let own = scene.one("agents.list[0].backend", &backend, &[]);
    assert_eq!(
        own,
        ("the variable OPENCLAW_BACKEND".to_owned(), json!("offline"))
    );
}

#[test]
fn variables_and_files_of_credentials_come_before_the_file() {
    let scene = Scene::new(&[
        (
            "openclaw.json",
            "{ gateway: { auth: { token: 't' } },
           models: { providers: { mine: { baseUrl: 'http://a', apiKey: 'k' } } } }",
        ),
        ("credentials/openclaw-gateway-token", "other"),
    ]);
    assert_eq!(
        scene.one("gateway.auth.token", &[], &[]).0,
        "credentials/openclaw-gateway-token"
    );
    let variables = [("MINE_BASE_URL", "http://b"), ("MINE_API_KEY", "k")];
    let url = scene.one("models.providers.mine", &variables, &[]);
    assert_eq!(
        url,
        ("the variable MINE_BASE_URL".to_owned(), json!("http://b"))
    );
}

#[test]
fn holder_what_was_taken_out_may_still_be_included() {
    let scene = Scene::new(&[
        ("openclaw.json", "{ $include: 'part.json' }"),
        ("part.json", "{ gateway: { port: 19000 } }"),
    ]);
    assert_eq!(
        scene.one("gateway.port", &[], &[]),
        ("part.json".to_owned(), json!(19000))
    );
    let over = Scene::new(&[
        (
            "openclaw.json",
            "{ $include: 'part.json', gateway: { port: 1 } }",
        ),
        ("part.json", "{ gateway: { port: 19000 } }"),
    ]);
    assert_eq!(over.held("gateway.port", &[], &[]), []);
}

#[test]
fn variable_holds_what_is_asked_for_with_what_is_around_it() {
    let scene = Scene::new(&[("openclaw.json", "{ gateway: { port: 1, bind: 'lan' } }")]);
    let variables = [("OPENCLAW_GATEWAY_PORT", "9")];
    let held = scene.held("gateway.port", &variables, &[]);
    assert_eq!(held.len(), 1, "{held:?}");
    let held = scene.held("gateway.bind", &variables, &[]);
    assert_eq!(held, []);
    let set = [("gateway.port", "9")];
    assert_eq!(scene.one("gateway.port", &[], &set).1, json!(9));
    assert_eq!(scene.held("gateway.bind", &[], &set), []);
    assert_eq!(scene.held("logging.level", &[], &set), []);
}
