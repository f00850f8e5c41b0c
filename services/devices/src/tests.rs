use serde_json::Map;

use super::*;

fn devices() -> (tempfile::TempDir, Devices) {
    let dir = tempfile::tempdir().unwrap();
    let database = Database::at(dir.path().join("ledger.sqlite"));
    (dir, Devices::new(database))
}

fn wish(device: &str, scopes: &[&str]) -> DeviceRequest {
    DeviceRequest {
        device_id: device.to_owned(),
        public_key: "key".to_owned(),
        role: Role::Operator,
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        facts: Map::from_iter([("platform".to_owned(), Value::from("ios"))]),
    }
}

async fn scopes(devices: &Devices, token: &str) -> Option<Vec<String>> {
    devices.check("d", Role::Operator, token).await.unwrap()
}

#[tokio::test]
async fn token_is_good_for_its_device_until_it_is_rotated_or_revoked() {
    let (dir, devices) = devices();
    let first = devices.pair(wish("d", &["operator.read"])).await.unwrap();
    assert_eq!(first.token.len(), 43);
    assert_eq!(
        scopes(&devices, &first.token).await.unwrap(),
        ["operator.read"]
    );
    assert_eq!(scopes(&devices, "other").await, None);
    assert_eq!(
        devices
            .check("e", Role::Operator, &first.token)
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        devices.check("d", Role::Node, &first.token).await.unwrap(),
        None
    );
    let file = std::fs::read(dir.path().join("ledger.sqlite")).unwrap();
    let wal = std::fs::read(dir.path().join("ledger.sqlite-wal")).unwrap_or_default();
    for bytes in [file, wal] {
        let token = first.token.as_bytes();
        assert!(!bytes.windows(token.len()).any(|window| window == token));
    }

    let second = devices
        .rotate("d", "operator", None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(scopes(&devices, &first.token).await, None);
    assert!(scopes(&devices, &second.token).await.is_some());
    assert!(devices.rotate("d", "node", None).await.unwrap().is_none());
    let more = Some(vec!["operator.admin".to_owned()]);
    let third = devices
        .rotate("d", "operator", more)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(third.scopes, ["operator.read"], "rotating gave more rights");

    assert!(devices.revoke("d", "operator").await.unwrap().is_some());
    assert_eq!(scopes(&devices, &third.token).await, None);
    assert!(devices.remove("d").await.unwrap());
    assert!(!devices.remove("d").await.unwrap());
}

#[tokio::test]
async fn device_waits_until_somebody_decides() {
    let (_dir, devices) = devices();
    let pending = devices.wish(wish("d", &["operator.read"])).await.unwrap();
    let again = devices.wish(wish("d", &["operator.write"])).await.unwrap();
    assert_ne!(pending.request_id, again.request_id);
    let (waiting, paired) = devices.list().await.unwrap();
    assert_eq!((waiting.len(), paired.len()), (1, 0));
    assert_eq!(
        waiting[0].to_json()["scopes"],
        serde_json::json!(["operator.write"])
    );

    let device = devices.approve(again).await.unwrap().unwrap();
    assert_eq!(device.to_json()["roles"], serde_json::json!(["operator"]));
    assert_eq!(device.to_json()["platform"], "ios");
    let grants = devices.grants("d").await.unwrap();
    assert_eq!(grants[0].scopes, ["operator.write"]);
    assert!(devices.rename("d", "my phone").await.unwrap());
    let (waiting, paired) = devices.list().await.unwrap();
    assert!(waiting.is_empty());
    assert_eq!(paired[0].to_json()["displayName"], "my phone");

    let pending = devices.wish(wish("e", &[])).await.unwrap();
    devices.reject(pending.clone()).await.unwrap();
    assert!(
        devices
            .pending(&pending.request_id)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn request_gets_a_new_id_when_anything_in_it_changes() {
    let (_dir, devices) = devices();
    let first = wish("d", &["operator.read"]);
    let mut known = vec![devices.wish(first.clone()).await.unwrap()];
    let again = devices.wish(first.clone()).await.unwrap();
    assert_eq!(again.request_id, known[0].request_id);
    let fact = |name: &str| {
        let mut changed = first.clone();
        changed.facts.insert(name.to_owned(), Value::from("x"));
        changed
    };
    let changes = [
        wish("d", &["operator.admin"]),
        wish("d", &["operator.read", "operator.admin"]),
        DeviceRequest {
            public_key: "other".to_owned(),
            ..first.clone()
        },
        DeviceRequest {
            role: Role::Node,
            ..first.clone()
        },
        fact("displayName"),
        fact("platform"),
        fact("remoteIp"),
    ];
    for changed in changes {
        let pending = devices.wish(changed).await.unwrap();
        let is_new = known.iter().all(|it| it.request_id != pending.request_id);
        assert!(is_new, "{pending:?}");
        known.push(pending);
    }
    // Only what waits now can be approved: one request for each role.
    let (waiting, _) = devices.list().await.unwrap();
    assert_eq!(waiting.len(), 2);
    for old in known {
        let waits = waiting.iter().any(|it| it.request_id == old.request_id);
        let approved = devices.approve(old).await.unwrap();
        assert_eq!(approved.is_some(), waits);
    }
    let grants = devices.grants("d").await.unwrap();
    assert!(grants.iter().all(|grant| grant.scopes == ["operator.read"]));
}

#[tokio::test]
async fn devices_only_so_many_devices_wait() {
    let (_dir, devices) = devices();
    for n in 0..PENDING_LIMIT + 3 {
        devices.wish(wish(&format!("d{n}"), &[])).await.unwrap();
    }
    assert_eq!(devices.list().await.unwrap().0.len(), PENDING_LIMIT);
}
