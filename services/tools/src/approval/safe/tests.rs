use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::super::command::parse;
use super::*;

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

/// Seconds that a program may take.
const PATIENCE: &str = "10";

/// Files that arguments name, and what they hold: what a program says does not
/// depend on it.
const FILES: [&str; 7] = ["secret", "1", "+1", "a", "-1", ",", "secret="];
const CONTENTS: [&str; 2] = ["xyzzy", "plugh a\nb 2\n\n"];

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn all() -> SafeBins {
    let more = ["grep", "sort", "jq", "sed", "awk", "myfilter"];
    let own = Profile {
        max_positional: Some(0),
        value_flags: names(&["-n", "--limit"]),
        denied: names(&["-f", "--file"]),
        ..Profile::default()
    };
    let own = [("myfilter".to_owned(), own)].into();
    SafeBins::new(&names(&[&DEFAULT[..], &more].concat()), &own, &[])
}

fn admits(line: &str) -> bool {
    let bins = all();
    parse(line).is_ok_and(|commands| commands.iter().all(|words| bins.admit(words)))
}

#[test]
fn filters_of_streams_are_admitted() {
    for line in [
        "head -n 5",
        "head -n5 -q",
        "head --lines=5",
        "head --lines 5",
        "tail -c +3",
        "wc -lw",
        "cut -d, -f1-3",
        "cut -d ',' -f 1 -",
        "cut --delimiter=, --fields=2",
        "tr a-z A-Z",
        "tr -d abc",
        "tr -- -a b",
        "uniq -c",
        "uniq --group=append",
        "uniq -",
        "sort -k 2 -t ,",
        "grep -e TODO -m 3",
        "head -n 5 | wc -l && uniq",
        "/usr/bin/head -n 1",
        "myfilter -n 3 --limit=2",
    ] {
        assert!(admits(line), "{line}");
    }
}

#[test]
fn files_and_programs_are_not() {
    for line in [
        "head notes",
        "head -n 5 notes",
        "head -- notes",
        "head /etc/passwd",
        "head -5",
        "head --li=5",
        "tail -f",
        "tail -n 1 -f",
        "tail --follow=name",
        "wc notes",
        "wc --files0-from=notes",
        "wc --files0-from notes",
        "cut -f1 notes",
        "cut -d / -f 1",
        "uniq a b",
        "uniq - out",
        "uniq --group notes",
        "sort -o out",
        "sort --output=out",
        "sort --compress-program=sh",
        "sort --compress-program sh",
        "sort -T /tmp",
        "sort --files0-from=a",
        "sort -uo out",
        "sort notes",
        "grep TODO notes",
        "grep TODO",
        "grep -r TODO",
        "grep -e TODO -r",
        "grep -f patterns",
        "grep -e TODO notes",
        "grep --file=patterns",
        "tr a b c",
        "tr ./a b",
        "tr",
        "head -n '$HOME'",
        "head *",
        "grep -e 'a*'",
        "head -n",
        "head -n ''",
        "grep -e -f",
        "jq .",
        "sed p",
        "awk 1",
        "myfilter notes",
        "myfilter -f x",
        "myfilter -x",
        "rm",
        "./head -n 1",
        "/tmp/head -n 1",
        "/usr/bin/../../tmp/head",
        "sub/head",
        "Head -n 1",
    ] {
        assert!(!admits(line), "{line}");
    }
}

#[test]
fn word_is_literal_unless_it_is_a_path_or_means_something_to_a_shell() {
    for word in [
        "a", "a/b", ".", ".a", "a=b", "=", "-x", "1:/x", "C:", "C:x", "CC:/x", "a~", "cost$",
        "$ x", "$=", "a\u{e4}", " a",
    ] {
        assert!(is_literal(word), "{word:?}");
    }
    for word in [
        "", "a*", "a?", "[a", "a]", "/a", "~", "~a", " /a", "./a", "..", "../a", "..a", "C:/x",
        "c:\\x", "a=/b", "a=~", "a=./b", "=..", "a=C:/b", "$a", "x$1", "$_", "$@", "$*", "$!",
        "$$", "$#", "$-", "${a}", "$(a)", "a $ $b",
    ] {
        assert!(!is_literal(word), "{word:?}");
    }
}

#[test]
fn profile_says_how_many_words_and_which_options_there_may_be() {
    let own = Profile {
        min_positional: 1,
        max_positional: Some(2),
        value_flags: names(&["-v", "--value"]),
        inline_flags: names(&["--inline", "--both"]),
        switches: names(&["-s", "-t", "--switch", "--both"]),
        denied: names(&["-d", "--denied", "--value-denied"]),
    };
    let any = Profile {
        max_positional: None,
        ..own.clone()
    };
    let known = [("own".to_owned(), own), ("any".to_owned(), any)].into();
    let bins = SafeBins::new(&names(&[" Own ", "any", "gone"]), &known, &[]);
    let admits = |line: &str| bins.admit(&parse(line).unwrap()[0]);
    for line in [
        "own a",
        "own a b",
        "own - a -",
        "any a b c d",
        "own -st a",
        "own -sv5 a",
        "own -sv 5 a",
        "own -v -5 a",
        "own --value x a",
        "own --value=x a",
        "own --inline=x a",
        "own --inline a",
        "own --switch a",
        "own --both a",
        "own --both=x a",
        "own -- -d",
    ] {
        assert!(admits(line), "{line}");
    }
    for line in [
        "own",
        "own -",
        "own a b c",
        "own -- a b c",
        "any",
        "own -sd a",
        "own -sx a",
        "own -sv",
        "own -v/x a",
        "own -v -x a",
        "own --value",
        "own --value= a",
        "own --value=/x a",
        "own --inline= a",
        "own --switch=x a",
        "own --denied a",
        "own --denied=x a",
        "own --value-denied=x a",
        "own --unknown a",
        "own --unknown=x a",
        "gone a",
    ] {
        assert!(!admits(line), "{line}");
    }
}

