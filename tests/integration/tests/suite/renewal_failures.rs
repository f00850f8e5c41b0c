//! Logins whose renewal is cut off: a token endpoint that hangs, a file that
//! cannot be written, another process at the same file, a daemon that ends.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use integration_tests::{Said, Suite, asked, grpc, processes, skipped, until};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use scripted_model::Server;
use serde_json::{Value, json};

use crate::mounts::Mount;
use crate::renewal::{Endpoint, bearer, file, given, login, now_ms, stored, with_profiles, write};

/// What a turn may take whose login cannot be renewed: the wait of five seconds
/// and the turn itself. Far less than the endpoint may take.
const SOON: Duration = Duration::from_secs(12);
/// From a cancellation to its end; less than the wait.
const AT_ONCE: Duration = Duration::from_secs(3);

/// The one login there is, which has ended.
fn ended(url: &str) -> Value {
    json!({"anthropic:me": login(url, 1)})
}

fn token(site: &Suite) -> String {
    let stored = stored(site);
    let access = stored["profiles"]["anthropic:me"]["access"].as_str();
    access.unwrap().to_owned()
}

/// What the user was told beside the answer.
fn notes(said: &Said) -> String {
    let lines = said.lines();
    let notes = lines.iter().filter(|line| line["type"] == "note");
    notes.map(|line| line["text"].to_string()).collect()
}

fn holds_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn token_endpoint_that_hangs_holds_a_turn_for_seconds_and_is_asked_once() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::silent([given(1)]).await;
    let profiles = json!({
        "anthropic:me": login(&url, 1),
        "anthropic:work": {"type": "api_key", "provider": "anthropic", "key": "sk-work"},
    });
    let suite = with_profiles(&model, &profiles).await;
    for _ in 0..2 {
        let began = Instant::now();
        let said = suite.ctl(&["message", "--json", "hi"]).await.ended(0);
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        let words = [
            "the login anthropic:me",
            "longer than the 5 s",
            "ANTHROPIC_API_KEY",
        ];
        holds_all(&notes(&said), &words);
    }
    for request in asked::turns(&model, 2).await {
        assert_eq!(request.header("x-api-key"), Some("sk-work"));
    }
    // What was asked for is taken when it comes, though nobody waits for it.
    endpoint.release();
    until("the tokens are kept", || token(&suite) == "access-1").await;
    suite.say("again").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
    assert_eq!(endpoint.asked().len(), 1, "{:?}", endpoint.asked());
}

#[tokio::test]
async fn token_endpoint_that_hangs_is_named_where_there_is_no_other_key() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::silent([]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    let began = Instant::now();
    let run = suite.ask("hi").await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(run["error"]["code"], "auth", "{run}");
    let words = run["error"]["message"].as_str().unwrap();
    holds_all(words, &["the login anthropic:me", "longer than the 5 s"]);
    assert_eq!(endpoint.asked().len(), 1);
    assert!(model.turns().is_empty());
}

#[tokio::test]
async fn run_is_cancelled_while_its_login_is_renewed() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::silent([given(1)]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    let talk = suite.begin(&["message", "--json", "hi"]);
    endpoint.is_asked(1).await;
    let began = Instant::now();
    suite.ctl(&["cancel"]).await.ended(0);
    let said = talk.end().await.ended(1).complains(&["cancelled"]);
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    assert_eq!(said.lines().last().unwrap()["type"], "aborted", "{said}");
    // The refresh token is used up: what comes for it is kept.
    endpoint.release();
    until("the tokens are kept", || token(&suite) == "access-1").await;
    suite.say("again").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
    assert_eq!(model.turns().len(), 1, "the cancelled one asked nothing");
    assert_eq!(endpoint.asked().len(), 1);
}

/// The lock beside the file.
fn lock_file(site: &Suite) -> PathBuf {
    file(site).with_file_name(".auth-profiles.json.renewal-lock")
}

/// Whether somebody waits for the lock on a file.
fn is_wanted(lock: &Path) -> bool {
    let inode = format!(":{} ", fs::metadata(lock).unwrap().ino());
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let mut lines = locks.lines();
    lines.any(|line| line.contains("-> FLOCK") && line.contains(&inode))
}

