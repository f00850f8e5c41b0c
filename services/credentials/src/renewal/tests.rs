use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::endpoint::Form;
use openclaw_config::environment::Environment;
use openclaw_config::paths::Paths;

/// Bytes of a file's name.
const NAME_MAX: usize = 255;

fn turn(folder: &Path, id: &str, document: &Value) -> Turn {
    let file = folder.join("auth-profiles.json");
    fs::write(&file, document.to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    Turn::wait(&Renewable {
        id: id.to_owned(),
        file,
        endpoint: Endpoint::known("anthropic").unwrap(),
    })
    .unwrap()
}

fn tokens() -> Tokens {
    Tokens {
        access: Secret::new("new-access"),
        refresh: Secret::new("new-refresh"),
        expires_ms: Some(99),
    }
}

#[test]
fn tokens_are_kept_under_their_names_and_nothing_else_changes() {
    let login = json!({"type": "oauth", "provider": "anthropic", "access": "a", "refresh": "r",
        "expires": 1, "email": "me@example.org", "later": {"x": [1]}});
    let other = json!({"type": "api_key", "provider": "openai", "key": "k"});
    let mut store = json!({"version": 1, "profiles": {"a:b": login, "o:d": other},
        "order": {"anthropic": ["a:b"]}, "usageStats": {"a:b": {"lastUsed": 7}}});
    let folder = tempfile::tempdir().unwrap();
    let turn = turn(folder.path(), "a:b", &store);
    assert_eq!(turn.stored().unwrap().refresh.reveal(), "r");
    turn.rehearse().unwrap();
    turn.keep(&tokens()).unwrap();
    let file = folder.path().join("auth-profiles.json");
    let kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let fields = &mut store["profiles"]["a:b"];
    fields["access"] = json!("new-access");
    fields["refresh"] = json!("new-refresh");
    fields["expires"] = json!(99);
    assert_eq!(kept, store);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(turn.stored().unwrap(), tokens());
}

#[test]
fn renewal_every_shape_of_a_file_is_written() {
    let seed = |id: &str| {
        json!({"id": id, "provider": "anthropic",
        "credential": {"type": "oauth", "accessToken": "a", "refreshToken": "r"}})
    };
    for document in [
        seed("me"),
        json!([seed("you"), seed("me")]),
        json!({"profiles": [seed("me")]}),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let turn = turn(folder.path(), "me", &document);
        turn.keep(&tokens()).unwrap();
        let file = folder.path().join("auth-profiles.json");
        let kept = fs::read_to_string(file).unwrap();
        assert_eq!(turn.stored().unwrap(), tokens(), "{kept}");
        assert!(kept.contains("\"expiresAt\": 99"), "{kept}");
        assert!(!kept.contains("you") || kept.contains("\"refreshToken\": \"r\""));
    }
}

#[test]
fn second_waits_for_the_first_and_sees_what_it_kept() {
    let folder = tempfile::tempdir().unwrap();
    let login = json!({"type": "oauth", "access": "a", "refresh": "r"});
    let first = turn(folder.path(), "a:b", &json!({"profiles": {"a:b": login}}));
    let renewable = first.renewable.clone();
    let (began, begun) = mpsc::channel();
    thread::scope(|scope| {
        let second = scope.spawn(move || {
            began.send(()).unwrap();
            Turn::wait(&renewable).unwrap().stored().unwrap()
        });
        begun.recv().unwrap();
        while !is_waited_for(&lock_path(&first.renewable.file)) {
            assert!(!second.is_finished(), "it did not wait");
            thread::yield_now();
        }
        first.keep(&tokens()).unwrap();
        drop(first);
        assert_eq!(second.join().unwrap(), tokens());
    });
}

/// Whether somebody waits for the lock on a file.
fn is_waited_for(path: &Path) -> bool {
    let inode = format!(":{} ", fs::metadata(path).unwrap().ino());
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let mut lines = locks.lines();
    lines.any(|line| line.contains("-> FLOCK") && line.contains(&inode))
}

#[test]
fn file_that_cannot_be_written_is_named_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let login = json!({"type": "oauth", "access": "a", "refresh": "r"});
    let mut turn = turn(folder.path(), "a:b", &json!({"profiles": {"a:b": login}}));
    // Too long a name for the temporary file beside it: that holds for root too.
    let long = folder.path().join("x".repeat(NAME_MAX));
    fs::rename(&turn.renewable.file, &long).unwrap();
    turn.renewable.file.clone_from(&long);
    for failed in [turn.rehearse(), turn.keep(&tokens())] {
        let words = failed.unwrap_err().to_string();
        assert_eq!(words, format!("write {}", long.display()));
    }
    assert_eq!(turn.stored().unwrap().refresh.reveal(), "r");
    let names = fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 2, "the file and its lock");
}

