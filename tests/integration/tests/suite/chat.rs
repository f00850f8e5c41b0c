//! `openclawctl chat` at a terminal, and replies as a terminal shows them.

use std::os::unix::fs::PermissionsExt as _;

use integration_tests::{Setup, Suite, Terminal, processes, transcript};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use unicode_width::UnicodeWidthChar;

const PROMPT: &str = "›";
/// What Ctrl-D types.
const END: &str = "\u{4}";
const REPLY: &str = "# Plan\n\nDig **deep**:\n\n1. bed\n2. beans\n\n```sh\necho \"dig\"\n```\n";

pub(crate) async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::anthropic(&model).start().await, model)
}

pub(crate) fn has(lines: &[String], text: &str) -> bool {
    lines.iter().any(|line| line.contains(text))
}

/// Whether a prompt without a text is the last thing.
pub(crate) fn waits(lines: &[String]) -> bool {
    let last = lines.iter().rev().find(|line| !line.trim().is_empty());
    last.is_some_and(|line| line.trim() == PROMPT)
}

pub(crate) async fn chat(suite: &Suite) -> Terminal {
    let mut terminal = suite.at_terminal(&["chat"]);
    terminal.screen(waits).await;
    terminal
}

#[tokio::test]
async fn chat_lays_out_replies_and_goes_on() {
    let (suite, model) = scene().await;
    let mut terminal = chat(&suite).await;
    model.push(Scenario::text(REPLY));
    terminal.type_keys("plan\r");
    let is_whole = |lines: &[String]| has(lines, "tokens in") && waits(lines);
    let lines = terminal.screen(is_whole).await;
    let from = lines.iter().position(|line| line == "Plan").unwrap();
    let shown: Vec<&str> = lines[from..from + 8].iter().map(String::as_str).collect();
    let expected = [
        "Plan",
        "",
        "Dig deep:",
        "",
        "1. bed",
        "2. beans",
        "",
        "  sh",
    ];
    assert_eq!(shown, expected);
    assert!(has(&lines, "  echo \"dig\""), "{lines:#?}");
    let seen = terminal.see("dig").await;
    assert!(seen.contains("\u{1b}[1;4;36mPlan"), "{seen:?}");

    model.push(Scenario::text("Once more."));
    terminal.type_keys("again\r");
    terminal
        .screen(|lines| has(lines, "Once more.") && waits(lines))
        .await;
    terminal.type_keys(END);
    let (code, _) = terminal.end().await;
    assert_eq!(code, Some(0));
    let history = suite.state().join("chat-history");
    let text = std::fs::read_to_string(&history).unwrap();
    assert!(text.contains("plan\nagain\n"), "{text:?}");
    let mode = history.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[tokio::test]
async fn chat_ends_the_turn_and_not_itself_when_interrupted() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    terminal.type_keys("[[scenario:held gate]] wait\r");
    terminal.screen(|lines| has(lines, " s · ")).await;
    terminal.interrupt();
    terminal
        .screen(|lines| has(lines, "cancelled") && waits(lines))
        .await;
    // At the prompt it is a key, and ends nothing.
    terminal.type_keys("half a line\u{3}");
    let is_left = |lines: &[String]| has(lines, "half a line") && waits(lines);
    terminal.screen(is_left).await;
    terminal.type_keys("[[scenario:text still here]]\r");
    terminal
        .screen(|lines| has(lines, "still here") && waits(lines))
        .await;
    terminal.type_keys("/quit\r");
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_shows_what_others_say_in_its_session() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    suite
        .say("[[scenario:text to somebody else]] from elsewhere")
        .await;
    let is_shown =
        |lines: &[String]| has(lines, "cli › ") && has(lines, "to somebody else") && waits(lines);
    terminal.screen(is_shown).await;
    // What is said here is not told again.
    terminal.type_keys("[[scenario:text mine]]\r");
    terminal
        .screen(|lines| has(lines, "mine") && waits(lines))
        .await;
    suite.say("[[scenario:text the last]] once more").await;
    let lines = terminal
        .screen(|lines| has(lines, "the last") && waits(lines))
        .await;
    let told = lines.iter().filter(|line| line.contains("cli › ")).count();
    assert_eq!(told, 2, "{lines:#?}");
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_goes_on_when_the_gateway_is_started_again() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    let gateway = suite.seen_program("openclaw-gateway").await;
    processes::send(gateway, Signal::SIGKILL);
    terminal.type_keys("[[scenario:text back again]]\r");
    terminal
        .screen(|lines| has(lines, "back again") && waits(lines))
        .await;
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_needs_a_terminal() {
    let (suite, _model) = scene().await;
    let said = suite.ctl(&["chat"]).await.ended(64);
    assert!(
        said.stderr.contains("a chat needs a terminal"),
        "{}",
        said.stderr
    );
}

#[tokio::test]
async fn chat_of_a_message_alone_is_laid_out_or_raw() {
    let (suite, model) = scene().await;
    model.push(Scenario::text(REPLY));
    let (code, seen) = suite.at_terminal(&["message", "plan"]).end().await;
    assert_eq!(code, Some(0));
    assert!(
        seen.contains("1;4;36mPlan") && !seen.contains("# Plan"),
        "{seen:?}"
    );
    model.push(Scenario::text(REPLY));
    let (_, seen) = suite.at_terminal(&["message", "--raw", "plan"]).end().await;
    assert!(
        seen.contains("# Plan") && seen.contains("**deep**"),
        "{seen:?}"
    );
    model.push(Scenario::text(REPLY));
    let said = suite.say("plan").await;
    assert_eq!(said.trim_end(), REPLY.trim_end());
}

/// The last thing that was said to the assistant.
fn said(suite: &Suite) -> String {
    let messages = suite.messages();
    let mut users = messages.iter().filter(|it| it["role"] == "user");
    transcript::text(users.next_back().unwrap())
}

/// What is at the path that a message says something is attached at.
fn attached(suite: &Suite, message: &str) -> Vec<u8> {
    let (_, rest) = message.rsplit_once("[media attached: ").unwrap();
    let (path, _) = rest.split_once(" (").unwrap();
    assert!(path.starts_with("media/inbound/"), "{path}");
    std::fs::read(suite.workspace().join(path)).unwrap()
}

#[tokio::test]
async fn chat_attaches_files_that_are_named_or_dragged_and_the_clipboards_picture() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nclipboard";
    let model = Server::start().await.unwrap();
    // One that is not hidden.
    let desktop = tempfile::Builder::new().prefix("desktop").tempdir();
    let desktop = desktop.unwrap();
    let place = |name: &str| desktop.path().join(name);
    std::fs::write(place("clip"), PNG).unwrap();
    let program = format!("#!/bin/sh\nexec cat '{}'\n", place("clip").display());
    std::fs::write(place("wl-paste"), program).unwrap();
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place("wl-paste"), all).unwrap();
    std::fs::write(place("my notes.txt"), "beans").unwrap();
    std::fs::write(place("bed.png"), "a bed").unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", desktop.path().display());
    let setup = Setup::anthropic(&model).variable("PATH", path);
    let suite = setup.start().await;
    let mut terminal = chat(&suite).await;

    // Tab completes it, with what a blank in it needs.
    terminal.type_keys(&format!("read @{}/my\t now", desktop.path().display()));
    terminal.type_keys("\r");
    let is_told = |lines: &[String]| has(lines, "attached my notes.txt (5 bytes)") && waits(lines);
    terminal.screen(is_told).await;
    let message = said(&suite);
    assert!(message.starts_with("read @"), "{message}");
    assert!(message.ends_with("(text/plain)]"), "{message}");
    assert_eq!(attached(&suite, &message), b"beans");

    terminal.paste(&format!("'{}'", place("bed.png").display()));
    terminal.type_keys(" what grows here?\r");
    let is_told = |lines: &[String]| has(lines, "attached bed.png") && waits(lines);
    terminal.screen(is_told).await;
    assert_eq!(attached(&suite, &said(&suite)), b"a bed");

    terminal.type_keys("/paste and here?\r");
    let is_told = |lines: &[String]| has(lines, "attached clipboard.png") && waits(lines);
    terminal.screen(is_told).await;
    let message = said(&suite);
    assert!(message.starts_with("and here?"), "{message}");
    assert_eq!(attached(&suite, &message), PNG);

    // Text that somebody else wrote may be pasted.
    std::fs::write(place(".key"), "secret").unwrap();
    terminal.type_keys(&format!("sum up @{}\r", place(".key").display()));
    let is_told = |lines: &[String]| has(lines, "because it is hidden") && waits(lines);
    terminal.screen(is_told).await;
    let message = said(&suite);
    assert!(message.starts_with("sum up @"), "{message}");
    assert!(!message.contains("media attached"), "{message}");

    // What cannot be attached is said, and nothing is sent.
    std::fs::write(place("empty"), "").unwrap();
    let before = suite.messages().len();
    terminal.type_keys(&format!("look @{}\r", place("empty").display()));
    terminal
        .screen(|lines| has(lines, "it is empty") && waits(lines))
        .await;
    assert_eq!(suite.messages().len(), before);
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_takes_pasted_lines_as_one_message() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    terminal.paste("first line\rsecond line\n\tthird \"line\"");
    terminal.screen(|lines| has(lines, "third \"line\"")).await;
    let runs = suite.gateway().list_turns(0).await.unwrap();
    assert_eq!(runs, [], "it was sent before Enter");
    terminal.type_keys("\r");
    terminal
        .screen(|lines| has(lines, "tokens in") && waits(lines))
        .await;
    let message = said(&suite);
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    assert_eq!(lines, ["first line", "second line", "third \"line\""]);
    assert_eq!(suite.messages().len(), 2);
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_follows_the_size_of_its_terminal() {
    const LONG: &str = "one two three four five six seven eight nine ten eleven twelve";
    let (suite, model) = scene().await;
    let mut terminal = chat(&suite).await;
    for columns in [30, 100, 12] {
        terminal.type_keys("half of a line");
        terminal
            .screen(|lines| has(lines, "half of") && !waits(lines))
            .await;
        terminal.resize(columns);
        model.push(Scenario::text(LONG));
        terminal.type_keys(" and the rest\r");
        let lines = terminal
            .screen(|lines| has(lines, "twelve") && waits(lines))
            .await;
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert!(widest <= Some(usize::from(columns)), "{lines:#?}");
        // No word is broken where one fits the line.
        for word in LONG.split(' ') {
            assert!(has(&lines, word), "{columns}: {word}: {lines:#?}");
        }
        assert!(said(&suite).contains("half of a line and the rest"));
        terminal.type_keys("\u{c}");
    }
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

/// What is final stays as it is, and what is not is laid out anew, each once.
#[tokio::test]
async fn chat_follows_the_size_of_its_terminal_while_a_reply_comes() {
    const FINAL: &str = "a paragraph that is long, that is final, and that stays as it was";
    const DRAFT: &str = "one two three four five six seven eight nine ten eleven twelve thirteen";
    let (suite, model) = scene().await;
    let mut terminal = chat(&suite).await;
    let begun = format!("# Plan\n\n{FINAL}\n\n{DRAFT}");
    let rest = "more ".repeat(begun.len());
    let reply = Scenario::held(format!("{begun}\n\n{rest}"), "gate");
    model.push(reply.chunk(begun.len()));
    terminal.type_keys("go\r");
    let is_once = |lines: &[String]| {
        let reply: Vec<&str> = lines.iter().map(String::as_str).collect();
        let Some(start) = reply.iter().position(|line| *line == "Plan") else {
            return false;
        };
        let (reply, said) = (reply[start..].join(" "), format!("{FINAL} {DRAFT}"));
        let of = |text: &str, word: &str| text.split_whitespace().filter(|it| *it == word).count();
        let mut words = said
            .split(' ')
            .map(|word| (of(&reply, word), of(&said, word)));
        of(&reply, "Plan") == 1 && words.all(|(shown, expected)| shown == expected)
    };
    let from = |lines: &[String]| lines.iter().position(|it| it.starts_with("one ")).unwrap();
    for columns in [60, 30, 100, 17, 60, 25] {
        terminal.resize(columns);
        let is_laid_out = |lines: &[String]| {
            let draft = lines.iter().skip_while(|it| !it.starts_with("one "));
            let draft: Vec<&String> = draft.take_while(|it| !it.contains(" s · ")).collect();
            let width = usize::from(columns);
            let fits = draft.iter().all(|it| it.chars().count() <= width);
            // The first word of a line would not have fitted the one before.
            let is_full = draft.windows(2).all(|pair| {
                let next = pair[1].split(' ').next().unwrap_or_default();
                pair[0].chars().count() + 1 + next.chars().count() > width
            });
            !draft.is_empty() && fits && is_full && is_once(lines)
        };
        terminal.written(is_laid_out).await;
    }
    model.release("gate");
    let is_done = |lines: &[String]| lines.iter().any(|it| it.contains("tokens in"));
    let lines = terminal.written(is_done).await;
    assert!(is_once(&lines), "{lines:#?}");
    let paragraph = lines[..from(&lines)].join(" ");
    assert!(paragraph.contains(FINAL), "{lines:#?}");
    terminal.screen(waits).await;
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn message_is_laid_out_without_colours_where_none_are_wanted() {
    let (suite, model) = scene().await;
    model.push(Scenario::text(
        "# Plan\n\nDig **deep**, [here](https://example.org/):\n\n```sh\necho \"dig\"\n```\n",
    ));
    let terminal = suite.at_terminal_within(80, &["message", "plan"], &[("NO_COLOR", "1")]);
    let (code, seen) = terminal.end().await;
    assert_eq!(code, Some(0), "{seen:?}");
    for laid_out in [
        "\u{1b}[1;4mPlan\u{1b}[0m",
        "\u{1b}[1mdeep\u{1b}[0m",
        "\u{1b}]8;;https://example.org/\u{1b}\\",
        "tokens in",
    ] {
        assert!(seen.contains(laid_out), "{laid_out:?}: {seen:?}");
    }
    assert!(!seen.contains("```"), "{seen:?}");
    let mut styles = seen.split("\u{1b}[").skip(1);
    let is_colour = |style: &str| {
        let codes = style.split_once('m').map_or("", |(codes, _)| codes);
        codes
            .split(';')
            .any(|code| code.starts_with('3') && code.len() == 2)
    };
    assert!(!styles.any(is_colour), "{seen:?}");
}

/// Terminals draw such pictures as one, or their parts beside each other.
#[tokio::test]
async fn message_with_joined_pictures_is_broken_by_no_terminal() {
    const LAST: &str = "Thanks for that 👍🏽 and we are all here 👩‍👩‍👧‍👦 with the people 👨‍💻 at work all day and more words";
    let (suite, model) = scene().await;
    let paragraphs = ["First.", "Second.", "Third.", "Fourth."];
    let reply = format!("{}\n\n{LAST} {LAST} {LAST}.\n", paragraphs.join("\n\n"));
    model.push(Scenario::text(&reply));
    let terminal = suite.at_terminal_within(80, &["message", "hello"], &[]);
    let (code, lines) = terminal.lines().await;
    assert_eq!(code, Some(0), "{lines:#?}");
    for paragraph in paragraphs {
        let times = lines.iter().filter(|it| *it == paragraph).count();
        assert_eq!(times, 1, "{paragraph} {lines:#?}");
    }
    // The terminal of the test draws every part, and lines that it broke are one here.
    for line in &lines {
        let drawn: usize = line.chars().filter_map(UnicodeWidthChar::width).sum();
        assert!(drawn <= 80, "{drawn}: {line}");
    }
    let text = lines.join(" ");
    assert_eq!(text.matches("👨‍💻 at work").count(), 3, "{lines:#?}");
}

#[tokio::test]
async fn chat_goes_line_by_line_on_a_terminal_that_only_prints() {
    let (suite, model) = scene().await;
    model.push(Scenario::text("Beans."));
    let mut terminal = suite.at_terminal_within(80, &["chat"], &[("TERM", "dumb")]);
    terminal.see(PROMPT).await;
    terminal.type_keys("what?\n");
    terminal.see("Beans.").await;
    terminal.see(PROMPT).await;
    terminal.type_keys(END);
    let (code, seen) = terminal.end().await;
    assert_eq!(code, Some(0), "{seen:?}");
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
}

#[tokio::test]
async fn message_attaches_files() {
    let (suite, _model) = scene().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bed.png");
    std::fs::write(&file, "a bed").unwrap();
    let file = file.to_str().unwrap();
    let both = ["message", "--image", file, "--file", file, "what is it?"];
    suite
        .ctl(&both)
        .await
        .ended(0)
        .complains(&["attached bed.png (5 bytes)"]);
    let message = said(&suite);
    assert!(message.starts_with("what is it?"), "{message}");
    assert_eq!(message.matches("(image/png)]").count(), 2, "{message}");
    assert_eq!(attached(&suite, &message), b"a bed");
    suite.ctl(&["message", "--file", file]).await.ended(0);
    assert!(said(&suite).starts_with("[media attached: "));

    let none = folder.path().join("none");
    let none = ["message", "--file", none.to_str().unwrap(), "hi"];
    suite.ctl(&none).await.ended(1).complains(&["no such file"]);
    // What fits into one message is taken, whatever it is called.
    const MOST: usize = openclaw_proto::gateway::ATTACHMENT_LIMIT;
    let odd = folder.path().join("a\u{202e}gnp\n\u{1b}[31m.txt");
    std::fs::write(&odd, vec![b'x'; MOST]).unwrap();
    let odd = odd.to_str().unwrap();
    let odd = ["message", "--file", odd, "hi"];
    let told = suite.ctl(&odd).await.ended(0).stderr.clone();
    assert!(!told.contains(['\u{202e}', '\u{1b}']), "{told:?}");
    let message = said(&suite);
    assert!(!message.contains(['\u{202e}', '\u{1b}']), "{message:?}");
    assert_eq!(message.lines().count(), 3, "{message:?}");
    assert_eq!(attached(&suite, &message).len(), MOST);
    std::fs::write(odd[2], vec![b'x'; MOST + 1]).unwrap();
    let refused = suite.ctl(&odd).await.ended(1);
    refused.complains(&["larger than the 12 MiB"]);
    // An agent's link leads nowhere, in neither direction.
    let own = suite.workspace().join("notes.txt");
    std::os::unix::fs::symlink(file, &own).unwrap();
    let own = ["message", "--file", own.to_str().unwrap(), "hi"];
    let refused = suite.ctl(&own).await.ended(1);
    refused.complains(&["symbolic link"]);
    let inbound = suite.workspace().join("media/inbound");
    std::fs::remove_dir_all(&inbound).unwrap();
    std::os::unix::fs::symlink(folder.path(), &inbound).unwrap();
    let refused = suite.ctl(&["message", "--file", file, "hi"]).await;
    refused.ended(1).complains(&["media"]);
    assert_eq!(folder.path().read_dir().unwrap().count(), 2);
}

#[tokio::test]
async fn message_for_a_session_that_is_nearly_there_says_which() {
    let (suite, _model) = scene().await;
    let create = ["sessions", "create", "garden"];
    suite.ctl(&create).await.ended(0);
    let misspelt = ["message", "--session", "gadren", "hi"];
    let said = suite.ctl(&misspelt).await.ended(0);
    let note = "note: there was \"garden\", but no session \"gadren\"; agent:main:gadren begins with \
                this message";
    assert!(said.stderr.contains(note), "{said}");
    assert!(!said.stderr.contains("did you mean"), "{said}");
    let show = ["sessions", "show", "agent:main:gardne"];
    let hint = "did you mean \"agent:main:garden\"?";
    let said = suite.ctl(&show).await.ended(1);
    assert_eq!(said.stderr.matches(hint).count(), 1, "{said}");
}

#[tokio::test]
async fn names_that_are_nearly_there_are_asked_about() {
    let (suite, _model) = scene().await;
    let job = ["cron", "add", "--command", "true", "--every", "1d"];
    let job = [&job[..], &["--name", "backup"]].concat();
    suite.ctl(&job).await.ended(0);
    std::fs::create_dir_all(suite.workspace()).unwrap();
    std::fs::write(suite.workspace().join("MEMORY.md"), "Beans.").unwrap();
    let cases: [(&[&str], i32, &str); 14] = [
        (&["memory", "get", "MEMRY.md"], 64, "MEMORY.md"),
        (
            &["sessions", "create", "work", "--set", "labl=x"],
            64,
            "label",
        ),
        (&["message", "--agent", "mian", "hi"], 1, "main"),
        (&["memory", "status", "--agent", "mian"], 1, "main"),
        (&["memory", "search", "x", "--agent", "mian"], 1, "main"),
        (&["sessions", "--agent", "mian"], 64, "main"),
        (&["sessions", "find", "x", "--agent", "mian"], 64, "main"),
        (&["events", "--agent", "mian"], 1, "main"),
        (&["auth", "list", "--agent", "mian"], 1, "main"),
        (&["cron", "show", "bakcup"], 1, "backup"),
        (&["channels", "test", "telegarm"], 64, "telegram"),
        (&["pairing", "approve", "telegarm", "X"], 64, "telegram"),
        (&["send", "--to", "telegarm:1", "hi"], 1, "telegram"),
        (&["models", "test", "antropic/x"], 1, "anthropic/x"),
    ];
    for (words, code, near) in cases {
        let said = suite.ctl(words).await.ended(code);
        let hint = format!("hint: did you mean {near:?}?");
        assert_eq!(said.stderr.matches(&hint).count(), 1, "{said}");
    }
}

#[tokio::test]
async fn chat_sends_no_word_that_is_nearly_a_command() {
    let (suite, model) = scene().await;
    let mut terminal = chat(&suite).await;
    terminal.type_keys("/sesion\r");
    let is_told = |lines: &[String]| has(lines, "did you mean /session?") && waits(lines);
    terminal.screen(is_told).await;
    assert!(model.requests().is_empty());
    terminal.type_keys("/garden [[scenario:text Green.]]\r");
    terminal
        .screen(|lines| has(lines, "Green.") && waits(lines))
        .await;
    terminal.type_keys("/quit\r");
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn names_are_completed_as_they_are_known() {
    let (suite, _model) = scene().await;
    let create = ["sessions", "create", "work", "--label", "Ada's trip"];
    suite.ctl(&create).await.ended(0);
    let complete = async |words: &[&str]| {
        let words = [&["complete", "fish", "--"], words].concat();
        let said = suite.ctl(&words).await.ok();
        let words = said.lines().filter_map(|line| line.split('\t').next());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let shown = suite.ctl(&["sessions", "show", "work", "--json"]).await;
    let id = shown.ended(0).document()["session"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (begun, name) in [
        ("agent:main:w", "agent:main:work"),
        ("w", "work"),
        ("Ada", "Ada's trip"),
        (&id[..8], &id[..]),
    ] {
        let found = complete(&["message", "--session", begun]).await;
        assert_eq!(found, [name], "{begun}");
    }
    assert_eq!(complete(&["sessions", "show", "wo"]).await, ["work"]);
    let models = complete(&["models", "test", ""]).await;
    assert!(
        models.iter().any(|it| it.starts_with("anthropic/")),
        "{models:?}"
    );
}
