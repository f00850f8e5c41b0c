//! Logins of auth profiles are renewed, and a session uses the profile that it
//! was given.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use integration_tests::socket::Socket;
use integration_tests::{Setup, Site, Suite, asked, until};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A token endpoint on loopback.
#[derive(Clone)]
pub(crate) struct Endpoint {
    asked: Arc<Mutex<Vec<Value>>>,
    answers: Arc<Mutex<VecDeque<(u16, Value)>>>,
    /// A line of the head of each answer.
    header: Arc<Mutex<String>>,
    /// Answers wait until it is open.
    door: watch::Sender<bool>,
}

impl Endpoint {
    /// Serves these answers in turn; the URL it has.
    pub(crate) async fn start(answers: impl IntoIterator<Item = (u16, Value)>) -> (Self, String) {
        let (endpoint, url) = Self::silent(answers).await;
        endpoint.release();
        (endpoint, url)
    }

    /// One that answers nobody until it is told to.
    pub(crate) async fn silent(answers: impl IntoIterator<Item = (u16, Value)>) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/oauth/token", listener.local_addr().unwrap());
        let endpoint = Self {
            asked: Arc::default(),
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            header: Arc::default(),
            door: watch::Sender::new(false),
        };
        let serving = endpoint.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().answer(stream));
            }
        });
        (endpoint, url)
    }

    async fn answer(self, mut stream: TcpStream) {
        let mut request = Vec::new();
        let body = loop {
            let mut piece = [0; 4096];
            let length = stream.read(&mut piece).await.unwrap();
            request.extend_from_slice(&piece[..length]);
            let text = String::from_utf8_lossy(&request).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let wanted = head.split("content-length: ").nth(1).unwrap();
                let wanted: usize = wanted.lines().next().unwrap().trim().parse().unwrap();
                if body.len() >= wanted {
                    break body.to_owned();
                }
            }
            assert!(length > 0, "the request broke off");
        };
        self.asked
            .lock()
            .unwrap()
            .push(serde_json::from_str(&body).unwrap());
        let mut door = self.door.subscribe();
        let _ = door.wait_for(|is_open| *is_open).await;
        let next = self.answers.lock().unwrap().pop_front();
        let (status, answer) = next.unwrap_or((500, json!({})));
        // A page is no JSON.
        let answer = answer
            .as_str()
            .map_or_else(|| answer.to_string(), str::to_owned);
        let header = self.header.lock().unwrap().clone();
        let response = format!(
            "HTTP/1.1 {status} X\r\n{header}content-length: {}\r\nconnection: close\r\n\r\n{answer}",
            answer.len()
        );
        let _ = stream.write_all(response.as_bytes()).await;
    }

    /// Lets what waits be answered, and what comes later.
    pub(crate) fn release(&self) {
        self.door.send_replace(true);
    }

    /// Has its answers say so too from now on.
    pub(crate) fn says(&self, header: &str) {
        *self.header.lock().unwrap() = format!("{header}\r\n");
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until it has been asked so often.
    pub(crate) async fn is_asked(&self, count: usize) {
        until("the token endpoint is asked", || {
            self.asked().len() == count
        })
        .await;
    }
}

pub(crate) fn given(number: u32) -> (u16, Value) {
    let answer = json!({
        "access_token": format!("access-{number}"), "refresh_token": format!("refresh-{number}"),
        "expires_in": 28_800, "token_type": "Bearer",
    });
    (200, answer)
}

pub(crate) fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(now.unwrap().as_millis()).unwrap()
}

/// A login of Anthropic's in OpenClaw's form.
pub(crate) fn login(url: &str, expires: u64) -> Value {
    json!({
        "type": "oauth", "provider": "anthropic", "access": "access-0", "refresh": "refresh-0",
        "expires": expires, "tokenUrl": url, "email": "me@example.org", "later": {"x": 1},
    })
}

pub(crate) fn file(site: &Site) -> PathBuf {
    site.state().join("agents/main/agent/auth-profiles.json")
}

