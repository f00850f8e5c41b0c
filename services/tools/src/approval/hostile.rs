//! Lines that look like reading and write, or run something, by what a shell or a program makes
//! of them.

use serde_json::{Map, Value, json};

use super::safe::{DEFAULT, SafeBins};
use super::{Ask, Grant, Rules, Verdict};

/// Rules with all that runs unasked: what only reads, and every safe bin.
fn rules() -> Rules {
    let names = [&DEFAULT[..], &["grep", "sort"]].concat();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Rules {
        ask: Ask::OnMiss,
        allowlist: Vec::new(),
        granted: Vec::new(),
        safe_bins: SafeBins::new(&names, &Default::default(), &[]),
        only_listed: false,
        refuses: false,
        open_network: false,
    }
}

fn runs(command: &Value) -> bool {
    let grant = Grant::of_command(command, &Map::new(), "/here".to_owned());
    rules().judge(command, &grant, true) == Verdict::Run
}

/// What shells do with words before a program sees them.
const OF_SHELLS: [&str; 38] = [
    // Braces make words, also of one that is no option yet.
    "sort {-o,a} b",
    "find . -{delete,print}",
    "ls {a..b}",
    // Substitution, in each of its spellings, within words and marks.
    "ls $'-l'",
    "find . $'-delete'",
    "find . -name $\"a\"",
    "ls \"`touch b`\"",
    "ls \"a\\\\`touch b`\"",
    "ls ${a:=$(touch b)}",
    "ls $((a[$(touch b)]))",
    "ls $[1]",
    "cat <(touch b)",
    "cat a >(touch b)",
    // Streams, with numbers and without.
    "cat <<<a >b",
    "cat << a",
    "ls 2>b",
    "ls 2>&1",
    "ls &>b",
    "ls >|b",
    "ls a>b",
    "ls \\>b >c",
    "cat a <>b",
    "exec 3>b",
    "ls {fd}>b",
    // Grammar where a name belongs.
    "ls; { touch b; }",
    "ls && ( touch b )",
    "ls || ! touch b",
    "ls | while read a; do touch $a; done",
    "ls; case a in a) touch b;; esac",
    "ls; f() touch b",
    "a() { touch b; }; a",
    "ls & touch b",
    "ls |& tee b",
    // Other names of programs, and what is set for them.
    "alias ls='touch b'; ls",
    "command touch b",
    "cd a && . ./b",
    "cd a && ./ls",
    "LS_COLORS=a ls",
];

/// Programs that run what they are told, or write where they are told.
const OF_PROGRAMS: [&str; 50] = [
    "find . -execdir touch b ;",
    "find . -okdir touch b ;",
    "find . -fls b",
    "find . -fprint0 b",
    "find -files0-from - -delete",
    "find . -- -delete",
    "find . ( -name a ) -delete",
    "find . -true -a -delete",
    "find -D exec . -exec touch b ;",
    "rg --pre touch a",
    "rg --pre=touch --pre-glob=* a",
    "rg -z a",
    "rg -nz a",
    "rg --search-zip a",
    "rg --hostname-bin touch --hyperlink-format={host} a",
    "rg --no-pre --pre touch a",
    "sort -o b a",
    "sort -nob a",
    "sort a b -o",
    "sort -t o -o b a",
    "sort --compress-prog=touch a",
    "sort --output b a",
    "sort -T. -o b",
    "uniq a b",
    "uniq --skip-fields 1 a b",
    "diff -l a b",
    "diff --paginate a b",
    "file -C -m a",
    "file --compile a",
    "file -S -z a",
    "date --set=now",
    "date -us now",
    "tail -f a --pid=1",
    "git -c core.pager=touch log",
    "git --exec-path=. status",
    "GIT_EXTERNAL_DIFF=touch git diff",
    "git grep --open-files-in-pager=touch a",
    "tar -cf b --to-command=touch a",
    "tar --checkpoint=1 --checkpoint-action=exec=touch -tf a",
    "awk {print>\"b\"} a",
    "awk -f a b",
    "sed -n w\\ b a",
    "sed 1e\\ touch\\ b a",
    "xargs -a a touch",
    "env -S 'touch b'",
    "env --split-string=touch\\ b",
    "nice ls",
    "timeout 1 touch b",
    "less +!touch\\ b a",
    "busybox touch b",
];

#[test]
fn hostile_no_line_that_writes_or_runs_something_is_taken_for_reading() {
    for line in OF_SHELLS.iter().chain(&OF_PROGRAMS) {
        assert!(!runs(&json!(line)), "{line}");
    }
}

/// Without a shell between them, options are those of the program all the same.
#[test]
fn hostile_no_words_that_write_or_run_something_are_taken_for_reading() {
    for line in OF_PROGRAMS {
        let words: Vec<&str> = line.split(' ').collect();
        assert!(!runs(&json!(words)), "{words:?}");
    }
    for words in [
        json!(["sh", "-c", "touch b"]),
        json!(["sort", "-o"]),
        json!(["sort", "-o\u{0}b", "a"]),
        json!(["find", ".", "-exec", "touch", "b", ";"]),
        json!(["./ls"]),
        json!(["ls", ["-l"]]),
        json!({"command": "ls"}),
    ] {
        assert!(!runs(&words), "{words}");
    }
}

/// What means something between other marks, or elsewhere, is text here.
#[test]
fn words_that_only_look_hostile_are_read() {
    for line in [
        "grep '$(touch b)' a",
        "grep -e '`touch b`' a",
        "grep \"a > b\" c",
        "ls '{a,b}' \\{a,b\\}",
        "cat -- -o",
        "sort a -- b -o",
        "find . -name '-delete'",
        "grep -- --pre a",
        "echo a=b -exec touch b ';'",
        "ls a \\> b",
    ] {
        assert!(runs(&json!(line)), "{line}");
    }
}