#[tokio::test]
async fn login_that_another_process_is_renewing_is_waited_for() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::start([]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    let lock = fs::File::create(lock_file(&suite)).unwrap();
    let lock = Flock::lock(lock, FlockArg::LockExclusive).unwrap();
    let talk = suite.begin(&["message", "hi"]);
    until("the runner waits", || is_wanted(&lock_file(&suite))).await;
    let mut renewed = login(&url, now_ms() + 3_600_000);
    renewed["access"] = json!("access-9");
    write(&suite, &json!({"anthropic:me": renewed}));
    drop(lock);
    talk.end().await.ok();
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-9");
    assert!(endpoint.asked().is_empty(), "{:?}", endpoint.asked());
}

#[tokio::test]
async fn runner_that_is_killed_while_it_asks_leaves_the_file_and_asks_again() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::silent([given(1), given(2)]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    let before = fs::read(file(&suite)).unwrap();
    let talk = suite.begin(&["message", "hi"]);
    endpoint.is_asked(1).await;
    processes::send(suite.daemon("openclaw-agent-runner"), Signal::SIGKILL);
    endpoint.is_asked(2).await;
    assert_eq!(fs::read(file(&suite)).unwrap(), before);
    endpoint.release();
    talk.end().await.ok();
    let kept = token(&suite);
    assert_ne!(kept, "access-0");
    let used = bearer(model.turns().last().unwrap());
    assert_eq!(used, format!("Bearer {kept}"));
    let asked = endpoint.asked();
    assert!(asked.iter().all(|one| one["refresh_token"] == "refresh-0"));
}

#[tokio::test]
async fn runner_that_is_told_to_end_keeps_what_it_asked_for() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::silent([given(1)]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    let talk = suite.begin(&["message", "hi"]);
    endpoint.is_asked(1).await;
    // Nobody waits for it any more.
    suite.ctl(&["cancel"]).await.ended(0);
    talk.end().await.ended(1);
    processes::send(suite.daemon("openclaw-agent-runner"), Signal::SIGTERM);
    grpc::draining(suite.runtime().join("runner.sock")).await;
    endpoint.release();
    until("the tokens are kept", || token(&suite) == "access-1").await;
    suite.say("again").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
    assert_eq!(endpoint.asked().len(), 1);
}

/// A folder in which nothing can be written until this is dropped.
struct ReadOnly {
    folder: PathBuf,
    mount: Option<Mount>,
}

impl ReadOnly {
    /// Modes do not hold root, a mount does. `None`: neither can be had.
    fn make(folder: &Path) -> Option<Self> {
        let folder = folder.to_owned();
        if !geteuid().is_root() {
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
            return Some(Self {
                folder,
                mount: None,
            });
        }
        let mount = Mount::read_only(&folder);
        if mount.is_none() {
            skipped("a mount of the test's own");
            return None;
        }
        Some(Self { folder, mount })
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        if self.mount.is_none() {
            let _ = fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700));
        }
    }
}

#[tokio::test]
async fn login_that_cannot_be_written_is_used_told_and_written_later() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::silent([given(1)]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    let place = file(&suite).display().to_string();
    let talk = suite.begin(&["message", "--json", "hi"]);
    endpoint.is_asked(1).await;
    let Some(read_only) = ReadOnly::make(file(&suite).parent().unwrap()) else {
        return;
    };
    endpoint.release();
    let words = ["anthropic:me", "could not be kept", &place];
    holds_all(&notes(&talk.end().await.ended(0)), &words);
    // Used again, told again, and not asked for again.
    let said = suite.ctl(&["message", "--json", "again"]).await.ended(0);
    holds_all(&notes(&said), &words);
    assert_eq!(token(&suite), "access-0");
    drop(read_only);
    let said = suite.ctl(&["message", "--json", "again"]).await.ended(0);
    assert_eq!(notes(&said), "");
    assert_eq!(token(&suite), "access-1");
    for request in asked::turns(&model, 3).await {
        assert_eq!(bearer(&request), "Bearer access-1");
    }
    let mut suite = suite;
    suite.terminate();
    suite.ended().await;
    let suite = suite.restart().await;
    suite.say("and again").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
    assert_eq!(endpoint.asked().len(), 1);
}

