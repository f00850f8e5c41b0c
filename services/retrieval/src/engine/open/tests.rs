use super::*;

#[test]
fn index_of_a_later_version_is_made_anew_and_told() {
    let folder = tempfile::tempdir().unwrap();
    drop(Engine::open(folder.path(), Options::default()).unwrap());
    let database = rusqlite::Connection::open(folder.path().join(FILE)).unwrap();
    database.pragma_update(None, "user_version", 9_999).unwrap();
    drop(database);
    let (engine, opened) = Engine::open(folder.path(), Options::default()).unwrap();
    let Opened::Rebuilt { reason } = opened else {
        panic!("{opened:?}");
    };
    assert!(reason.contains("9999"), "{reason}");
    assert_eq!(engine.count(), (0, 0));
    drop(engine);
    let (_, opened) = Engine::open(folder.path(), Options::default()).unwrap();
    assert_eq!(opened, Opened::Kept);
}
