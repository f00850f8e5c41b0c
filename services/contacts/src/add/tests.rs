use openclaw_proto::channel_admin::PairedPeer;

use super::*;

fn named(account: &str) -> Named {
    let account = AccountName {
        channel: "telegram".to_owned(),
        account: account.to_owned(),
    };
    Named::of(&account, false)
}

fn configured(document: &Value, account: &str) -> Value {
    configured_with(document, account, &[])
}

fn configured_with(document: &Value, account: &str, variables: &[(&str, &str)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let place = [("OPENCLAW_STATE_DIR", folder.path().to_str().unwrap())];
    let environment: Environment = place.iter().chain(variables).copied().collect();
    let paths = Paths::resolve(&environment).unwrap();
    fs::write(&paths.configuration, document.to_string()).unwrap();
    let token = Path::new("/t");
    named(account)
        .configure(token, &paths, &environment)
        .unwrap();
    File::open(&paths).unwrap().document().unwrap()
}

#[test]
fn next_step_names_the_owner_where_there_is_one() {
    let peer = |name: &str, is_owner: bool| PairedPeer {
        account: AccountName {
            channel: "telegram".to_owned(),
            account: "default".to_owned(),
        },
        peer: "7".to_owned(),
        name: name.to_owned(),
        is_owner,
        ..PairedPeer::default()
    };
    let of = |peers: Vec<PairedPeer>| {
        next_step(Some(&Pairings {
            peers,
            ..Pairings::default()
        }))
    };
    let first = "Whoever is approved first is the owner";
    assert!(of(Vec::new()).ends_with(first));
    assert!(of(vec![peer("Bob", false)]).ends_with(first));
    let owned = of(vec![peer("Bob", false), peer("Ada", true)]);
    assert!(owned.ends_with("The owner is Ada (telegram 7)"), "{owned}");
    assert!(next_step(None).ends_with("is the owner, where there is none"));
}

#[test]
fn account_that_comes_leaves_the_one_that_was_there() {
    let first = configured(&json!({}), "default");
    let own = json!({"enabled": true, "tokenFile": "/t"});
    assert_eq!(first["channels"]["telegram"], own);
    let both = configured(&first, "work");
    let accounts = &both["channels"]["telegram"]["accounts"];
    assert_eq!(accounts, &json!({ "default": {}, "work": own }));
    let mut begun = first.clone();
    begun["channels"]["telegram"]["accounts"] = json!({"work": {"name": "Work"}});
    let begun = configured(&begun, "work");
    let accounts = &begun["channels"]["telegram"]["accounts"];
    assert_eq!(accounts["default"], json!({}), "{accounts}");
    // Another token of the default one is its own now.
    let again = configured(&both, "default");
    let accounts = &again["channels"]["telegram"]["accounts"];
    assert_eq!(accounts, &json!({ "default": own, "work": own }));
}

#[test]
fn account_that_comes_switches_no_other_one_on() {
    let off = json!({"channels": {"telegram": {"enabled": false, "tokenFile": "/d"}}});
    let telegram = &configured(&off, "work")["channels"]["telegram"];
    assert_eq!(telegram["enabled"], true, "{telegram}");
    let expected = json!({"default": {"enabled": false},
        "work": {"enabled": true, "tokenFile": "/t"}});
    assert_eq!(telegram["accounts"], expected);
}

#[test]
fn account_that_comes_leaves_the_one_whose_token_a_variable_has() {
    let before = json!({"channels": {"telegram": {"allowFrom": [7]}}});
    let variables = [("TELEGRAM_BOT_TOKEN", "7:a")];
    let both = configured_with(&before, "work", &variables);
    let accounts = &both["channels"]["telegram"]["accounts"];
    assert_eq!(accounts["default"], json!({}), "{accounts}");
    assert_eq!(accounts["work"]["tokenFile"], "/t");
    // Of a channel that was not there the variable makes no account.
    let alone = configured_with(&json!({}), "work", &variables);
    let accounts = &alone["channels"]["telegram"]["accounts"];
    assert_eq!(accounts.get("default"), None, "{accounts}");
}

#[test]
fn account_that_comes_leaves_the_default_one_what_it_was() {
    let work = json!({"channels": {"telegram": {"accounts": {"work": {"tokenFile": "/w"}}}}});
    let both = configured(&work, "home");
    let telegram = &both["channels"]["telegram"];
    assert_eq!(telegram["defaultAccount"], "work", "{telegram}");
    assert_eq!(telegram["accounts"]["home"]["tokenFile"], "/t");
    // Named as such: it is the one that is there, and no second one.
    let again = configured(&both, "default");
    let accounts = &again["channels"]["telegram"]["accounts"];
    assert_eq!(accounts["work"]["tokenFile"], "/t", "{accounts}");
    assert_eq!(accounts.as_object().unwrap().len(), 2, "{accounts}");
}

#[test]
fn default_account_that_goes_leaves_its_place_to_another() {
    let gone = |telegram: Value, account: &str| {
        let folder = tempfile::tempdir().unwrap();
        let place = [("OPENCLAW_STATE_DIR", folder.path().to_str().unwrap())];
        let environment: Environment = place.into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let document = json!({"channels": {"telegram": telegram}});
        fs::write(&paths.configuration, document.to_string()).unwrap();
        let mut file = File::open(&paths).unwrap();
        let named = named(account).resolved(&document);
        let next = named.take_away(&mut file).unwrap();
        save(&mut file, &environment).unwrap();
        (
            next,
            file.document().unwrap()["channels"]["telegram"].clone(),
        )
    };
    let token = || json!({"tokenFile": "/t"});
    let both = json!({"defaultAccount": "work",
        "accounts": {"home": token(), "work": token()}});
    let (next, left) = gone(both.clone(), "work");
    assert_eq!(next.as_deref(), Some("home"));
    assert_eq!(left, json!({"accounts": {"home": token()}}));
    let (next, left) = gone(both, "home");
    assert_eq!((next, &left["defaultAccount"]), (None, &json!("work")));
    let usual = json!({"accounts": {"default": token(), "work": token()}});
    assert_eq!(gone(usual, "default").0.as_deref(), Some("work"));
    let (next, left) = gone(json!({"accounts": {"work": token()}}), "work");
    assert_eq!((next, left), (None, Value::Null));
}

#[test]
fn bot_is_one_account() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("own.token"), "7:secret\n").unwrap();
    let document = json!({"channels": {"telegram": {"botToken": "8:x", "accounts": {
        "default": {}, "work": {"tokenFile": at("own.token")}, "late": {"botToken": "9:y"},
        "gone": {"tokenFile": at("none.token")},
    }}}});
    let place = [("OPENCLAW_STATE_DIR", folder.path().to_str().unwrap())];
    let environment: Environment = place.into_iter().collect();
    let paths = Paths::resolve(&environment).unwrap();
    fs::write(&paths.configuration, document.to_string()).unwrap();
    let refused = |account: &str, token: &str| {
        let checked = named(account).is_no_other(token, &paths, &environment);
        checked.err().map(|failure| failure.text())
    };
    for (account, token, other) in [
        ("new", "7:another secret", Some("telegram:work")),
        ("new", "8:z", Some("telegram is already")),
        ("new", "9:z", Some("telegram:late")),
        ("default", "7:z", Some("telegram:work")),
        ("work", "7:z", None),
        ("default", "8:z", None),
        ("new", "10:z", None),
        ("new", "no token", None),
    ] {
        let why = refused(account, token);
        let says = |other: &str| why.as_ref().is_some_and(|why| why.contains(other));
        match other {
            Some(other) => assert!(says(other), "{account} {token}: {why:?}"),
            None => assert_eq!(why, None, "{account} {token}"),
        }
    }
}

