//! What `openclawctl` shows on terminals of different widths: nothing is broken by the terminal, nothing
//! that matters is lost, and what is no terminal has all of it.

use integration_tests::{Setup, Suite};
use scripted_model::{Scenario, Server};
use unicode_width::UnicodeWidthStr as _;

const WIDTHS: [u16; 4] = [20, 40, 80, 200];
/// What is shown in lines of our own, each with words that are there at any width.
const SCREENS: [(&[&str], &[&str]); 10] = [
    (&["status"], &["openclaw:", "gateway", "sandbox"]),
    (&["status", "--verbose"], &["gateway", "sandbox"]),
    (&["doctor"], &["daemons:", "gateway"]),
    (&["security", "audit", "--verbose"], &["checks"]),
    (&["sessions"], &["agent:main:"]),
    (&["turns"], &["done"]),
    (&["agents"], &["main(default)", "anthropic/claude-sonnet-5"]),
    (&["models", "list"], &["anthropic/"]),
    (&["auth", "list"], &["anthropic:default"]),
    (&["version"], &["gateway"]),
];

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    for session in [
        "main",
        "日本語のとても長い名前のセッション",
        "e\u{301}tude-🦞",
    ] {
        model.push(Scenario::text("Fine."));
        let sent = suite.ctl(&["message", "--session", session, "hello"]).await;
        assert_eq!(sent.code, 0, "{sent:?}");
    }
    let key = ["auth", "add", "anthropic", "--key-stdin"];
    let added = suite.ctl_with_input(&key, "sk-ant-of-a-test").await;
    assert_eq!(added.code, 0, "{added:?}");
    (suite, model)
}

#[tokio::test]
async fn screens_fit_terminals_of_any_width() {
    let (suite, _model) = scene().await;
    for (arguments, words) in SCREENS {
        for width in WIDTHS {
            let terminal = suite.at_terminal_within(width, arguments, &[]);
            let (_, lines) = terminal.lines().await;
            let text = lines.join("\n");
            for line in &lines {
                let taken = line.width();
                assert!(
                    taken <= width.into(),
                    "{arguments:?}: {taken} of {width}: {line}\n{text}"
                );
            }
            // Words that were broken are whole without the breaks.
            let flat: String = text.split_whitespace().collect();
            for word in words {
                assert!(
                    flat.contains(word),
                    "{arguments:?} at {width}: no {word}\n{text}"
                );
            }
        }
    }
}

#[tokio::test]
async fn screens_lose_nothing_where_there_is_no_terminal() {
    let (suite, _model) = scene().await;
    let listed = suite.ctl(&["sessions"]).await;
    let long = "日本語のとても長い名前のセッション";
    assert!(listed.stdout.contains(long), "{listed:?}");
    let listed = suite.ctl(&["turns"]).await;
    let head = listed.stdout.lines().next().unwrap();
    for name in [
        "STARTED", "RUN", "SESSION", "CPU", "MEMORY", "TASKS", "TOKENS", "COST", "REASON",
    ] {
        assert!(head.contains(name), "{head}");
    }
    assert!(!listed.stdout.contains('…'), "{listed:?}");
}

#[tokio::test]
async fn screens_have_colours_where_they_are_wanted() {
    let (suite, _model) = scene().await;
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "")] {
        for arguments in [&["status"][..], &["doctor"], &["security", "audit"]] {
            let terminal = suite.at_terminal_within(80, arguments, &[(variable, value)]);
            let (_, seen) = terminal.end().await;
            assert!(
                !seen.contains('\u{1b}'),
                "{variable}={value} {arguments:?}: {seen:?}"
            );
        }
    }
    for arguments in [&["status"][..], &["doctor"], &["security", "audit"]] {
        let terminal = suite.at_terminal_within(80, arguments, &[]);
        let (_, seen) = terminal.end().await;
        assert!(seen.contains("\u{1b}["), "{arguments:?}: {seen:?}");
    }
}

#[tokio::test]
async fn screens_are_there_without_a_pager_that_cannot_show_them() {
    let (suite, _model) = scene().await;
    for pager in ["nosuchpager", "false"] {
        let terminal = suite.at_terminal_within(80, &["turns"], &[("OPENCLAW_PAGER", pager)]);
        let (code, seen) = terminal.end().await;
        assert_eq!(code, Some(0), "{seen}");
        assert!(seen.contains("done"), "{pager}: {seen}");
    }
    // What was shown once is not shown again, also by one that fails afterwards.
    for pager in ["cat; false", "sed p; exit 127"] {
        let terminal = suite.at_terminal_within(80, &["turns"], &[("OPENCLAW_PAGER", pager)]);
        let (code, seen) = terminal.end().await;
        assert_eq!(code, Some(0), "{seen}");
        let times = if pager.starts_with("cat") { 1 } else { 2 };
        assert_eq!(seen.matches("RUN").count(), times, "{pager}: {seen}");
    }
    let terminal = suite.at_terminal_within(80, &["turns"], &[("OPENCLAW_PAGER", "sed s/^/P/")]);
    let (_, seen) = terminal.end().await;
    assert!(seen.lines().all(|line| line.starts_with('P')), "{seen}");
}

#[tokio::test]
async fn screen_that_is_watched_ends_without_a_trace_of_ctrl_c() {
    let (suite, _model) = scene().await;
    let mut terminal = suite.at_terminal_within(80, &["status", "--watch"], &[]);
    terminal.see("gateway").await;
    // It is nobody's controlling terminal here, so the key sends no signal by itself.
    terminal.type_keys("\u{3}");
    terminal.interrupt();
    let (code, seen) = terminal.end().await;
    assert_eq!(code, Some(130), "{seen}");
    assert!(!seen.contains("^C") && !seen.contains('\u{3}'), "{seen:?}");
}
