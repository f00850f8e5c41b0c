use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

fn place() -> (tempfile::TempDir, Paths) {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    let variables = [("OPENCLAW_STATE_DIR", state), ("HOME", state)];
    let paths = Paths::resolve(&variables.into_iter().collect()).unwrap();
    (folder, paths)
}

fn key(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap()
}

fn problems(file: &File) -> (Vec<String>, usize) {
    let problems = file.problems(&Environment::default()).unwrap();
    let new = problems.new.iter().map(ToString::to_string).collect();
    (new, problems.old.len())
}

#[test]
fn change_keeps_the_rest_and_the_file_before() {
    let (_folder, paths) = place();
    let text = "// mine\n{\n  // the door\n  gateway: { port: 1 },\n}\n";
    fs::write(&paths.configuration, text).unwrap();
    let mut file = File::open(&paths).unwrap();
    file.set(&key("gateway.port"), json!(2)).unwrap();
    file.set(&key("logging.level"), json!("warn")).unwrap();
    assert_eq!(problems(&file), (vec![], 0));
    file.save().unwrap();
    let written = fs::read_to_string(&paths.configuration).unwrap();
    assert!(
        written.contains("// mine") && written.contains("// the door"),
        "{written}"
    );
    assert!(written.contains("port: 2"), "{written}");
    assert_eq!(
        fs::read_to_string(backup(&paths.configuration)).unwrap(),
        text
    );
}

#[test]
fn file_is_changed_when_its_text_is_another() {
    let (_folder, paths) = place();
    fs::write(&paths.configuration, "{ ui: 1 }").unwrap();
    let mut file = File::open(&paths).unwrap();
    assert!(!file.is_changed());
    file.set(&key("ui"), json!(2)).unwrap();
    assert!(file.is_changed());
    file.set(&key("ui"), json!(1)).unwrap();
    assert!(!file.is_changed());
}

#[test]
fn patch_touches_only_what_it_says() {
    let (_folder, paths) = place();
    let text = "{ a: 1, // one\n  env: { vars: { K: 'sk-1' } }, b: { c: 2, d: 3 /* three */ } }";
    fs::write(&paths.configuration, text).unwrap();
    let mut file = File::open(&paths).unwrap();
    let patch = json!({
        "a": null, "b": {"c": 9, "e": [1]}, "env": {"vars": {"K": redact::REDACTED}},
    });
    file.patch(&patch).unwrap();
    assert!(file.text().contains("// one") && file.text().contains("/* three */"));
    let expected = json!({"env": {"vars": {"K": "sk-1"}}, "b": {"c": 9, "d": 3, "e": [1]}});
    assert_eq!(file.document().unwrap(), expected);
    let secret = file.patch(&json!({"hooks": {"token": redact::REDACTED}}));
    assert!(secret.unwrap_err().to_string().contains("hooks.token"));
}

#[test]
fn list_that_is_not_there_begins_with_its_first_entry() {
    let (_folder, paths) = place();
    for typed in [
        "agents.list[0].id",
        "agents.list.0.id",
        "agents[\"list\"][0].id",
    ] {
        let mut file = File::open(&paths).unwrap();
        file.set(&key(typed), json!("work")).unwrap();
        let written = file.document().unwrap();
        assert_eq!(
            written,
            json!({"agents": {"list": [{"id": "work"}]}}),
            "{typed}"
        );
        assert_eq!(problems(&file), (vec![], 0));
        file.set(&key("agents.list[1].id"), json!("home")).unwrap();
        let error = file
            .set(&key("agents.list[3].id"), json!("more"))
            .unwrap_err();
        let words = "agents.list.3 is behind the end of the list, which has 2 entries";
        let whole = error.to_string();
        assert_eq!(whole.matches(words).count(), 1, "{whole}");
        assert!(std::error::Error::source(&error).is_none());
    }
    let mut file = File::open(&paths).unwrap();
    let error = file
        .set(&key("agents.list[1].id"), json!("work"))
        .unwrap_err();
    assert!(error.to_string().contains("has 0 entries"), "{error}");
    file.set(&key("env.vars.0"), json!("a name that is a number"))
        .unwrap();
    assert_eq!(
        file.document().unwrap()["env"]["vars"]["0"],
        "a name that is a number"
    );
}

#[test]
fn agents_by_id_are_not_counted() {
    let (_folder, paths) = place();
    let text = "{ agents: { entries: { work: {} } } }";
    fs::write(&paths.configuration, text).unwrap();
    let mut file = File::open(&paths).unwrap();
    let error = file
        .set(&key("agents.list[0].model"), json!("p/m"))
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("written by id, as agents.entries.work"),
        "{error}"
    );
    assert_eq!(file.text(), text);
}