pub(crate) fn write(site: &Site, profiles: &Value) {
    let file = file(site);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let store = json!({"version": 1, "profiles": profiles, "mine": [1, 2]});
    fs::write(&file, store.to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

pub(crate) fn stored(site: &Site) -> Value {
    serde_json::from_slice(&fs::read(file(site)).unwrap()).unwrap()
}

/// The suite with these profiles, and no key beside them.
pub(crate) async fn with_profiles(model: &Server, profiles: &Value) -> Suite {
    let site = Setup::anthropic(model)
        .set("agents.defaults.model", "anthropic/claude-sonnet-5")
        .without("ANTHROPIC_API_KEY")
        .site();
    write(&site, profiles);
    Suite::start(site).await
}

pub(crate) fn bearer(request: &scripted_model::Recorded) -> String {
    request
        .header("authorization")
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn login_that_has_ended_is_renewed_once_and_kept() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::start([given(1)]).await;
    let profiles = json!({"anthropic:me": login(&url, 1)});
    let suite = with_profiles(&model, &profiles).await;
    // Two turns at once, in two sessions.
    let both = tokio::join!(
        suite.ctl(&["message", "--session", "one", "hi"]),
        suite.ctl(&["message", "--session", "two", "hi"]),
    );
    both.0.ok();
    both.1.ok();
    suite.say("and again").await;
    for request in asked::turns(&model, 3).await {
        assert_eq!(bearer(&request), "Bearer access-1");
    }
    let asked = endpoint.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["grant_type"], "refresh_token");
    assert_eq!(asked[0]["refresh_token"], "refresh-0");
    assert!(asked[0]["client_id"].as_str().unwrap().len() > 8);

    let kept = stored(&suite);
    let expires = kept["profiles"]["anthropic:me"]["expires"]
        .as_u64()
        .unwrap();
    assert!(expires > now_ms() + 7 * 3_600_000, "{kept}");
    let mut expected = json!({"version": 1, "profiles": profiles, "mine": [1, 2]});
    let me = &mut expected["profiles"]["anthropic:me"];
    me["access"] = json!("access-1");
    me["refresh"] = json!("refresh-1");
    me["expires"] = json!(expires);
    assert_eq!(kept, expected);
    assert_eq!(fs::metadata(file(&suite)).unwrap().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn login_is_renewed_before_it_ends_and_not_long_before() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::start([given(1)]).await;
    let profiles = json!({"anthropic:me": login(&url, now_ms() + 3_600_000)});
    let suite = with_profiles(&model, &profiles).await;
    suite.say("hi").await;
    assert!(endpoint.asked().is_empty());
    drop(suite);
    let profiles = json!({"anthropic:me": login(&url, now_ms() + 60_000)});
    let suite = with_profiles(&model, &profiles).await;
    suite.say("hi").await;
    assert_eq!(endpoint.asked().len(), 1);
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
}

#[tokio::test]
async fn login_that_cannot_be_renewed_gives_way_to_the_next() {
    let model = Server::start().await.unwrap();
    let refusal = json!({"error": "invalid_grant", "error_description": "do not tell"});
    let (endpoint, url) = Endpoint::start([(400, refusal)]).await;
    let profiles = json!({
        "anthropic:me": login(&url, 1),
        "anthropic:work": {"type": "api_key", "provider": "anthropic", "key": "sk-work"},
    });
    let suite = with_profiles(&model, &profiles).await;
    let said = suite.ctl(&["message", "--json", "hi"]).await;
    let lines = said.lines();
    let notes = lines.iter().filter(|line| line["type"] == "note");
    let notes: String = notes.map(|line| line["text"].to_string()).collect();
    for words in [
        "anthropic:me",
        "invalid_grant",
        "log in again",
        "ANTHROPIC_API_KEY",
    ] {
        assert!(notes.contains(words), "{notes}");
    }
    assert!(!notes.contains("do not tell"), "{notes}");
    // Whoever looks at the logins sees it, too.
    let listed = suite.ctl(&["auth", "list", "--json"]).await.ok();
    for words in [
        "anthropic:me",
        "invalid_grant",
        "log in again",
        "openclawctl auth add anthropic",
    ] {
        assert!(listed.contains(words), "{listed}");
    }
    assert!(!listed.contains("do not tell"), "{listed}");
    // What was refused is not asked again, and not told again.
    suite.say("again").await;
    for request in asked::turns(&model, 2).await {
        assert_eq!(request.header("x-api-key"), Some("sk-work"));
    }
    assert_eq!(endpoint.asked().len(), 1);
    assert_eq!(stored(&suite)["profiles"], profiles);
}

#[tokio::test]
async fn login_that_cannot_be_renewed_is_named_where_there_is_no_other() {
    let model = Server::start().await.unwrap();
    let refusal = json!({"error": "invalid_grant"});
    let (_endpoint, url) = Endpoint::start([(400, refusal)]).await;
    let suite = with_profiles(&model, &json!({"anthropic:me": login(&url, 1)})).await;
    let run = suite.ask("hi").await;
    assert_eq!(run["error"]["code"], "auth", "{run}");
    let words = run["error"]["message"].as_str().unwrap();
    for part in ["the login anthropic:me", "invalid_grant", "log in again"] {
        assert!(words.contains(part), "{words}");
    }
    assert!(model.turns().is_empty());
}

#[tokio::test]
async fn login_that_is_not_accepted_is_renewed_with_the_next_message() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::start([given(1)]).await;
    let profiles = json!({"anthropic:me": login(&url, now_ms() + 3_600_000)});
    let suite = with_profiles(&model, &profiles).await;
    model.push(Scenario::failure(401));
    let run = suite.ask("hi").await;
    assert_eq!(run["error"]["code"], "auth", "{run}");
    suite.say("again").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-1");
    suite.say("and again").await;
    assert_eq!(endpoint.asked().len(), 1);
}

#[tokio::test]
async fn login_that_somebody_else_renewed_is_taken_from_the_file() {
    let model = Server::start().await.unwrap();
    let (endpoint, url) = Endpoint::start([]).await;
    let suite = with_profiles(&model, &json!({"anthropic:me": login(&url, 1)})).await;
    let mut renewed = login(&url, now_ms() + 3_600_000);
    renewed["access"] = json!("access-9");
    write(&suite, &json!({"anthropic:me": renewed}));
    suite.say("hi").await;
    assert_eq!(bearer(model.turns().last().unwrap()), "Bearer access-9");
    assert!(endpoint.asked().is_empty());
}

/// Three keys of one provider.
fn keys() -> Value {
    let key = |secret: &str| json!({"type": "api_key", "provider": "anthropic", "key": secret});
    json!({"anthropic:a": key("sk-a"), "anthropic:b": key("sk-b"), "anthropic:c": key("sk-c")})
}

fn last_key(model: &Server) -> String {
    let turns = model.turns();
    let last = turns.last().unwrap();
    last.header("x-api-key").unwrap_or_default().to_owned()
}

#[tokio::test]
async fn session_uses_the_profile_it_was_given_and_no_other() {
    let model = Server::start().await.unwrap();
    let suite = with_profiles(&model, &keys()).await;
    suite.say("hi").await;
    assert_ne!(last_key(&model), "sk-c");
    let mut socket = Socket::enter(&suite).await;
    let patch = json!({"key": "main", "authProfileOverride": "anthropic:c"});
    let patched = socket.call("sessions.patch", patch).await;
    assert_eq!(patched["entry"]["authProfileOverride"], "anthropic:c");
    assert_eq!(patched["entry"]["authProfileOverrideSource"], "user");
    suite.say("hi").await;
    assert_eq!(last_key(&model), "sk-c");
    // The user's choice is not replaced when it is refused.
    model.push(Scenario::failure(401));
    let before = model.turns().len();
    let run = suite.ask("hi").await;
    assert_eq!(run["error"]["code"], "auth", "{run}");
    assert_eq!(model.turns().len(), before + 1);
    // Another session has the agent's own.
    suite
        .ctl(&["message", "--session", "other", "hi"])
        .await
        .ok();
    assert_ne!(last_key(&model), "sk-c");
    let auto = json!({
        "key": "main", "authProfileOverride": "anthropic:b", "authProfileOverrideSource": "auto",
    });
    socket.call("sessions.patch", auto).await;
    model.push(Scenario::failure(401));
    let before = model.turns().len();
    suite.say("hi").await;
    let turns = model.turns();
    assert_eq!(turns[before].header("x-api-key"), Some("sk-b"));
    assert_eq!(turns[before + 1].header("x-api-key"), Some("sk-a"));
}

#[tokio::test]
async fn profile_that_is_not_there_is_refused_and_told() {
    let model = Server::start().await.unwrap();
    let suite = with_profiles(&model, &keys()).await;
    suite.say("hi").await;
    let unknown = [
        "sessions",
        "patch",
        "main",
        "--set",
        "authProfileOverride=anthropic:x",
    ];
    let refused = suite.ctl(&unknown).await;
    assert_ne!(refused.code, 0);
    let words = refused.stderr;
    assert!(
        words.contains("anthropic:x") && words.contains("anthropic:a"),
        "{words}"
    );
    let chosen = [
        "sessions",
        "patch",
        "main",
        "--set",
        "authProfileOverride=anthropic:c",
    ];
    suite.ctl(&chosen).await.ok();
    // It is taken away after it was chosen.
    let mut fewer = keys();
    fewer.as_object_mut().unwrap().remove("anthropic:c");
    write(&suite, &fewer);
    suite
        .ctl(&["config", "set", "logging.level", "warn"])
        .await
        .ok();
    let told = async {
        loop {
            let run = suite.ask("hi").await;
            if run["status"] == "failed" {
                return run["error"]["message"].as_str().unwrap().to_owned();
            }
        }
    };
    let words = integration_tests::within("the profile is missed", told).await;
    for part in ["\"anthropic:c\"", "anthropic:a", "authProfileOverride="] {
        assert!(words.contains(part), "{words}");
    }
    let none = ["sessions", "patch", "main", "--set", "authProfileOverride="];
    suite.ctl(&none).await.ok();
    suite.say("hi").await;
}
