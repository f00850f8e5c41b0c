//! Transcripts that have to do with a project, of all agents.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use openclaw_sessions::discovery::{Findings, Matched, Project, Range, Scope, find, locate};

/// Folders of agents, each with transcripts.
struct Agents(tempfile::TempDir);

impl Agents {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, agent: &str, id: &str) -> PathBuf {
        let sessions = self.0.path().join(agent).join("sessions");
        fs::create_dir_all(&sessions).unwrap();
        sessions.join(format!("{id}.jsonl"))
    }

    /// A transcript of these lines, changed `age` seconds after the first.
    fn keep(&self, agent: &str, id: &str, lines: &[String], age: u64) -> PathBuf {
        let path = self.path(agent, id);
        fs::write(&path, lines.concat()).unwrap();
        let at = UNIX_EPOCH + Duration::from_secs(1_700_000_000 + age);
        File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(at)
            .unwrap();
        path
    }

    fn scope(&self) -> Scope {
        Scope {
            agents: self.0.path().to_owned(),
            limit: 100,
            ..Scope::default()
        }
    }

    fn find(&self, project: &str, scope: &Scope) -> Findings {
        let project = Project::named(project).unwrap();
        find(Some(&project), &Range::default(), scope).unwrap()
    }
}

fn header(id: &str, cwd: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\
         \"timestamp\":\"2026-01-01T00:00:01Z\",\"cwd\":\"{cwd}\"}}\n"
    )
}

fn said(role: &str, text: &str, at_ms: i64) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"m\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"message\":\
         {{\"role\":\"{role}\",\"content\":\"{text}\",\"timestamp\":{at_ms}}}}}\n"
    )
}

fn user(text: &str) -> String {
    said("user", text, 1)
}

fn ids(findings: &Findings) -> Vec<&str> {
    let found = findings.found.iter();
    found.map(|digest| digest.session_id.as_str()).collect()
}

#[test]
fn folder_counts_where_it_says_something_else_the_first_words() {
    let agents = Agents::new();
    let words = user("about eastore");
    agents.keep("main", "folder", &[header("folder", "/code/eastore")], 1);
    // A folder that says something else is not overruled by words.
    let other = [header("other", "/code/westwing"), words.clone()];
    agents.keep("main", "other", &other, 2);
    let own = [header("own", "/work"), words.clone()];
    agents.keep("main", "own", &own, 3);
    let none = [header("none", "  "), words.clone()];
    agents.keep("main", "none", &none, 4);
    let answer = [header("answer", ""), said("assistant", "eastore", 1)];
    agents.keep("main", "answer", &answer, 5);
    let headless = agents.keep("main", "headless", &["rubbish\n".to_owned(), words], 6);
    agents.keep("main", "empty", &[], 7);
    let scope = Scope {
        workspaces: vec![PathBuf::from("/work")],
        ..agents.scope()
    };
    let findings = agents.find("eastore", &scope);
    assert_eq!(findings.searched, 7);
    assert!(findings.problems.is_empty(), "{:?}", findings.problems);
    // The folder is the best, the rest is the latest first.
    assert_eq!(ids(&findings), ["folder", "headless", "none", "own"]);
    let matched: Vec<Matched> = findings.found.iter().map(|it| it.matched).collect();
    assert_eq!(matched[0], Matched::Cwd);
    assert!(matched[1..].iter().all(|it| *it == Matched::Message));
    assert_eq!(findings.found[1].path, headless);
}