#[test]
fn mistake_in_a_list_of_tools_is_a_warning_with_its_place() {
    let (_folder, paths) = place();
    fs::write(
        &paths.configuration,
        "{ tools: { deny: [\"exec\", \"exce\"] } }",
    )
    .unwrap();
    let found = validate(&paths, &Environment::default()).unwrap();
    let [warning] = &found.warnings[..] else {
        panic!("{found:?}")
    };
    for words in [
        "openclaw.json:1:27",
        "tools.deny.1",
        "\"exce\"",
        "did you mean \"exec\"?",
    ] {
        assert!(warning.contains(words), "{words}: {warning}");
    }
}

#[test]
fn file_what_was_wrong_before_does_not_stand_in_the_way_of_mending() {
    let (_folder, paths) = place();
    fs::write(&paths.configuration, "{ colour: 1, gateway: { prot: 2 } }").unwrap();
    let mut file = File::open(&paths).unwrap();
    file.unset(&key("colour")).unwrap();
    assert_eq!(problems(&file), (vec![], 1));
    file.set(&key("gateway.port"), json!("x")).unwrap();
    let (new, old) = problems(&file);
    assert_eq!((new.len(), old), (1, 1));
    assert!(new[0].contains("gateway.port"), "{new:?}");
}

#[test]
fn file_what_the_schema_cannot_say_is_a_problem_too() {
    let (_folder, paths) = place();
    let mut file = File::open(&paths).unwrap();
    file.set(&key("models.providers.x.baseUrl"), json!("ftp://x"))
        .unwrap();
    let (new, _) = problems(&file);
    assert!(
        new[0].contains("models.providers.x.baseUrl") && new[0].contains("http"),
        "{new:?}"
    );
}

#[test]
fn writers_wait_for_each_other() {
    const WRITERS: usize = 8;
    let (_folder, paths) = place();
    thread::scope(|scope| {
        for n in 0..WRITERS {
            let paths = &paths;
            scope.spawn(move || {
                let mut file = File::open(paths).unwrap();
                file.set(&key(&format!("env.vars.V{n}")), json!("x"))
                    .unwrap();
                file.save().unwrap();
            });
        }
    });
    let document = File::open(&paths).unwrap().document().unwrap();
    assert_eq!(document["env"]["vars"].as_object().unwrap().len(), WRITERS);
}

/// A file system of 64 KiB of the test's own, which only root can have; gone
/// with the thread.
fn on_small_disk(test: impl FnOnce(&Path) + Send) {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};

    let folder = tempfile::tempdir().unwrap();
    let mounted = || -> nix::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS)?;
        let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
        mount(None::<&str>, "/", None::<&str>, private, None::<&str>)?;
        let options = Some("size=64k,mode=0700");
        mount(
            Some("none"),
            folder.path(),
            Some("tmpfs"),
            MsFlags::empty(),
            options,
        )
    };
    thread::scope(|scope| {
        let run = || match mounted() {
            Ok(()) => test(folder.path()),
            Err(errno) => test_skip::skipped(&format!("a disk of the test's own: {errno}")),
        };
        scope.spawn(run).join().unwrap();
    });
}

fn place_in(folder: &Path) -> Paths {
    let state = folder.to_str().unwrap();
    Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains("tmp")).collect()
}

#[test]
fn file_on_a_full_disk_the_file_stays_and_the_path_is_named() {
    on_small_disk(|folder| {
        let paths = place_in(folder);
        let text = "{ // mine\n ui: 1 }";
        fs::write(&paths.configuration, text).unwrap();
        let mut file = File::open(&paths).unwrap();
        file.set(&key("ui"), json!("x".repeat(100_000))).unwrap();
        let error = file.save().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot write {}; nothing was changed",
                paths.configuration.display()
            )
        );
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("No space left"), "{cause}");
        assert_eq!(fs::read_to_string(&paths.configuration).unwrap(), text);
        assert!(names(folder).is_empty(), "{:?}", names(folder));
        drop(file);

        // Without room for the copy of the file before nothing is written either.
        let mut file = File::open(&paths).unwrap();
        let _ = fs::write(folder.join("full"), vec![0; 100_000]);
        file.set(&key("ui"), json!(2)).unwrap();
        assert!(file.save().is_err());
        assert_eq!(fs::read_to_string(&paths.configuration).unwrap(), text);
        fs::remove_file(folder.join("full")).unwrap();
        file.save().unwrap();
        assert_eq!(
            fs::read_to_string(&paths.configuration).unwrap(),
            "{ // mine\n ui: 2 }"
        );
    });
}

#[test]
fn file_on_a_disk_that_cannot_be_written_the_path_is_named() {
    on_small_disk(|folder| {
        let paths = place_in(folder);
        fs::write(&paths.configuration, "{ ui: 1 }").unwrap();
        let mut file = File::open(&paths).unwrap();
        file.set(&key("ui"), json!(2)).unwrap();
        let flags = nix::mount::MsFlags::MS_REMOUNT | nix::mount::MsFlags::MS_RDONLY;
        drop(file);
        let none = None::<&str>;
        nix::mount::mount(none, folder, none, flags, none).unwrap();
        let text = File::open(&paths).unwrap_err().to_string();
        assert!(
            text.contains("openclaw.json; nothing was changed"),
            "{text}"
        );
        assert_eq!(
            fs::read_to_string(&paths.configuration).unwrap(),
            "{ ui: 1 }"
        );
    });
}

