use std::fs;

use super::*;

fn update(key: &str) -> Update {
    Update {
        key: key.to_owned(),
        raw: format!("{{\"update_id\": {key}}}"),
    }
}

fn keys(entries: Vec<Entry>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.update.key).collect()
}

fn files(folder: &Path) -> usize {
    batch::list(folder).unwrap().len()
}

#[test]
fn spool_has_what_came_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::open(folder.path()).unwrap();
    spool
        .append(vec![update("1"), update("2")], Some("3".into()))
        .unwrap();
    spool.append(vec![update("3")], Some("4".into())).unwrap();
    spool.done(&["1".into()]);
    spool.clean().unwrap();
    drop(spool);

    let spool = Spool::open(folder.path()).unwrap();
    assert_eq!(spool.position().as_deref(), Some("4"));
    assert_eq!(keys(spool.recovered()), ["1", "2", "3"]);
    spool.done(&["1".into(), "2".into(), "3".into()]);
    spool.clean().unwrap();
    assert_eq!((spool.backlog(), files(folder.path())), (0, 0));
    drop(spool);
    let spool = Spool::open(folder.path()).unwrap();
    assert_eq!(spool.position().as_deref(), Some("4"));
}

#[test]
fn spool_keeps_the_last_position_whichever_batch_goes_last() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::open(folder.path()).unwrap();
    for key in ["900", "7"] {
        // Lower than before: numbers begin anew after a week of silence.
        spool
            .append(vec![update(key)], Some(format!("{key}+")))
            .unwrap();
    }
    spool.done(&["7".into()]);
    spool.clean().unwrap();
    spool.done(&["900".into()]);
    spool.clean().unwrap();
    drop(spool);
    let spool = Spool::open(folder.path()).unwrap();
    assert_eq!(spool.position().as_deref(), Some("7+"));
}

#[test]
fn spool_survives_a_batch_cut_off_at_any_byte() {
    let folder = tempfile::tempdir().unwrap();
    let whole = batch::write(&[update("1"), update("2")], Some("3"));
    for length in 0..whole.len() {
        let path = batch::path(folder.path(), 5);
        fs::write(&path, &whole[..length]).unwrap();
        let spool = Spool::open(folder.path()).unwrap();
        let found = keys(spool.recovered());
        assert!(["1", "2"].starts_with(&found.iter().map(String::as_str).collect::<Vec<_>>()));
        // The provider gives them again.
        let again = vec![update("1"), update("2")];
        spool.append(again, Some("3".into())).unwrap();
        assert_eq!(spool.backlog(), 2, "{length}");
        spool.done(&["1".into(), "2".into()]);
        spool.clean().unwrap();
        assert_eq!(files(folder.path()), 0, "{length}");
        fs::remove_file(folder.path().join(POSITION)).unwrap();
    }
}

#[tokio::test]
async fn spool_lets_no_more_in_than_it_may_hold() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::open(folder.path()).unwrap();
    let many = (0..BACKLOG_LIMIT).map(|key| update(&key.to_string()));
    spool.append(many.collect(), None).unwrap();
    let full = tokio::time::timeout(std::time::Duration::from_millis(20), spool.room());
    assert!(full.await.is_err());
    spool.done(&["0".into()]);
    spool.clean().unwrap();
    spool.room().await;
}

#[test]
fn merged_is_known_again_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("merged");
    let merged = Merged::open(&path, 1).unwrap();
    merged.record(&["1".into(), "2".into()], 1).unwrap();
    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"{\"at\":"))
        .unwrap();
    merged.record(&["3".into(), "4".into()], 2).unwrap();
    let again = Merged::open(&path, 3).unwrap();
    for (key, first) in [("1", "1"), ("2", "1"), ("4", "3")] {
        assert_eq!(&*again.group(key).unwrap()[0], first);
    }
    assert!(
        Merged::open(&path, merged::KEPT_MS + 2)
            .unwrap()
            .group("4")
            .is_none()
    );
}

#[test]
fn merged_forgets_the_oldest_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("merged");
    let merged = Merged::open(&path, 0).unwrap();
    let pair = |number: i64| [format!("{number}"), format!("{number}b")];
    merged.record(&pair(1), 1).unwrap();
    merged.record(&pair(2), merged::KEPT_MS + 2).unwrap();
    assert!(merged.group("1").is_none() && merged.group("2b").is_some());
    // What the gateway did not take is no more, and its file does not grow with it.
    for number in 3..4003 {
        merged.record(&pair(number), merged::KEPT_MS + 3).unwrap();
        merged.forget(&format!("{number}"));
    }
    assert!(merged.group("4002b").is_none() && merged.group("2").is_some());
    let lines = fs::read_to_string(&path).unwrap().lines().count();
    assert!(lines < 1100, "{lines}");
    let again = Merged::open(&path, merged::KEPT_MS + 4).unwrap();
    assert!(again.group("2b").is_some());
    // A flood of messages is known no longer than there is room for.
    let mut flood = String::new();
    for number in 0..merged::KEYS_LIMIT {
        flood += &format!("{{\"at\":9,\"keys\":[\"{number}\",\"{number}b\"]}}\n");
    }
    fs::write(&path, flood).unwrap();
    let merged = Merged::open(&path, 10).unwrap();
    merged.record(&["x".into(), "y".into()], 10).unwrap();
    assert!(merged.group("0").is_none() && merged.group("y").is_some());
    let lines = fs::read_to_string(&path).unwrap().lines().count();
    assert!(lines <= merged::KEYS_LIMIT / 2 + 1, "{lines}");
}
