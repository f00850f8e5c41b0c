//! Which commands and calls wait for somebody, and why.

use openclaw_tools::approval::safe::SafeBins;
use openclaw_tools::approval::{Ask, Form, Grant, Rules, Verdict, effect, shown};
use openclaw_tools::catalog::{self, Profile};
use serde_json::{Map, Value, json};

fn rules(ask: Ask) -> Rules {
    Rules {
        ask,
        allowlist: vec!["make *".to_owned(), "memory_*".to_owned()],
        granted: Vec::new(),
        safe_bins: SafeBins::default(),
        only_listed: false,
        refuses: false,
        open_network: false,
    }
}

fn grant(command: &Value) -> Grant {
    Grant::of_command(command, &Map::new(), "/here".to_owned())
}

/// Why somebody is asked; empty: it runs.
fn reason(rules: &Rules, command: Value, plain: bool) -> String {
    match rules.judge(&command, &grant(&command), plain) {
        Verdict::Run => String::new(),
        Verdict::Ask(why) | Verdict::Refuse(why) => why,
    }
}

#[test]
fn names_are_those_of_the_configuration_and_of_messages() {
    for (ask, name) in [
        (Ask::Off, "off"),
        (Ask::OnMiss, "on-miss"),
        (Ask::Always, "always"),
    ] {
        assert_eq!((ask.name(), Ask::parse(name)), (name, Some(ask)));
        assert_eq!(json!(ask), name);
    }
    for (form, name) in [
        (Form::Line, "line"),
        (Form::Words, "words"),
        (Form::Call, "call"),
    ] {
        assert_eq!((form.name(), Form::parse(name)), (name, Some(form)));
        assert_eq!(json!(form), name);
    }
    let profiles = [
        (Profile::Minimal, "minimal"),
        (Profile::Coding, "coding"),
        (Profile::Messaging, "messaging"),
        (Profile::Full, "full"),
    ];
    for (profile, name) in profiles {
        assert_eq!(
            (profile.name(), Profile::parse(name)),
            (name, Some(profile))
        );
    }
    assert_eq!(
        (Ask::parse("Off"), Form::parse(""), Profile::parse("all")),
        (None, None, None)
    );
}

#[test]
fn command_that_waits_says_why() {
    let on_miss = rules(Ask::OnMiss);
    for (command, why) in [
        (json!("ls -la"), ""),
        (json!("make all"), ""),
        (json!(["make", "all"]), ""),
        (
            json!("rm a"),
            "\"rm\" is not among the commands that only read",
        ),
        (json!("ls; rm a"), "\"rm\" is not among"),
        (
            json!("sort -o a b"),
            "sort with \"-o\" may do more than read",
        ),
        (json!("find . -delete"), "find with \"-delete\" may do more"),
        (json!("ls > a"), "it has '>', with which a shell does more"),
        (json!("while a"), "it has the shell's word \"while\""),
        (json!("A=1 ls"), "it sets the variable in \"A=1\""),
        (json!("ls 'a"), "a quotation mark is not closed"),
        (json!("ls &&"), "a command is missing"),
        (json!(["cat", "a\nb"]), "it has '\\n'"),
        (json!(["cat", 1]), "it is no command"),
        (json!([]), "a command is missing"),
        (json!(7), "it is no command"),
    ] {
        let reason = reason(&on_miss, command.clone(), true);
        assert_eq!(reason.is_empty(), why.is_empty(), "{command}: {reason}");
        assert!(reason.contains(why), "{command}: {reason}");
    }
    let changed = reason(&on_miss, json!("ls"), false);
    assert!(changed.contains("changes the environment"), "{changed}");
    let always = reason(&rules(Ask::Always), json!("ls"), true);
    assert!(always.contains("every command is asked about"), "{always}");
    assert_eq!(reason(&rules(Ask::Off), json!("rm a"), false), "");
    let strict = Rules {
        only_listed: true,
        ..on_miss
    };
    let unlisted = reason(&strict, json!("ls -la"), true);
    assert!(
        unlisted.starts_with("\"ls\", as it is called"),
        "{unlisted}"
    );
}

#[test]
fn approval_what_nobody_is_asked_about_is_refused_where_only_what_is_listed_runs() {
    let refusing = Rules {
        only_listed: true,
        refuses: true,
        ..rules(Ask::OnMiss)
    };
    let judge = |command: Value| refusing.judge(&command, &grant(&command), true);
    assert_eq!(judge(json!("make all")), Verdict::Run);
    for command in ["ls", "rm a", "make all; rm a"] {
        let judged = judge(json!(command));
        assert!(
            matches!(judged, Verdict::Refuse(_)),
            "{command}: {judged:?}"
        );
    }
    let call = grant(&json!("x"));
    let concern = || Some("it leaves the workspace".to_owned());
    let judged = refusing.judge_call("write_file", &call, concern());
    assert_eq!(
        judged,
        Verdict::Refuse("it leaves the workspace".to_owned())
    );
    let judged = refusing.judge_call("memory_write", &call, concern());
    assert_eq!(judged, Verdict::Run);
}

