use openclaw_handoff::decisions::{Decided, Refused, decide};
use openclaw_handoff::spool::{self, Header, Reader};
use openclaw_tools::approval::Ask;
use serde_json::{Value, json};

use super::*;

struct Scene {
    approvals: Arc<Approvals>,
    reader: Reader,
    _folder: tempfile::TempDir,
}

fn scene(patience: Duration) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let header = Header {
        run_id: "r".to_owned(),
        agent_id: "main".to_owned(),
        pid: 1,
        unit: String::new(),
        memory_max: 0,
        own_limits: Vec::new(),
    };
    let path = spool::path(folder.path(), "r");
    let spool = Spool::create(&path, &header).unwrap();
    spool.begin().unwrap();
    let decisions = spool::decisions(folder.path(), "r");
    let rules = Rules {
        ask: Ask::OnMiss,
        allowlist: Vec::new(),
        granted: Vec::new(),
        safe_bins: openclaw_tools::approval::safe::SafeBins::default(),
        only_listed: false,
        refuses: false,
        open_network: false,
    };
    let ground = TurnPaths {
        workspace: folder.path().to_owned(),
        ..TurnPaths::default()
    };
    let end = Instant::now() + Duration::from_secs(600);
    let approvals = Approvals::new(
        (rules, ground, terms()),
        patience,
        end,
        Arc::new(spool),
        decisions.clone(),
        Arc::new(Activity::new(false)),
    );
    Scene {
        approvals: Arc::new(approvals),
        reader: Reader::open(&path).unwrap(),
        _folder: folder,
    }
}

fn terms() -> Terms {
    Terms {
        level: "off".to_owned(),
        ..Terms::default()
    }
}

async fn ask(approvals: &Approvals, command: &str) -> Result<(), String> {
    let arguments = json!({"command": command});
    approvals
        .ask(Question {
            call_id: "c",
            tool: "execute_shell",
            arguments: &arguments,
            only_reads: false,
            reach: String::new(),
        })
        .await
}

