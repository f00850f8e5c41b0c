//! A disk without room, and one that takes nothing: a small tmpfs. Mounting
//! one needs root; without it there is nothing to be tested here.

use std::path::{Path, PathBuf};

use openclaw_proto::call::RefusalCode;
use openclaw_proto::sessions::{Change, Named, Query};

use crate::suite::{Suite, soon, text_of};

/// Room for a ledger and some messages.
const SIZE: &str = "size=2m";

struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", SIZE, "tmpfs"], folder.path());
        if !mounted {
            test_skip::skipped("the gateway on a full disk: mount is not allowed here");
        }
        mounted.then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all the room but for `left` bytes.
    fn fill(&self, left: usize) -> PathBuf {
        let filler = self.path().join("filler");
        let mut bytes = vec![0; 4 * 1024 * 1024];
        while std::fs::write(&filler, &bytes).is_err() {
            bytes.truncate(bytes.len() - 4096);
        }
        bytes.truncate(bytes.len().saturating_sub(left));
        std::fs::write(&filler, &bytes).unwrap();
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        umount(self.0.path());
    }
}

#[expect(clippy::disallowed_methods, reason = "mount(8) is no agent process")]
fn mount(arguments: &[&str], folder: &Path) -> bool {
    let status = std::process::Command::new("mount")
        .args(arguments)
        .arg(folder)
        .status();
    status.is_ok_and(|status| status.success())
}

#[expect(clippy::disallowed_methods, reason = "umount(8) is no agent process")]
fn umount(folder: &Path) {
    let _ = std::process::Command::new("umount")
        .arg("-l")
        .arg(folder)
        .status();
}

fn main() -> Named<'static> {
    Named {
        session: "main",
        agent_id: "",
    }
}

fn label(text: &str) -> Vec<Change> {
    vec![Change {
        name: "label".to_owned(),
        value: text.to_owned(),
    }]
}

#[tokio::test]
async fn full_disk_refuses_and_harms_nothing() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let mut suite = Suite::in_folder(disk.path()).await;
    let first = suite.exchange("before", "fine").await;
    soon(suite.sessions.patch(main(), label("old")))
        .await
        .unwrap();
    let transcript = suite
        .paths()
        .sessions("main")
        .join(format!("{}.jsonl", first.session_id));
    let before = std::fs::read(&transcript).unwrap();
    let filler = disk.fill(0);

    let long = "x".repeat(200_000);
    let Err(refused) = suite.send(text_of(&long)).await else {
        panic!("accepted without room");
    };
    assert_eq!(
        refused.code(),
        Some(RefusalCode::ResourceExhausted),
        "{refused}"
    );
    let path = disk.path().to_str().unwrap();
    assert!(
        refused.to_string().contains(path) && refused.to_string().contains("make room there"),
        "{refused}"
    );
    let refused = soon(suite.sessions.patch(main(), label("new")))
        .await
        .unwrap_err();
    assert_eq!(
        refused.code(),
        Some(RefusalCode::ResourceExhausted),
        "{refused}"
    );
    let (session, _) = soon(suite.sessions.get(main())).await.unwrap();
    assert_eq!((session.label.as_str(), session.message_count), ("old", 2));
    assert_eq!(suite.index()["agent:main:main"]["label"], "old");
    assert!(std::fs::read(&transcript).unwrap().starts_with(&before));

    // It would fit into what the transcript has on the disk already; its answer would not.
    let before = std::fs::read(&transcript).unwrap();
    let Err(refused) = suite.send(text_of("a short one")).await else {
        panic!("accepted without room");
    };
    assert!(refused.to_string().contains("make room there"), "{refused}");
    assert_eq!(
        std::fs::read(&transcript).unwrap(),
        before,
        "nothing is left"
    );

    std::fs::remove_file(filler).unwrap();
    suite.exchange("after", "fine again").await;
    suite.stop().await;
    let suite = suite.again().await;
    let listed = soon(suite.sessions.list(Query::default())).await.unwrap();
    assert_eq!(listed.sessions[0].message_count, 4);
    for line in std::fs::read_to_string(&transcript).unwrap().lines() {
        let _: serde_json::Value = serde_json::from_str(line).unwrap();
    }
}

#[tokio::test]
async fn disk_that_may_not_be_written_refuses_by_its_path() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let suite = Suite::in_folder(disk.path()).await;
    suite.exchange("before", "fine").await;
    let sessions = suite.paths().sessions("main");
    // A file in the place of the folder, because root may write everywhere.
    let aside = sessions.with_extension("aside");
    std::fs::rename(&sessions, &aside).unwrap();
    std::fs::write(&sessions, "").unwrap();
    let refused = soon(suite.sessions.create(
        Named {
            session: "work",
            agent_id: "",
        },
        vec![],
        "",
    ));
    let refused = refused.await.unwrap_err();
    assert!(
        refused.to_string().contains(sessions.to_str().unwrap()),
        "{refused}"
    );
    std::fs::remove_file(&sessions).unwrap();
    std::fs::rename(&aside, &sessions).unwrap();
    suite.exchange("after", "fine").await;
    let listed = soon(suite.sessions.list(Query::default())).await.unwrap();
    assert_eq!(listed.total, 1);
}