/// Names the folder for the process that is killed.
const FOLDER: &str = "OPENCLAW_TEST_RENEWAL_FOLDER";
/// The test that is this process.
const KEEPER: &str = "renewal::tests::tokens_are_kept_until_the_process_is_killed";
/// Killed at so many different moments.
const KILLS: u32 = 40;
/// Bytes of a field that is not ours: little, so that most of the time goes
/// into writing.
const BALLAST: usize = 4096;

fn state(folder: &Path) -> Paths {
    let state = folder.to_str().unwrap();
    Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect()).unwrap()
}

/// A login in the folder that is searched for profiles.
fn kept_in(folder: &Path) -> Renewable {
    Renewable {
        id: "a:b".to_owned(),
        file: super::super::folder(&state(folder), "main").join("mine.json"),
        endpoint: Endpoint::known("anthropic").unwrap(),
    }
}

#[test]
#[ignore = "the process that is killed by the next test"]
fn tokens_are_kept_until_the_process_is_killed() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let turn = Turn::wait(&kept_in(Path::new(&folder))).unwrap();
    for number in 1.. {
        let tokens = Tokens {
            access: Secret::new(format!("access-{number}")),
            refresh: Secret::new(format!("refresh-{number}")),
            expires_ms: Some(number),
        };
        turn.keep(&tokens).unwrap();
        if number == 1 {
            println!("kept");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this program, to be killed")]
#[test]
fn process_that_is_killed_leaves_the_old_tokens_or_the_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let renewable = kept_in(folder.path());
    let place = renewable.file.parent().unwrap();
    fs::create_dir_all(place).unwrap();
    let login = json!({"type": "oauth", "provider": "anthropic", "access": "access-0",
        "refresh": "refresh-0", "expires": 0, "later": "x".repeat(BALLAST)});
    let document = json!({"version": 1, "profiles": {"a:b": login}});
    fs::write(&renewable.file, document.to_string()).unwrap();
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", KEEPER, "--ignored", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines
            .map(Result::unwrap)
            .find(|line| line.contains("kept"))
            .unwrap();
        // At another moment of the next write each time.
        thread::sleep(Duration::from_micros(u64::from(kill) * 137));
        child.kill().unwrap();
        child.wait().unwrap();

        let stored = Turn::wait(&renewable).unwrap().stored().unwrap();
        let number = stored.expires_ms.unwrap();
        assert_eq!(stored.access.reveal(), format!("access-{number}"));
        assert_eq!(stored.refresh.reveal(), format!("refresh-{number}"));
        let none = Environment::default();
        let profiles = super::super::read(&state(folder.path()), "main", &none);
        assert_eq!(profiles.warnings, [""; 0]);
        let [profile] = profiles.list.as_slice() else {
            panic!("{profiles:?}");
        };
        assert_eq!(profile.credential.secret().unwrap().0, &stored.access);
    }
    let names = fs::read_dir(place).unwrap();
    assert!(names.count() > 2, "no process was killed while it wrote");
}

#[test]
fn renewal_what_a_variable_holds_cannot_be_renewed() {
    let login = json!({"type": "oauth", "access": "a", "refresh": "${REFRESH}"});
    let folder = tempfile::tempdir().unwrap();
    let turn = turn(folder.path(), "a:b", &json!({"profiles": {"a:b": login}}));
    assert!(matches!(turn.stored(), Err(Error::Missing(_))));
}

