//! The environment of agent processes: rebuilt, never inherited.

use std::path::Path;

use openclaw_config::Environment;

use crate::places::Places;

/// What a login shell has on Debian; the daemon's own PATH may hold folders
/// that are not granted.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Passed on as they are: language, time zone. A language is, where its locale
/// writes UTF-8 or ASCII: in some others a character ends in a byte that is a
/// quotation mark's or an operator's, and a shell would not read a line as it
/// was judged.
const PASSED: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];
/// The way out, passed on where there is the network of this machine.
const NETWORK: [&str; 5] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

/// Has git run no program, and take no folder for a repository, because files of the
/// workspace say so (git-config(1), "Environment").
const GIT: [(&str, &str); 7] = [
    ("GIT_CONFIG_COUNT", "3"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
    ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_2", "/dev/null"),
];

/// Variables by name, in the order they were set.
pub type Variables = Vec<(String, String)>;

/// What every agent process has.
pub fn common(outer: &Environment, places: &Places) -> Variables {
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
    let languages = passed(outer, &PASSED).into_iter();
    variables.extend(languages.filter(|(name, value)| !is_of_locale(name) || is_plain(value)));
    variables
}

/// What is different where somebody is asked what an agent may do: the home of shells and
/// git is `folder`, which begins empty in each turn. Their settings are programs: what an
/// earlier turn left in the agent's home, or its workspace, would be run unasked.
pub fn asked(variables: &mut Variables, folder: &Path) {
    let folder = folder.display().to_string();
    variables.retain(|(name, _)| name != "HOME");
    let own = ["HOME", "ZDOTDIR"].map(|name| (name, folder.as_str()));
    let all = own.into_iter().chain(GIT);
    variables.extend(all.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

/// Whether the variable chooses how characters are written.
fn is_of_locale(name: &str) -> bool {
    matches!(name, "LANG" | "LC_ALL" | "LC_CTYPE")
}

/// Whether the locale writes ASCII or UTF-8.
fn is_plain(locale: &str) -> bool {
    let encoding = locale
        .split('@')
        .next()
        .and_then(|name| name.split('.').nth(1));
    let encoding = encoding.map(|name| name.to_ascii_lowercase().replace('-', ""));
    ["", "C", "POSIX"].contains(&locale) || encoding.as_deref() == Some("utf8")
}

/// What an agent has beside that which has the network of this machine.
pub fn network(outer: &Environment) -> Variables {
    passed(outer, &NETWORK)
}

/// Those of `names` that are set.
pub(crate) fn passed(outer: &Environment, names: &[&str]) -> Variables {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), outer.get(name)?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asked_has_one_home_that_is_the_turns() {
        let mut variables = vec![("HOME".to_owned(), "/agents/main/home".to_owned())];
        asked(&mut variables, Path::new("/turn"));
        let homes = variables.iter().filter(|(name, _)| name == "HOME");
        assert_eq!(
            homes.map(|(_, home)| home.as_str()).collect::<Vec<_>>(),
            ["/turn"]
        );
        let names: Vec<_> = variables.iter().map(|(name, _)| name.as_str()).collect();
        let keys = names
            .iter()
            .filter(|name| name.starts_with("GIT_CONFIG_KEY"));
        let count = variables
            .iter()
            .find(|(name, _)| name == "GIT_CONFIG_COUNT");
        assert_eq!(count.unwrap().1, keys.count().to_string());
    }

    #[test]
    fn locales_that_write_otherwise_than_in_utf8_are_not_passed_on() {
        for locale in [
            "C",
            "POSIX",
            "",
            "C.UTF-8",
            "de_DE.utf8",
            "ca_ES.UTF-8@valencia",
        ] {
            assert!(is_plain(locale), "{locale}");
        }
        for locale in [
            "zh_TW",
            "zh_CN.GBK",
            "ja_JP.SJIS",
            "de_DE@euro",
            "zh_HK.BIG5@UTF-8",
        ] {
            assert!(!is_plain(locale), "{locale}");
        }
    }
}
