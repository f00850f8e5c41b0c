use super::super::command::{Word, parse};
use super::programs::PROGRAMS;
use super::*;

fn is_refused(line: &str) -> bool {
    let commands = parse(line).unwrap();
    refuses(&commands[0]).is_some()
}

#[test]
fn words_that_may_write_or_run_are_refused_in_every_spelling() {
    for line in [
        "sort -o a",
        "sort -uo a",
        "sort -oa",
        "sort a -o b",
        "sort -k1 -o a",
        "sort -k -o a",
        "sort -T /tmp a",
        "sort --out=a b",
        "sort --output a b",
        "sort --compress-program sh",
        "sort --rev a",
        "sort --reverse=a",
        "sort --key",
        "sort -é",
        "date -s x",
        "date -us x",
        "date 01020304",
        "date -d now 01020304",
        "date -- 01020304",
        "date +%F 01020304",
        "date -I 01020304",
        "file -C",
        "file -bz a",
        "file -S a",
        "find . -execdir sh",
        "find . -newermm a -delete",
        "find . -name -print -ok sh",
        "find . -fprintf a b",
        "find . -newerXX a",
        "find -files0-from a",
        "find . -name",
        "rg --pre=sh x",
        "rg --pre sh x",
        "rg -g --pre=sh x",
        "rg -inz x",
        "rg --hostname-bin=sh x",
        "rg --search-zip x",
        "diff -l a b",
        "diff -ul a b",
        "diff --paginate a b",
        "uniq a b",
        "uniq - a",
        "uniq -- a b",
        "uniq a -- b",
        "uniq -f 1 a b",
        "uniq -c - -",
        "df --sync",
        "free -s 1",
        "tail -f a",
        "tail --follow=name a",
        "ls --nothing",
        "xxd a b",
        "Sort a",
        "/bin/ls",
    ] {
        assert!(is_refused(line), "{line}");
    }
}

#[test]
fn patterns_that_may_become_options_or_several_names_are_refused() {
    for line in [
        "sort *",
        "sort ?o",
        "sort [a-z]*",
        "sort -k *",
        "sort -k* a",
        "uniq a*",
        "uniq -- *",
        "date *",
        "date +*",
        "date -d ./a*",
        "date -d now*",
        "find * -name a",
        "find . -name *.rs",
        "find . -na* a",
        "rg -g *.rs a",
        "rg --gl*=a b",
        "rg -[z] a",
        "l? a",
    ] {
        assert!(is_refused(line), "{line}");
    }
    for line in [
        "sort ./* a*",
        "sort -u -- *",
        "cat *",
        "grep -rn a --include=*.rs .",
        "rg --glob=*.rs a",
        "find src/* -name '*.rs'",
        "find . -name a*",
        "ls [ab]*",
    ] {
        assert!(!is_refused(line), "{line}");
    }
}

#[test]
fn usual_commands_only_read() {
    for line in [
        "sort -t: -k2,2n -k1 a",
        "sort -nrk 2 a -u",
        "sort --key=2 --key 3 --reverse a",
        "sort --field-separator , a",
        "date",
        "date -u +%FT%TZ",
        "date -d 'next monday' +%F",
        "date -Iseconds",
        "date --iso-8601=seconds -r a",
        "find . -maxdepth 2 -type f \\( -name '*.rs' -o -name '*.md' \\) -not -path './target/*' -print0",
        "find . ! -newermt 2020-01-01 -mtime -5 -size +10k -printf '%p\\n'",
        "find -L a b -perm -u+x -ls",
        "rg -n --type rust -C3 'fn main' src",
        "rg -A 2 -e a -g '!target' .",
        "rg --files --hidden",
        "uniq -c a",
        "uniq -f1 -",
        "uniq --all-repeated=separate",
        "grep -rnE -A3 'a|b' src",
        "grep -5 a b",
        "head -20 a",
        "head -n -5 a",
        "tail -n +5 a",
        "ls -lah --color=never a",
        "wc -l a b",
        "cut -d: -f1 a",
        "diff -u a b",
        "diff -ruN a b --exclude=c",
        "ps aux",
        "ps -ef",
        "echo -n -e anything --at all",
        "expr 1 + 1",
        "file -b --mime-type a",
        "df -h .",
        "free -m",
        "stat -c %s a",
        "od -A x -t x1z -w16 a",
        "cd ..",
        "cd -",
        "pwd",
        "nproc --all",
    ] {
        assert!(!is_refused(line), "{line}");
    }
}

#[test]
fn list_of_words_knows_no_patterns() {
    let words = ["sort", "*"].map(Word::plain);
    assert_eq!(refuses(&words), None);
}

#[test]
fn list_is_sorted() {
    assert!(PROGRAMS.windows(2).all(|two| two[0].name < two[1].name));
}
