//! The environment of agent processes: rebuilt, never inherited.

use std::path::Path;

use openclaw_config::Environment;

use crate::places::Places;

/// What a login shell has on Debian; the daemon's own PATH may hold folders that are not granted.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Passed on as they are: language, time zone. A language is, where its locale writes UTF-8 or
/// ASCII: in some others a character ends in a byte that is a quotation mark's or an operator's,
/// and a shell would not read a line as it was judged.
const PASSED: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];
/// The way out, passed on where there is the network of this machine.
const NETWORK: [&str; 5] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

/// Makes git run no program, and take no folder for a repository, because files of the
/// workspace say so (git-config(1), "Environment").
const GIT: [(&str, &str); 3] = [
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
];

/// Makes git take every repository for somebody else's, in which it does nothing (git-config(1),
/// "safe.directory"). Of what a repository's settings name, filters and drivers have names of their
/// own, which no other setting could take away. Git reads it for its own tests; nothing else says
/// this of repositories that belong to the same user.
const FOREIGN: &str = "GIT_TEST_ASSUME_DIFFERENT_OWNER";
/// How many settings follow that git is told by variables.
const COUNT: &str = "GIT_CONFIG_COUNT";

/// Variables by name, in the order they were set.
pub type Variables = Vec<(String, String)>;

/// The variables of every agent process.
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
    let own = ["HOME", "ZDOTDIR"];
    variables.extend(own.map(|name| (name.to_owned(), folder.clone())));
    tell_git(variables);
}

/// What is different for a program that has what agents have not, and sees where they write: its
/// git obeys no repository there, unless its own variables say that it may.
pub fn among_agents(variables: &mut Variables) {
    if !variables.iter().any(|(name, _)| name == FOREIGN) {
        variables.push((FOREIGN.to_owned(), "1".to_owned()));
    }
    tell_git(variables);
}

/// Adds the settings of [`GIT`] to those that git is told already.
fn tell_git(variables: &mut Variables) {
    let told = variables.iter().find(|(name, _)| name == COUNT);
    let told = told.and_then(|(_, count)| count.parse::<usize>().ok());
    let told = told.unwrap_or(0);
    for (number, (key, value)) in (told..).zip(GIT) {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), key.to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()));
    }
    variables.retain(|(name, _)| name != COUNT);
    variables.push((COUNT.to_owned(), (told + GIT.len()).to_string()));
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

/// The variables of an agent with the network of this machine.
pub fn network(outer: &Environment) -> Variables {
    passed(outer, &NETWORK)
}

/// The variables of `names` that are set.
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
    fn git_is_told_more_than_a_servers_own_settings() {
        let own = [
            (COUNT, "1"),
            ("GIT_CONFIG_KEY_0", "user.name"),
            (FOREIGN, "0"),
        ];
        let mut variables = own
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        among_agents(&mut variables);
        let value = |name: &str| {
            let mut all = variables.iter().filter(|(known, _)| known == name);
            let found = all.next().map(|(_, value)| value.as_str());
            assert_eq!(all.next(), None, "{name} is there once");
            found
        };
        assert_eq!(value(COUNT), Some("4"));
        assert_eq!(value("GIT_CONFIG_KEY_0"), Some("user.name"));
        assert_eq!(value("GIT_CONFIG_KEY_3"), Some("core.hooksPath"));
        assert_eq!(value("GIT_CONFIG_VALUE_3"), Some("/dev/null"));
        assert_eq!(value(FOREIGN), Some("0"), "the user says otherwise");
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