async fn requested(reader: &mut Reader) -> ApprovalRequested {
    loop {
        for event in reader.news().unwrap() {
            if let Kind::ApprovalRequested(request) = event.kind {
                return *request;
            }
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn approvals_what_only_reads_asks_nobody_and_the_rest_waits() {
    let mut scene = scene(Duration::from_secs(60));
    assert!(ask(&scene.approvals, "ls -l").await.is_ok());
    assert!(scene.reader.news().unwrap().is_empty());
    for (decision, runs) in [
        (Decision::Deny, false),
        (Decision::AllowOnce, true),
        (Decision::AllowAlways, true),
    ] {
        let approvals = Arc::clone(&scene.approvals);
        let asking = tokio::spawn(async move { ask(&approvals, "rm a").await });
        let request = requested(&mut scene.reader).await;
        assert_eq!(request.command, "rm a");
        let decided = Decided {
            id: request.id,
            decision,
            by: "test".to_owned(),
            key: String::new(),
        };
        decide(scene.approvals.decisions.path(), &decided).unwrap();
        assert!(matches!(
            decide(scene.approvals.decisions.path(), &decided),
            Err(Refused::Decided)
        ));
        assert_eq!(asking.await.unwrap().is_ok(), runs, "{decision}");
    }
    assert!(
        ask(&scene.approvals, "rm a").await.is_ok(),
        "allowed always"
    );
}

#[tokio::test]
async fn call_allowed_for_good_is_asked_about_when_its_server_reaches_something_else() {
    let mut scene = scene(Duration::from_secs(60));
    fn question<'a>(arguments: &'a serde_json::Value, reach: &str) -> Question<'a> {
        Question {
            call_id: "",
            tool: "notes__send",
            arguments,
            only_reads: false,
            reach: reach.to_owned(),
        }
    }
    let arguments = json!({"text": "a\nserver notes: network full"});
    let (asked, approvals) = (arguments.clone(), Arc::clone(&scene.approvals));
    let asking = tokio::spawn(async move {
        let question = question(&asked, "server notes: network none");
        approvals.ask(question).await
    });
    let request = requested(&mut scene.reader).await;
    let last = request.command.lines().last();
    assert_eq!(last, Some("server notes: network none"), "{request:?}");
    assert_eq!(request.command.lines().count(), 2, "{request:?}");
    allow_for_good(&scene.approvals, request.id);
    assert_eq!(asking.await.unwrap(), Ok(()));
    let judged = |reach: &str| scene.approvals.judge(&question(&arguments, reach));
    let none = judged("server notes: network none");
    assert!(matches!(none, Judged::Settled(Ok(()))), "{none:?}");
    for reach in [
        "server notes: network full",
        "server notes: network none; reads /home",
        "",
    ] {
        let judged = judged(reach);
        assert!(matches!(judged, Judged::Open(_)), "{reach}: {judged:?}");
    }
}

#[tokio::test]
async fn approvals_what_is_refused_asks_nobody() {
    let mut scene = scene(Duration::from_secs(60));
    {
        let approvals = Arc::get_mut(&mut scene.approvals).unwrap();
        let rules = approvals.rules.get_mut().unwrap();
        (rules.only_listed, rules.refuses) = (true, true);
        rules.allowlist.push("make *".to_owned());
    }
    assert!(ask(&scene.approvals, "make all").await.is_ok());
    let why = ask(&scene.approvals, "ls -l").await.unwrap_err();
    assert!(why.contains("neither in tools.exec.allowlist"), "{why}");
    assert!(why.contains("nobody is asked"), "{why}");
    let arguments = json!({"command": "rm a"});
    let question = Question {
        call_id: "c",
        tool: "execute_shell",
        arguments: &arguments,
        only_reads: false,
        reach: String::new(),
    };
    let because = scene
        .approvals
        .ask_because(question, "it says so".to_owned());
    let why = because.await.unwrap_err();
    assert!(why.contains("it says so"), "{why}");
    assert!(scene.reader.news().unwrap().is_empty());
}

#[tokio::test]
async fn approvals_nobody_answers_and_that_is_a_no() {
    let mut scene = scene(Duration::from_millis(20));
    let why = ask(&scene.approvals, "rm a").await.unwrap_err();
    assert!(why.contains("nobody allowed it"), "{why}");
    let events = scene.reader.news().unwrap();
    let last = &events.last().unwrap().kind;
    assert!(
        matches!(last, Kind::ApprovalResolved(resolved) if resolved.decision.is_none()),
        "{last:?}"
    );
}

/// What comes of a call of `tool`, when that is settled at once.
fn settled(approvals: &Approvals, tool: &str, arguments: &Value) -> Option<Result<(), String>> {
    let question = Question {
        call_id: "c",
        tool,
        arguments,
        only_reads: false,
        reach: String::new(),
    };
    match approvals.judge(&question) {
        Judged::Settled(settled) => Some(settled),
        Judged::Open(_) => None,
    }
}

#[tokio::test]
async fn approvals_more_than_a_few_questions_are_refused_at_once() {
    let mut scene = scene(Duration::from_secs(60));
    let asking: Vec<_> = (0..OPEN)
        .map(|number| {
            let approvals = Arc::clone(&scene.approvals);
            tokio::spawn(async move { ask(&approvals, &format!("rm {number}")).await })
        })
        .collect();
    let first = requested(&mut scene.reader).await;
    let why = ask(&scene.approvals, "rm x").await.unwrap_err();
    assert!(
        why.contains("8 questions of this turn wait already"),
        "{why}"
    );
    let decided = Decided {
        id: first.id,
        decision: Decision::AllowOnce,
        by: "test".to_owned(),
        key: String::new(),
    };
    decide(scene.approvals.decisions.path(), &decided).unwrap();
    while asking.iter().all(|asking| !asking.is_finished()) {
        tokio::task::yield_now().await;
    }
    let next = settled(&scene.approvals, "exec", &json!({"command": "rm x"}));
    assert_eq!(next, None, "a place is free again");
}

#[tokio::test]
async fn file_tools_are_judged_by_what_they_reach() {
    let scene = scene(Duration::from_secs(60));
    let inside = json!({"path": "a", "content": ""});
    let outside = json!({"path": "/etc/a", "content": ""});
    for tool in ["write", "write_file", "Write"] {
        assert_eq!(settled(&scene.approvals, tool, &inside), Some(Ok(())));
        assert_eq!(settled(&scene.approvals, tool, &outside), None);
    }
    assert_eq!(settled(&scene.approvals, "Read", &outside), Some(Ok(())));
    let fetch = json!({"url": "https://example.org/?secret"});
    assert_eq!(settled(&scene.approvals, "WebFetch", &fetch), Some(Ok(())));
    scene.approvals.rules.lock().unwrap().open_network = true;
    assert_eq!(settled(&scene.approvals, "WebFetch", &fetch), None);
    scene.approvals.rules.lock().unwrap().ask = Ask::Off;
    assert_eq!(settled(&scene.approvals, "write", &outside), Some(Ok(())));
}

fn allow_for_good(approvals: &Approvals, id: String) {
    let decided = Decided {
        id,
        decision: Decision::AllowAlways,
        by: "test".to_owned(),
        key: String::new(),
    };
    decide(approvals.decisions.path(), &decided).unwrap();
}

#[tokio::test]
async fn approvals_what_is_too_long_to_read_cannot_be_allowed_for_good() {
    let mut scene = scene(Duration::from_secs(60));
    let command = format!("echo > a # {}\nrm -rf x", "a".repeat(2 * SHOWN_BYTES));
    let approvals = Arc::clone(&scene.approvals);
    let asked = command.clone();
    let asking = tokio::spawn(async move { ask(&approvals, &asked).await });
    let request = requested(&mut scene.reader).await;
    assert_eq!(request.form, "");
    assert!(request.command.contains(" bytes left out …]"));
    assert!(request.command.ends_with("\nrm -rf x"));
    allow_for_good(&scene.approvals, request.id);
    assert_eq!(asking.await.unwrap(), Ok(()));
    let again = settled(&scene.approvals, "exec", &json!({"command": command}));
    assert_eq!(again, None);
}

#[tokio::test]
async fn approvals_where_a_command_runs_is_shown_within_bounds() {
    let mut scene = scene(Duration::from_secs(60));
    let in_folder = |bytes: usize| json!({"command": "rm a", "workdir": "a".repeat(bytes)});
    let refused = settled(&scene.approvals, "exec", &in_folder(1_000_000));
    assert!(refused.unwrap().unwrap_err().contains("working directory"));
    let approvals = Arc::clone(&scene.approvals);
    let asking = tokio::spawn(async move {
        approvals
            .ask(Question {
                call_id: &"c".repeat(1_000_000),
                tool: "exec",
                arguments: &in_folder(2 * WORDS_BYTES),
                only_reads: false,
                reach: String::new(),
            })
            .await
    });
    let request = requested(&mut scene.reader).await;
    assert!(
        request.cwd.contains(" bytes left out …]"),
        "{}",
        request.cwd
    );
    assert!(request.cwd.len() < 2 * WORDS_BYTES && request.call_id.len() < 2 * WORDS_BYTES);
    assert_eq!(request.form, "", "nobody has read where it runs");
    allow_for_good(&scene.approvals, request.id);
    assert_eq!(asking.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn command_allowed_for_good_is_asked_about_in_another_folder() {
    let mut scene = scene(Duration::from_secs(60));
    let approvals = Arc::clone(&scene.approvals);
    let asking = tokio::spawn(async move { ask(&approvals, "rm a").await });
    let request = requested(&mut scene.reader).await;
    let root = scene._folder.path().canonicalize().unwrap();
    assert_eq!(request.cwd, root.to_str().unwrap());
    assert_eq!(
        (request.form.as_str(), request.only_once.as_str()),
        ("line", "")
    );
    assert_eq!(request.terms, Some(terms()));
    allow_for_good(&scene.approvals, request.id);
    assert_eq!(asking.await.unwrap(), Ok(()));
    let in_folder = |folder: &str| json!({"command": "rm a", "workdir": folder});
    for folder in [".", "", "new/..", root.to_str().unwrap()] {
        let again = settled(&scene.approvals, "exec", &in_folder(folder));
        assert_eq!(again, Some(Ok(())), "{folder}");
    }
    assert_eq!(settled(&scene.approvals, "exec", &in_folder("/")), None);
    let words = json!({"command": ["rm", "a"]});
    assert_eq!(settled(&scene.approvals, "exec", &words), None);
}

/// Asks about `line`, and allows it for good after `meanwhile` with the folder that it runs
/// in; the question, and what came of it.
async fn allowed_after(
    line: &'static str,
    meanwhile: impl FnOnce(&std::path::Path),
) -> (ApprovalRequested, Result<(), String>, Scene) {
    let mut scene = scene(Duration::from_secs(60));
    let folder = scene._folder.path().to_owned();
    std::fs::write(folder.join("build.sh"), "echo harmless").unwrap();
    let approvals = Arc::clone(&scene.approvals);
    let asking = tokio::spawn(async move { ask(&approvals, line).await });
    let request = requested(&mut scene.reader).await;
    meanwhile(&folder);
    allow_for_good(&scene.approvals, request.id.clone());
    let outcome = asking.await.unwrap();
    (request, outcome, scene)
}

#[tokio::test]
async fn approvals_what_is_settled_by_files_too_is_allowed_this_time_only() {
    for line in ["sh build.sh", "make", "touch \"$HOME/a\""] {
        let (request, outcome, scene) = allowed_after(line, |_| ()).await;
        assert_eq!(request.form, "", "{line}");
        assert!(!request.only_once.is_empty(), "{line}");
        assert_eq!(outcome, Ok(()), "{line}");
        let again = settled(&scene.approvals, "exec", &json!({"command": line}));
        assert_eq!(again, None, "{line}");
    }
}

#[tokio::test]
async fn script_that_changed_while_it_was_asked_about_does_not_run() {
    let rewrite = |folder: &std::path::Path| {
        std::fs::write(folder.join("build.sh"), "echo hostile!").unwrap();
    };
    let (_, outcome, _scene) = allowed_after("sh build.sh", rewrite).await;
    let why = outcome.unwrap_err();
    assert!(
        why.contains("build.sh") && why.contains("was not run"),
        "{why}"
    );
    // Of what is not obeyed only the words count.
    let (_, outcome, _scene) = allowed_after("rm build.sh", rewrite).await;
    assert_eq!(outcome, Ok(()));
}

/// Asks about a call of `tool` in a workspace with the folder `sub`, in whose place a link is
/// put that leads out before it is allowed; what came of it.
async fn allowed_after_a_link(tool: &'static str, arguments: Value) -> Result<(), String> {
    let mut scene = scene(Duration::from_secs(60));
    let folder = scene._folder.path().to_owned();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::os::unix::fs::symlink("/etc", folder.join("link")).unwrap();
    let approvals = Arc::clone(&scene.approvals);
    let asking = tokio::spawn(async move {
        approvals
            .ask(Question {
                call_id: "c",
                tool,
                arguments: &arguments,
                only_reads: false,
                reach: String::new(),
            })
            .await
    });
    let request = requested(&mut scene.reader).await;
    std::fs::remove_dir(folder.join("sub")).unwrap();
    std::fs::remove_file(folder.join("link")).unwrap();
    for name in ["sub", "link"] {
        std::os::unix::fs::symlink(elsewhere.path(), folder.join(name)).unwrap();
    }
    allow_for_good(&scene.approvals, request.id);
    let outcome = asking.await.unwrap();
    let granted = scene.approvals.rules.lock().unwrap().granted.len();
    assert_eq!(granted, 0, "granted where it does not lead any more");
    outcome
}

#[tokio::test]
async fn call_that_leads_elsewhere_by_now_does_not_run() {
    for (tool, arguments) in [
        ("exec", json!({"command": "rm a", "workdir": "sub"})),
        ("exec", json!({"command": ["rm", "a"], "workdir": "sub"})),
        ("exec", json!({"command": "rm sub/a"})),
        ("exec", json!({"command": "make", "workdir": "sub"})),
        ("exec", json!({"command": "rm link/a"})),
        ("write_file", json!({"path": "link/a", "content": ""})),
        ("Write", json!({"file_path": "link/a", "content": ""})),
    ] {
        let shown = arguments.to_string();
        let why = allowed_after_a_link(tool, arguments).await.unwrap_err();
        assert!(why.contains("is not what it was"), "{shown}: {why}");
    }
}

/// Where a path through a process leads is another place whenever that process likes.
#[tokio::test]
async fn write_of_which_it_cannot_be_told_where_is_allowed_this_time_only() {
    let mut scene = scene(Duration::from_secs(60));
    let arguments = json!({"path": "/proc/self/cwd/a", "content": ""});
    let (asked, approvals) = (arguments.clone(), Arc::clone(&scene.approvals));
    let asking = tokio::spawn(async move {
        approvals
            .ask(Question {
                call_id: "c",
                tool: "write_file",
                arguments: &asked,
                only_reads: false,
                reach: String::new(),
            })
            .await
    });
    let request = requested(&mut scene.reader).await;
    assert_eq!(request.form, "", "{request:?}");
    assert!(request.only_once.contains("cannot be told"), "{request:?}");
    allow_for_good(&scene.approvals, request.id);
    assert_eq!(asking.await.unwrap(), Ok(()));
    assert_eq!(settled(&scene.approvals, "write_file", &arguments), None);
    // Nor does a grant hold of before.
    let grant = Grant {
        form: openclaw_tools::approval::Form::Call,
        command: request.command,
        directory: request.cwd,
    };
    scene.approvals.rules.lock().unwrap().granted.push(grant);
    assert_eq!(settled(&scene.approvals, "write_file", &arguments), None);
}