#[test]
fn call_waits_for_its_concern_alone() {
    let call = Grant {
        form: Form::Call,
        command: "write_file {}".to_owned(),
        directory: "/here".to_owned(),
    };
    let granted = Rules {
        granted: vec![call.clone()],
        ..rules(Ask::OnMiss)
    };
    let always = Rules {
        ask: Ask::Always,
        ..granted.clone()
    };
    let concern = || Some("it leaves the workspace".to_owned());
    for (rules, tool, concern, runs) in [
        (&rules(Ask::OnMiss), "write_file", concern(), false),
        (&rules(Ask::OnMiss), "write_file", None, true),
        (&rules(Ask::OnMiss), "memory_write", concern(), true),
        (&granted, "write_file", concern(), true),
        (&always, "write_file", concern(), false),
        (&always, "memory_write", concern(), false),
        (&always, "write_file", None, true),
        (&rules(Ask::Off), "write_file", concern(), true),
    ] {
        let expected = if runs {
            Verdict::Run
        } else {
            Verdict::Ask("it leaves the workspace".to_owned())
        };
        let judged = rules.judge_call(tool, &call, concern);
        assert_eq!(judged, expected, "{tool} {:?}", rules.ask);
    }
}

#[test]
fn grant_is_of_the_command_as_it_is_shown() {
    let line = grant(&json!("make 'a b'"));
    assert_eq!(
        (line.form, line.command.as_str()),
        (Form::Line, "make 'a b'")
    );
    let words = grant(&json!(["make", "a b"]));
    assert_eq!(
        (words.form, words.command.as_str()),
        (Form::Words, "make 'a b'")
    );
    assert_eq!(words.directory, "/here");
    assert_eq!(shown(&json!([])), "");
    assert_eq!(shown(&json!({ "a": 1 })), r#"{"a":1}"#);
    assert_eq!(shown(&json!(["%1"])), "%1 (a program, without a shell)");
    assert_eq!(
        shown(&json!(["make", "-j=1:2,3+4@5%6/._"])),
        "make -j=1:2,3+4@5%6/._"
    );
    assert_eq!(shown(&json!(["make", "ä", "a*"])), "make 'ä' 'a*'");
    assert_eq!(shown(&json!(["make", 7])), "make 7");
}

#[test]
fn profiles_have_their_groups() {
    let groups = [
        "fs", "runtime", "memory", "sessions", "agents", "web", "plugins",
    ];
    for (profile, expected) in [
        (Profile::Minimal, &["sessions"][..]),
        (Profile::Messaging, &["memory", "sessions"]),
        (
            Profile::Coding,
            &["fs", "runtime", "memory", "sessions", "agents"],
        ),
        (Profile::Full, &groups),
    ] {
        let has = groups.into_iter().filter(|group| profile.has(group));
        assert_eq!(has.collect::<Vec<_>>(), expected, "{}", profile.name());
    }
}

#[test]
fn tools_are_known_by_the_names_of_every_agent() {
    for name in ["exec", "bash", "Bash", "execute_shell"] {
        assert!(
            catalog::is_command(name) && catalog::is_known(name),
            "{name}"
        );
    }
    for name in ["read", "Read", "status", "process"] {
        assert!(
            !catalog::is_command(name) && catalog::is_known(name),
            "{name}"
        );
    }
    for (name, group) in [
        ("WebFetch", "web"),
        ("Task", "sessions"),
        ("web_search", "web"),
    ] {
        assert!(catalog::is_known(name) && !catalog::is_command(name));
        assert_eq!(catalog::foreign_group(name), Some(group));
    }
    assert!(!catalog::is_known("rm") && !catalog::is_command("rm"));
    assert_eq!(catalog::foreign_group("read"), None);
}

#[test]
fn tools_that_fetch_or_change_files_are_known_by_every_name() {
    for (tool, does_fetch, does_write) in [
        ("WebFetch", true, false),
        ("WebSearch", false, false),
        ("web_search", false, false),
        ("write_file", false, true),
        ("write", false, true),
        ("Write", false, true),
        ("NotebookEdit", false, true),
        ("edit", false, true),
        ("MultiEdit", false, true),
        ("apply_patch", false, true),
        ("read_file", false, false),
        ("exec", false, false),
        ("files__write", false, false),
    ] {
        let found = (effect::fetches(tool), effect::writes(tool));
        assert_eq!(found, (does_fetch, does_write), "{tool}");
    }
}
