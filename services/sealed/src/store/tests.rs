use std::path::Path;

use super::*;

fn environment(folder: &Path) -> Environment {
    let text = folder.to_str().unwrap();
    let variables = [("HOME", text), ("XDG_RUNTIME_DIR", text)];
    variables.into_iter().collect()
}

#[test]
fn store_is_not_there_without_a_manager_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let environment = environment(folder.path());
    let paths = Paths::resolve(&environment).unwrap();
    let store = Store::of(&paths, &environment).unwrap();
    let refused = store.keep(&paths, "main", "anthropic", "{}").unwrap_err();
    assert!(matches!(refused, Unsealed::NoManager), "{refused}");
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    assert!(store.list().is_empty());
}

#[test]
fn drop_in_tells_which_keys_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let environment = environment(folder.path());
    let paths = Paths::resolve(&environment).unwrap();
    let store = Store::of(&paths, &environment).unwrap();
    let file = |name: &str| folder.path().join("100% mine").join(name);
    let mut lines = store.drop_in.lines();
    for name in [name("main", "anthropic"), name("my.work", "openai")] {
        let file = file(&name);
        lines.insert(name, file);
    }
    store.drop_in.write(&lines).unwrap();
    let place = ".config/systemd/user/openclaw-agent-runner.service.d/60-keys.conf";
    let text = fs::read_to_string(folder.path().join(place)).unwrap();
    assert!(
        text.contains("/100%% mine/openclaw-profile.main.anthropic\n"),
        "{text}"
    );
    let list = store.list();
    assert_eq!(list.len(), 2);
    assert_eq!((&*list[1].agent, &*list[1].provider), ("my.work", "openai"));
    assert_eq!(list[0].file, file("openclaw-profile.main.anthropic"));
    store.drop_in.write(&Default::default()).unwrap();
    assert!(!folder.path().join(place).exists());
    store.drop_in.write(&Default::default()).unwrap();
}
