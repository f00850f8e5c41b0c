//! `openclawctl setup`, from a suite without a model to an answer of one.

use std::os::unix::fs::PermissionsExt as _;

use integration_tests::{Setup, Terminal};
use scripted_model::{Scenario, Server};

/// A key that is nowhere but where it was put and at the model.
const KEY: &str = "sk-ant-made-up-for-setup";

/// Without a model, on a machine without any CLI.
fn bare() -> Setup {
    Setup::empty().variable("PATH", "/nonexistent")
}

/// An address where nobody listens.
async fn nobody() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

fn line<'a>(said: &'a str, name: &str) -> &'a str {
    let found = said.lines().find(|line| line.starts_with(name));
    found.unwrap_or_else(|| panic!("no {name}: {said}"))
}

#[tokio::test]
async fn setup_finds_ollama_and_says_so_once() {
    let model = Server::start().await.unwrap();
    let suite = bare().start().await;
    let address = model.address().to_string();
    let setup = ["setup", "--yes", "--ollama", &address];
    model.push(Scenario::text("Grüße vom Modell."));
    let said = suite.ctl(&setup).await.ended(0).stdout;
    let step = line(&said, "model ");
    assert!(
        step.contains("done") && step.contains("ollama/scripted:8b"),
        "{said}"
    );
    assert!(line(&said, "PATH ").contains("done"), "{said}");
    assert!(line(&said, "suite ").contains("ok"), "{said}");
    assert!(line(&said, "channels ").contains("skipped"), "{said}");
    assert!(said.contains("Grüße vom Modell."), "{said}");
    let file = std::fs::read_to_string(suite.configuration()).unwrap();
    assert!(file.contains(&format!("http://{address}/v1")), "{file}");
    let profile = std::fs::read_to_string(suite.home().join(".profile")).unwrap();

    model.push(Scenario::text("Noch einmal."));
    let said = suite.ctl(&setup).await.ended(0).stdout;
    assert!(line(&said, "model ").contains("ok"), "{said}");
    assert!(!said.contains(" done "), "{said}");
    assert_eq!(
        std::fs::read_to_string(suite.configuration()).unwrap(),
        file
    );
    assert_eq!(
        std::fs::read_to_string(suite.home().join(".profile")).unwrap(),
        profile
    );
}

#[tokio::test]
async fn setup_keeps_a_key_where_nobody_else_sees_it() {
    let model = Server::start().await.unwrap();
    let suite = bare()
        .variable("ANTHROPIC_BASE_URL", model.url())
        .start()
        .await;
    let nobody = nobody().await;
    let setup = ["setup", "--yes", "--key-stdin", "--ollama", &nobody];
    model.push(Scenario::text("With the key."));
    let said = suite
        .ctl_with_input(&setup, &format!("{KEY}\n"))
        .await
        .ended(0);
    assert!(line(&said.stdout, "model ").contains("done"), "{said}");
    assert!(said.stdout.contains("With the key."), "{said}");
    let path = suite.state().join("agents/main/auth/anthropic.json");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let sent = model.turns();
    assert_eq!(sent[0].header("x-api-key"), Some(KEY), "{sent:?}");
    for text in [&said.stdout, &said.stderr, &suite.log.lines().join("\n")] {
        assert!(!text.contains(KEY), "{text}");
    }
    model.push(Scenario::text("Again."));
    let again = suite.ctl_with_input(&setup, KEY).await.ended(0);
    assert!(line(&again.stdout, "model ").contains("ok"), "{again}");
}

#[tokio::test]
async fn setup_says_what_is_missing_and_what_is_wrong() {
    let model = Server::start().await.unwrap();
    let suite = bare().start().await;
    let nobody = nobody().await;
    let asked = suite.ctl(&["setup"]).await.ended(64);
    asked.complains(&["no terminal", "--yes"]);
    let variable = ["setup", "--yes", "--key-variable", "NO_SUCH_KEY"];
    suite
        .ctl(&variable)
        .await
        .ended(64)
        .complains(&["NO_SUCH_KEY"]);
    let whose = ["setup", "--yes", "--key-stdin"];
    let said = suite.ctl_with_input(&whose, "sk-proj-made-up").await;
    let said = said.ended(64).complains(&["--provider"]);
    assert!(!said.stderr.contains("made-up"), "{said}");
    // Without any model it answers all the same.
    let said = suite.ctl(&["setup", "--yes", "--ollama", &nobody]).await;
    let said = said.ended(0).says(&["Hello! ", "--key-stdin"]);
    assert!(line(&said.stdout, "model ").contains("skipped"), "{said}");
    let address = model.address().to_string();
    let lacking = ["setup", "--yes", "--ollama", &address, "--model", "big"];
    let said = suite.ctl(&lacking).await.ended(1);
    said.says(&["failed", "scripted:8b", "ollama pull big", "Hello! "]);
}

/// Answers what is asked about the machine, until models are offered.
async fn offered(terminal: &mut Terminal) -> String {
    terminal.see("[Y/n] ").await;
    // Where systemd is the machine's manager, lingering is asked about, too;
    // else the second one is no model.
    terminal.type_line("n\nn");
    terminal.see("or nothing: ").await
}

#[tokio::test]
async fn setup_asks_at_a_terminal() {
    let model = Server::start().await.unwrap();
    let suite = bare().start().await;
    let address = model.address().to_string();
    let mut terminal = suite.at_terminal(&["setup", "--ollama", &address]);
    let shown = offered(&mut terminal).await;
    for part in ["skipped", "1  scripted:8b", "Anthropic", "OpenAI"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    terminal.type_line("7");
    terminal.see("none of them").await;
    model.push(Scenario::text("At a terminal."));
    terminal.type_line("1");
    let (code, shown) = terminal.end().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("At a terminal."), "{shown}");
}

#[tokio::test]
async fn setup_shows_no_key_that_is_typed() {
    // The provider is not reached: nothing but the key is looked at.
    let suite = bare()
        .set("models.providers.anthropic.baseUrl", "https://127.0.0.1:9")
        .start()
        .await;
    let nobody = nobody().await;
    let mut terminal = suite.at_terminal(&["setup", "--ollama", &nobody]);
    let shown = offered(&mut terminal).await;
    assert!(shown.contains("1  a model of Anthropic's"), "{shown}");
    terminal.type_line("1");
    terminal.see("(it is not shown): ").await;
    terminal.type_line(KEY);
    let shown = terminal.see("anthropic.json").await;
    let more = terminal.see("openclawctl message").await;
    assert!(!shown.contains(KEY) && !more.contains(KEY), "{shown}{more}");
    let path = suite.state().join("agents/main/auth/anthropic.json");
    assert!(std::fs::read_to_string(path).unwrap().contains(KEY));
}

#[tokio::test]
async fn setup_without_a_suite_says_how_to_start_one() {
    let site = Setup::empty().variable("PATH", "/nonexistent").site();
    let said = site.ctl(&["setup", "--yes"]).await.ended(1);
    said.says(&["suite     failed", "openclawctl run", "message   failed"]);
}