#[test]
fn refresh_tokens_go_over_tls_or_stay_here() {
    let of = |url: &str| Endpoint::of("mine", Some(url.to_owned()), Some("c".to_owned()));
    for url in [
        "https://x.example/token",
        "http://127.0.0.1:9/t",
        "http://localhost/t",
        "http://[::1]:9",
    ] {
        assert!(of(url).is_some(), "{url}");
    }
    for url in [
        "http://x.example/token",
        "http://127.0.0.1.example/t",
        "http://localhost:9@x.example/t",
        "ftp://127.0.0.1",
    ] {
        assert!(of(url).is_none(), "{url}");
    }
    assert!(Endpoint::of("mine", None, Some("c".to_owned())).is_none());
    assert_eq!(
        Endpoint::of("anthropic", None, None),
        Endpoint::known("anthropic")
    );
}

#[test]
fn tokens_are_renewed_five_minutes_before_their_end() {
    assert_eq!(MARGIN_MS, 300_000);
    let skews = ["anthropic", "openai", "openai-codex"];
    let skews = skews.map(|id| Endpoint::known(id).unwrap().skew_ms);
    assert_eq!(skews, [300_000, 0, 0]);
    assert_eq!(Endpoint::known("other"), None);
}

#[test]
fn endpoint_is_the_profiles_own_or_what_is_known_of_its_provider() {
    let of = |provider: &str, url: Option<&str>, client_id: Option<&str>| {
        Endpoint::of(
            provider,
            url.map(str::to_owned),
            client_id.map(str::to_owned),
        )
    };
    let known = Endpoint::known("anthropic").unwrap();
    assert_eq!(of("anthropic", None, None), Some(known.clone()));
    let own_client = Endpoint {
        client_id: "own".to_owned(),
        ..known.clone()
    };
    assert_eq!(of("anthropic", None, Some("own")), Some(own_client));
    let own_url = Endpoint {
        url: "https://own".to_owned(),
        ..known
    };
    assert_eq!(of("anthropic", Some("https://own"), None), Some(own_url));
    let other = Endpoint {
        url: "https://own".to_owned(),
        client_id: "own".to_owned(),
        form: Form::Fields,
        skew_ms: 0,
    };
    assert_eq!(of("other", Some("https://own"), Some("own")), Some(other));
    assert_eq!(of("other", Some("https://own"), None), None);
    assert_eq!(of("other", None, Some("own")), None);
}

#[test]
fn end_of_the_token_before_is_no_end_of_the_new_one() {
    for (expires_ms, kept) in [(Some(99), json!(99)), (None, Value::Null)] {
        let folder = tempfile::tempdir().unwrap();
        let login = json!({"type": "oauth", "provider": "anthropic", "access": "a",
            "refresh": "r", "expires": 1, "email": "me"});
        let store = json!({"profiles": {"a:b": login}});
        let turn = turn(folder.path(), "a:b", &store);
        let tokens = Tokens {
            expires_ms,
            ..tokens()
        };
        turn.keep(&tokens).unwrap();
        let text = fs::read_to_string(folder.path().join("auth-profiles.json")).unwrap();
        let written: Value = serde_json::from_str(&text).unwrap();
        let login = &written["profiles"]["a:b"];
        assert_eq!(login["expires"], kept);
        assert_eq!(login.get("expires").is_some(), expires_ms.is_some());
        assert_eq!(login["email"], "me");
        assert_eq!(login["access"], "new-access");
    }
}

#[test]
fn value_is_put_under_the_name_that_is_there_else_the_first() {
    for (names, fields, expected) in [
        (
            ACCESS,
            json!({"access": "a", "b": 1}),
            json!({"access": 9, "b": 1}),
        ),
        (
            ACCESS,
            json!({"accessToken": "a"}),
            json!({"accessToken": 9}),
        ),
        (ACCESS, json!({}), json!({"accessToken": 9})),
        (
            EXPIRES,
            json!({"access": "a"}),
            json!({"access": "a", "expires": 9}),
        ),
        (
            EXPIRES,
            json!({"accessToken": "a"}),
            json!({"accessToken": "a", "expiresAt": 9}),
        ),
        (
            EXPIRES,
            json!({"access": "a", "expiresAt": 1}),
            json!({"access": "a", "expiresAt": 9}),
        ),
        (
            REFRESH,
            json!({"access": "a"}),
            json!({"access": "a", "refreshToken": 9}),
        ),
    ] {
        let mut fields = fields.as_object().unwrap().clone();
        put(&mut fields, names, json!(9));
        assert_eq!(Value::Object(fields), expected);
    }
}