#[test]
fn safe_only_programs_of_trusted_folders_are_safe() {
    let path = "/usr/local/bin:/usr/bin:/bin:/opt/x";
    let bins = |trusted: &[&str], there: &'static [&'static str]| {
        let bins = SafeBins::new(&names(&["head", "wc"]), &BTreeMap::new(), &names(trusted));
        bins.on_path(path, |program| there.contains(&program))
    };
    let admits = |bins: &SafeBins, line: &str| bins.admit(&parse(line).unwrap()[0]);
    let usual = bins(&[], &["/usr/bin/head", "/bin/wc"]);
    assert!(admits(&usual, "head -n 1") && admits(&usual, "wc -l"));
    let there: &[&str] = &["/usr/local/bin/head", "/usr/bin/head", "/opt/x/wc"];
    let shadowed = bins(&[], there);
    assert!(!admits(&shadowed, "head -n 1") && !admits(&shadowed, "wc -l"));
    let trusted = bins(&["/usr/local/bin/", "/opt/x"], there);
    assert!(admits(&trusted, "head -n 1") && admits(&trusted, "wc -l"));
    assert!(admits(&trusted, "/opt/x/wc -l"));
}

#[test]
fn safe_what_is_no_safe_bin_is_said() {
    let own = BTreeMap::from([("mine".to_owned(), Profile::default())]);
    let problem = |name| SafeBins::problem(name, &own);
    assert_eq!((problem("head"), problem("mine")), (None, None));
    assert!(problem("jq").unwrap().contains("never"));
    assert!(
        problem("python3")
            .unwrap()
            .contains("safeBinProfiles.python3")
    );
}

/// Words that name files of the folder, options of the programs, and values.
fn any_argument() -> impl Strategy<Value = String> {
    let options = DEFAULT.iter().chain(&["grep", "sort"]);
    let options: Vec<String> = options
        .filter_map(|name| known(name))
        .flat_map(|profile| {
            [
                profile.value_flags,
                profile.inline_flags,
                profile.switches,
                profile.denied,
            ]
            .concat()
        })
        .collect();
    let values = [
        "secret", "1", "+1", "out", "-", "--", "./secret", ",", "touch", "a", "-1",
    ];
    let value = prop::sample::select(values.to_vec());
    let option = prop::sample::select(options);
    prop_oneof![
        3 => value.clone().prop_map(str::to_owned),
        3 => option.clone(),
        2 => (option.clone(), value.clone()).prop_map(|(option, value)| format!("{option}={value}")),
        2 => (option, value).prop_map(|(option, value)| format!("{option}{value}")),
        1 => "-[a-zA-Z]{1,3}",
    ]
}

/// What a program prints, given a stream that has nothing of the files.
#[expect(
    clippy::disallowed_methods,
    reason = "the real programs are what is tested"
)]
fn run(folder: &Path, words: &[String]) -> String {
    // timeout(1) ends what waits for something.
    let mut child = Command::new("timeout")
        .arg(PATIENCE)
        .args(words)
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C")])
        .env("TMPDIR", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // One that takes no input is gone already.
    let _ = child.stdin.take().unwrap().write_all(b"b 1\na 2\na 2\n");
    let output = child.wait_with_output().unwrap();
    assert_ne!(output.status.code(), Some(124), "{words:?} waits");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16 * CASES))]

    /// Whatever is admitted reads no file, writes none and starts no program, as
    /// the real programs have it.
    #[test]
    fn safe_bins_touch_nothing_but_their_streams(
        program in prop::sample::select([&DEFAULT[..], &["grep", "sort"]].concat()),
        arguments in prop::collection::vec(any_argument(), 0..4),
    ) {
        let mut words = vec![program.to_owned()];
        words.extend(arguments);
        let parsed: Vec<Word> = words.iter().map(|word| Word::plain(word)).collect();
        // A process that is waited for, or its number, is not a file.
        let waits = words.iter().any(|word| word.starts_with("--pid"));
        if all().admit(&parsed) && !waits {
            let said = CONTENTS.map(|content| {
                let folder = tempfile::tempdir().unwrap();
                for name in FILES {
                    fs::write(folder.path().join(name), content).unwrap();
                }
                let said = run(folder.path(), &words);
                let left = fs::read_dir(folder.path()).unwrap().count();
                assert_eq!(left, FILES.len(), "{words:?} made a file");
                for name in FILES {
                    let text = fs::read_to_string(folder.path().join(name)).unwrap();
                    assert_eq!(text, content, "{words:?} wrote {name}");
                }
                said
            });
            prop_assert_eq!(&said[0], &said[1], "{:?} read a file", words);
        }
    }

    /// No word that is a path is admitted, wherever it stands.
    #[test]
    fn safe_bins_take_no_paths(
        program in prop::sample::select([&DEFAULT[..], &["grep", "sort"]].concat()),
        before in prop::collection::vec(any_argument(), 0..3),
        prefix in prop::sample::select(vec!["", "-n", "--lines=", "-e", "--regexp=", "-d"]),
        path in prop::sample::select(vec!["/etc/passwd", "./a", "../a", "~/a", "~", "/"]),
    ) {
        // After the end of the options a word is what it is.
        prop_assume!(prefix.is_empty() || !before.contains(&"--".to_owned()));
        let mut words = vec![Word::plain(program)];
        words.extend(before.iter().map(|word| Word::plain(word)));
        words.push(Word::plain(&format!("{prefix}{path}")));
        prop_assert!(!all().admit(&words), "{:?}", words);
    }
}