#[test]
fn account_that_goes_takes_no_other_with_it() {
    let gone = |document: &Value, account: &str| {
        let named = named(account);
        let key = named.path(document);
        named.taken_away(document, key).to_string()
    };
    let both = json!({"channels": {"telegram": {"accounts": {"default": {}, "work": {}}}}});
    assert_eq!(gone(&both, "default"), "channels.telegram.accounts.default");
    assert_eq!(gone(&both, "work"), "channels.telegram.accounts.work");
    let last = json!({"channels": {"telegram": {"accounts": {"work": {}}}}});
    assert_eq!(gone(&last, "work"), "channels.telegram");
    let alone = json!({"channels": {"telegram": {"tokenFile": "/t"}}});
    assert_eq!(gone(&alone, "default"), "channels.telegram");
}

#[test]
fn bot_of_a_variable_is_the_default_account() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let variables = [("OPENCLAW_STATE_DIR", place), ("TELEGRAM_BOT_TOKEN", "7:a")];
    let environment: Environment = variables.into_iter().collect();
    let paths = Paths::resolve(&environment).unwrap();
    fs::write(&paths.configuration, "{channels: {telegram: {}}}").unwrap();
    let checked = |account: &str, token: &str| {
        let named = named(account);
        named.is_no_other(token, &paths, &environment)
    };
    let refused = checked("work", "7:b").unwrap_err().text();
    assert!(refused.contains("telegram is already"), "{refused}");
    assert!(checked("work", "8:b").is_ok() && checked("default", "7:b").is_ok());
}