#[tokio::test]
async fn login_that_was_made_anew_is_not_replaced_by_what_could_not_be_written() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::silent([given(1)]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    let talk = suite.begin(&["message", "hi"]);
    endpoint.is_asked(1).await;
    let Some(read_only) = ReadOnly::make(file(&suite).parent().unwrap()) else {
        return;
    };
    endpoint.release();
    talk.end().await.ok();
    drop(read_only);
    let mut anew = login(&url, now_ms() + 3_600_000);
    anew["access"] = json!("access-7");
    anew["refresh"] = json!("refresh-7");
    let anew = json!({"anthropic:me": anew});
    write(&suite, &anew);
    suite.say("again").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-7");
    assert_eq!(stored(&suite)["profiles"], anew);
    assert_eq!(endpoint.asked().len(), 1);
}

#[tokio::test]
async fn login_whose_file_cannot_be_written_is_not_asked_for() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::start([given(1)]).await;
    let suite = with_profiles(&model, &ended(&url)).await;
    // Made by the attempt before.
    fs::write(lock_file(&suite), "").unwrap();
    let before = fs::read(file(&suite)).unwrap();
    let Some(read_only) = ReadOnly::make(file(&suite).parent().unwrap()) else {
        return;
    };
    for _ in 0..2 {
        let run = suite.ask("hi").await;
        assert_eq!(run["error"]["code"], "auth", "{run}");
        let words = run["error"]["message"].as_str().unwrap();
        let place = file(&suite).display().to_string();
        holds_all(words, &["the login anthropic:me", &place]);
    }
    assert!(endpoint.asked().is_empty(), "{:?}", endpoint.asked());
    assert_eq!(fs::read(file(&suite)).unwrap(), before);
    drop(read_only);
    suite.say("hi").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
    assert_eq!(endpoint.asked().len(), 1);
}

/// What stands between us and a provider has no say on the refresh token: it is asked with
/// again, when the provider wants.
#[tokio::test]
async fn login_is_asked_for_again_where_only_a_page_said_no() {
    let model = Server::start().await.unwrap();
    let page = (403, json!("<html>Just a moment...</html>"));
    let busy = (429, json!({"error": {"type": "rate_limit_error"}}));
    let (endpoint, url) = Endpoint::start([page, busy, given(1)]).await;
    endpoint.says("retry-after: 0");
    let suite = with_profiles(&model, &json!({"anthropic:me": login(&url, 1)})).await;
    for status in ["HTTP 403", "HTTP 429"] {
        let run = suite.ask("hi").await;
        let words = run["error"]["message"].as_str().unwrap();
        assert!(
            words.contains(status) && words.contains("tried again"),
            "{words}"
        );
    }
    suite.say("hi").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
    let used = endpoint.asked();
    assert!(
        used.iter().all(|it| it["refresh_token"] == "refresh-0"),
        "{used:?}"
    );
}

#[tokio::test]
async fn provider_is_left_alone_as_long_as_it_wants() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::start([(429, json!({})), given(1)]).await;
    endpoint.says("retry-after: 3600");
    let suite = with_profiles(&model, &json!({"anthropic:me": login(&url, 1)})).await;
    for _ in 0..3 {
        assert_eq!(suite.ask("hi").await["error"]["code"], "auth");
    }
    assert_eq!(endpoint.asked().len(), 1);
}

/// The refresh token before is used up then: what came with the next one must not lose it.
#[tokio::test]
async fn login_is_kept_whatever_form_its_end_has() {
    let model = Server::start().await.unwrap();
    let (status, mut answer) = given(1);
    answer["expires_in"] = json!("28800");
    let (_endpoint, url) = Endpoint::start([(status, answer)]).await;
    let suite = with_profiles(&model, &json!({"anthropic:me": login(&url, 1)})).await;
    suite.say("hi").await;
    let kept = &stored(&suite)["profiles"]["anthropic:me"];
    assert_eq!(kept["refresh"], "refresh-1", "{kept}");
    assert!(
        kept["expires"].as_u64().unwrap() > now_ms() + 3_600_000,
        "{kept}"
    );
}