#[test]
fn file_when_the_folder_is_gone_the_path_is_named() {
    let (folder, paths) = place();
    fs::write(&paths.configuration, "{ a: 1 }").unwrap();
    let mut file = File::open(&paths).unwrap();
    file.set(&key("a"), json!(2)).unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    let text = file.save().unwrap_err().to_string();
    assert!(
        text.contains("openclaw.json") && text.contains("nothing was changed"),
        "{text}"
    );
}

#[test]
fn text_of_an_editor_is_taken_when_it_can_be_read() {
    let (_folder, paths) = place();
    fs::write(&paths.configuration, "{ ui: 1 }").unwrap();
    let mut file = File::open(&paths).unwrap();
    file.replace("{ ui: ".to_owned()).unwrap_err();
    assert_eq!(file.text(), "{ ui: 1 }");
    assert_eq!(file.path(), paths.configuration);
    file.replace("// new\n{ ui: 2 }".to_owned()).unwrap();
    assert!(file.is_changed());
    assert_eq!(file.text(), "// new\n{ ui: 2 }");
    file.save().unwrap();
    let written = fs::read_to_string(&paths.configuration).unwrap();
    assert_eq!(written, "// new\n{ ui: 2 }");
}

#[test]
fn configuration_that_holds_says_what_does_not() {
    let (folder, paths) = place();
    let state = folder.path().to_str().unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state), ("HOME", state)]
        .into_iter()
        .collect();
    let found = |text: &str| {
        fs::write(&paths.configuration, text).unwrap();
        validate(&paths, &environment)
    };
    let clean = found("{ logging: { level: 'warn' } }").unwrap();
    assert_eq!(clean, Findings::default());
    let findings = found(
        "{ logging: { file: '/x' },
           agents: { defaults: { model: { primary: 'none/x', fallbacks: ['none/x'] } } },
           models: { providers: { mine: { apiKey: 'k' } } },
           mcp: { servers: { s: { command: '/no/such' } } } }",
    )
    .unwrap();
    let unused: Vec<_> = findings.unused.iter().map(|it| it.keys.join(" ")).collect();
    assert_eq!(unused, ["logging.file"]);
    for (part, place) in [
        ("models.providers.mine.baseUrl is missing", ""),
        ("agents.defaults.model", "openclaw.json:2:"),
        ("mcp.servers.s.command", "openclaw.json:4:"),
    ] {
        let mut warnings = findings.warnings.iter().filter(|it| it.contains(part));
        let warning = warnings
            .next()
            .unwrap_or_else(|| panic!("{part}: {findings:?}"));
        assert!(warning.contains(place), "{warning}");
        assert_eq!(warnings.next(), None, "{part} is said once");
    }
    let error = found("{ mcp: { servers: { s: {} } } }")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("openclaw.json:1:") && error.contains("mcp.servers.s.command"),
        "{error}"
    );
    found("{ gateway: { port: '${NOPE}' } }").unwrap_err();
}

#[test]
fn file_that_is_not_there_is_removed_and_one_that_cannot_be_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "").unwrap();
    remove(&path).unwrap();
    assert!(!path.exists());
    remove(&path).unwrap();
    remove(folder.path()).unwrap_err();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 6: For any configuration update, the
    /// write SHALL be atomic—readers SHALL never observe a partial or
    /// corrupted configuration file.
    #[test]
    fn property_6_readers_never_see_half_a_file(sizes in proptest::collection::vec(0usize..20_000, 2..6)) {
        let (_folder, paths) = place();
        let text = |size: usize| format!("{{ \"ui\": \"{}\", \"meta\": {size} }}", "x".repeat(size));
        write::atomic(&paths.configuration, text(sizes[0]).as_bytes()).unwrap();
        let done = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            let readers: Vec<_> = (0..2).map(|_| scope.spawn(|| {
                let mut seen = 0u32;
                while !done.load(Ordering::Relaxed) || seen == 0 {
                    let text = fs::read_to_string(&paths.configuration).unwrap();
                    let document: Value = serde_json::from_str(&text).unwrap();
                    let length = document["ui"].as_str().unwrap().len();
                    assert_eq!(document["meta"], json!(length), "half of a file");
                    assert!(sizes.contains(&length));
                    seen += 1;
                }
                seen
            })).collect();
            for size in &sizes {
                let mut file = File::open(&paths).unwrap();
                file.replace(text(*size)).unwrap();
                file.save().unwrap();
            }
            done.store(true, Ordering::Relaxed);
            readers.into_iter().map(|reader| reader.join().unwrap()).sum::<u32>()
        });
        prop_assert!(seen >= 2);
    }
}
