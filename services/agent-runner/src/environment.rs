//! The environment of agent processes: rebuilt, never inherited.

use openclaw_config::Environment;

use crate::places::Places;

/// What a login shell has on Debian; the daemon's own PATH may hold folders
/// that are not granted.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Passed on as they are: language, time zone.
const PASSED: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];
/// The way out, passed on where there is the network of this machine.
const NETWORK: [&str; 5] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

/// Variables by name, in the order they were set.
pub(crate) type Variables = Vec<(String, String)>;

/// What every agent process has.
pub(crate) fn common(outer: &Environment, places: &Places) -> Variables {
    let user = places
        .identity
        .as_ref()
        .map(|identity| identity.name.clone())
        .or_else(|| outer.get("USER").map(str::to_owned))
        .unwrap_or_else(|| "openclaw".to_owned());
    let home = places.home.display().to_string();
    let temporary = places.temporary.display().to_string();
    let mut variables: Variables = [
        ("PATH", PATH),
        ("HOME", &home),
        ("TMPDIR", &temporary),
        ("USER", &user),
        ("LOGNAME", &user),
        ("SHELL", "/bin/sh"),
        ("TERM", "dumb"),
        ("OPENCLAW_SHELL", "exec"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    variables.extend(passed(outer, &PASSED));
    variables
}

/// What an agent has beside that which has the network of this machine.
pub(crate) fn network(outer: &Environment) -> Variables {
    passed(outer, &NETWORK)
}

/// Those of `names` that are set.
pub(crate) fn passed(outer: &Environment, names: &[&str]) -> Variables {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), outer.get(name)?.to_owned())))
        .collect()
}