#[test]
fn five_messages_and_two_hundred_lines_are_looked_at() {
    let agents = Agents::new();
    let after = |count: usize, line: &str| -> Vec<String> {
        let mut lines = vec![header("x", "")];
        lines.extend(std::iter::repeat_n(line.to_owned(), count));
        lines.push(user("eastore"));
        lines
    };
    let marker = "{\"type\":\"custom\",\"id\":\"c\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n";
    agents.keep("main", "fifth", &after(4, &user("hi")), 4);
    agents.keep("main", "sixth", &after(5, &user("hi")), 3);
    agents.keep("main", "near", &after(198, marker), 2);
    agents.keep("main", "far", &after(199, marker), 1);
    let findings = agents.find("eastore", &agents.scope());
    let found = findings.found.iter();
    let names: Vec<&str> = found
        .map(|it| it.path.file_stem().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(names, ["fifth", "near"]);
}

#[test]
fn agents_limits_and_other_files_are_kept_to() {
    let agents = Agents::new();
    for (agent, id, age) in [("main", "a", 1), ("work", "b", 3), ("work", "c", 2)] {
        agents.keep(agent, id, &[header(id, "/code/eastore")], age);
    }
    for name in ["d.trajectory", ".e"] {
        agents.keep("main", name, &[header(name, "/code/eastore")], 9);
    }
    fs::write(agents.0.path().join("main/sessions/sessions.json"), "{}").unwrap();
    fs::create_dir(agents.0.path().join("no-sessions")).unwrap();
    let all = agents.find("eastore", &agents.scope());
    assert_eq!(ids(&all), ["b", "c", "a"]);
    assert_eq!(all.searched, 3);
    assert_eq!(all.found[0].agent, "work");
    let two = Scope {
        limit: 2,
        ..agents.scope()
    };
    assert_eq!(ids(&agents.find("eastore", &two)), ["b", "c"]);
    let main = Scope {
        agent: Some("main".to_owned()),
        ..agents.scope()
    };
    assert_eq!(ids(&agents.find("eastore", &main)), ["a"]);
    let nobody = Scope {
        agent: Some("nobody".to_owned()),
        ..agents.scope()
    };
    let nobody = agents.find("eastore", &nobody);
    assert!(nobody.found.is_empty() && nobody.problems.is_empty());
    let nowhere = Scope {
        agents: agents.0.path().join("nowhere"),
        ..agents.scope()
    };
    assert_eq!(agents.find("eastore", &nowhere).searched, 0);
}

#[test]
fn discovery_what_cannot_be_read_is_named_and_passed_over() {
    let agents = Agents::new();
    agents.keep("main", "good", &[header("good", "/code/eastore")], 1);
    fs::create_dir(agents.path("main", "folder")).unwrap();
    fs::create_dir_all(agents.0.path().join("odd")).unwrap();
    fs::write(agents.0.path().join("odd/sessions"), "").unwrap();
    let findings = agents.find("eastore", &agents.scope());
    assert_eq!(ids(&findings), ["good"]);
    let problems: Vec<String> = findings.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("folder.jsonl"), "{problems:?}");
    let odd = Scope {
        agent: Some("odd".to_owned()),
        ..agents.scope()
    };
    let problems = agents.find("eastore", &odd).problems;
    assert!(
        problems[0].to_string().contains("odd/sessions"),
        "{problems:?}"
    );
}

#[test]
fn discovery_without_a_project_the_time_alone_counts() {
    let agents = Agents::new();
    for (id, at_ms) in [("early", 1_000), ("late", 9_000)] {
        let lines = [header(id, "/code/eastore"), said("assistant", "hi", at_ms)];
        agents.keep("main", id, &lines, 1);
    }
    let range = Range {
        since_ms: Some(5_000),
        until_ms: None,
    };
    let findings = find(None, &range, &agents.scope()).unwrap();
    assert_eq!(ids(&findings), ["late"]);
    assert_eq!(findings.found[0].matched, Matched::Time);
    let project = Project::named("eastore").unwrap();
    let both = find(Some(&project), &range, &agents.scope()).unwrap();
    assert_eq!(ids(&both), ["late"]);
    assert_eq!(both.found[0].matched, Matched::Cwd);
    let all = find(None, &Range::default(), &agents.scope()).unwrap();
    assert_eq!(all.found.len(), 2);
}

#[test]
fn digest_has_the_first_words_and_the_last_three() {
    let agents = Agents::new();
    let long = "ü".repeat(301);
    let lines = [
        header("id-of-header", "/code/eastore"),
        said("assistant", "not the user", 1),
        user("  "),
        user(&format!("  {long}")),
        user("two"),
        user("three"),
        "rubbish\n".to_owned(),
        said("assistant", "an answer", 1),
        user("four"),
    ];
    let path = agents.keep("main", "name", &lines, 77);
    let findings = agents.find("eastore", &agents.scope());
    let [digest] = findings.found.as_slice() else {
        panic!("{findings:?}");
    };
    assert_eq!(digest.session_id, "id-of-header");
    assert_eq!(digest.path, path);
    assert_eq!(digest.agent, "main");
    assert_eq!(digest.cwd, "/code/eastore");
    assert_eq!(digest.started_ms, Some(1_767_225_601_000));
    assert_eq!(digest.modified_ms, 1_700_000_077_000);
    assert_eq!(digest.lines, 9);
    let first = digest.first_user_message.as_deref();
    assert_eq!(first, Some("ü".repeat(300).as_str()));
    assert_eq!(digest.last_user_messages, ["two", "three", "four"]);
}

#[test]
fn transcript_is_located_by_its_id_and_by_nothing_else() {
    let agents = Agents::new();
    let path = agents.keep("work", "id", &[header("id", "/")], 1);
    agents.keep("main", "other", &[header("other", "/")], 1);
    let in_agents = |id: &str| locate(agents.0.path(), id).unwrap();
    assert_eq!(in_agents("id"), Some(("work".to_owned(), path)));
    for id in ["", "missing", "../sessions/id", ".id", "id.trajectory"] {
        assert_eq!(in_agents(id), None, "{id}");
    }
    let outside = Path::new("/nonexistent");
    assert_eq!(locate(outside, "id").unwrap(), None);
}
