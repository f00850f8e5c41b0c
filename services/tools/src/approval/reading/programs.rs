//! The programs, with their options as in Debian 12.
//!
//! Left out on purpose: git, whose repository's own configuration names
//! programs that it runs (core.fsmonitor, diff.external); env, xargs, nice and
//! others that run what they are given; sed, awk, tee and dd, which write; less
//! and man, which start programs; printf and test, with which bash sets
//! variables and evaluates what it is given.

use super::{Arguments, Operands, Options, Program};

const fn anything(name: &'static str) -> Program {
    Program {
        name,
        arguments: Arguments::Anything,
    }
}

pub(super) const fn reads(name: &'static str, options: &'static str) -> Program {
    Program {
        name,
        arguments: Arguments::Reading(Options(options)),
    }
}

const fn guarded(name: &'static str, options: &'static str, operands: Operands) -> Program {
    Program {
        name,
        arguments: Arguments::Guarded(Options(options), operands),
    }
}

const SUM: &str = "-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status \
    --strict --warn --help --version";

const GREP: &str = "-EFGPiwxzsvVbnHhoqaIrRLlcTZU -efmdDBAC: -# --extended-regexp --fixed-strings \
    --basic-regexp --perl-regexp --regexp= --file= --ignore-case --no-ignore-case --word-regexp \
    --line-regexp --null-data --no-messages --invert-match --max-count= --byte-offset \
    --line-number --line-buffered --with-filename --no-filename --label= --only-matching --quiet \
    --silent --binary-files= --text --directories= --devices= --recursive \
    --dereference-recursive --include= --exclude= --exclude-from= --exclude-dir= \
    --files-without-match --files-with-matches --count --initial-tab --null --before-context= \
    --after-context= --context= --group-separator= --no-group-separator --color? --colour? \
    --binary --help --version";

/// By name. What is missing of a program's options: those that follow a file or
/// repeat until they are ended, and those that the comments name.
pub(super) const PROGRAMS: &[Program] = &[
    reads(
        "basename",
        "-az -s: --multiple --zero --suffix= --help --version",
    ),
    reads(
        "cat",
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank \
        --show-tabs --show-nonprinting --help --version",
    ),
    reads("cd", "-LPe"),
    reads(
        "cksum",
        "-cwz -al: --algorithm= --length= --check --tag --untagged --zero --ignore-missing \
        --quiet --status --strict --warn --debug --help --version",
    ),
    reads(
        "cmp",
        "-blsv -in: --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent --help \
        --version",
    ),
    reads(
        "column",
        "-tdeLJxhV -nONlEHRTWripcos: --table --table-name= --table-order= --table-columns= \
        --table-columns-limit= --table-noextreme= --table-noheadings --table-header-repeat \
        --table-hide= --table-right= --table-truncate= --table-wrap= --keep-empty-lines --json \
        --tree= --tree-id= --tree-parent= --output-width= --output-separator= --separator= \
        --fillrows --help --version",
    ),
    reads(
        "comm",
        "-123z --check-order --nocheck-order --output-delimiter= --total --zero-terminated \
        --help --version",
    ),
    reads(
        "cut",
        "-nsz -bcdf: --bytes= --characters= --delimiter= --fields= --complement \
        --only-delimited --output-delimiter= --zero-terminated --help --version",
    ),
    // Not -s: it sets the clock, as a date without a `+` does.
    guarded(
        "date",
        "-Ru -dfr: -I? --date= --file= --iso-8601? --rfc-email --rfc-3339= --reference= --utc \
        --universal --debug --help --version",
        Operands::Format,
    ),
    // Not --sync.
    guarded(
        "df",
        "-ahHiklPTv -Btx: --all --block-size= --human-readable --si --inodes --local --no-sync \
        --output? --portability --total --type= --print-type --exclude-type= --help --version",
        Operands::Any,
    ),
    // Not -l, which runs pr.
    guarded(
        "diff",
        "-qscuenyptTrNiEZbwBadv -CUWFxXSID: --normal --brief --report-identical-files --context? \
        --unified? --ed --rcs --side-by-side --width= --left-column --suppress-common-lines \
        --show-c-function --show-function-line= --label= --expand-tabs --initial-tab --tabsize= \
        --suppress-blank-empty --recursive --no-dereference --new-file --unidirectional-new-file \
        --ignore-file-name-case --no-ignore-file-name-case --exclude= --exclude-from= \
        --starting-file= --from-file= --to-file= --ignore-case --ignore-tab-expansion \
        --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines \
        --ignore-matching-lines= --text --strip-trailing-cr --ifdef= --old-group-format= \
        --new-group-format= --unchanged-group-format= --changed-group-format= --line-format= \
        --old-line-format= --new-line-format= --unchanged-line-format= --minimal \
        --horizon-lines= --speed-large-files --color? --palette= --help --version",
        Operands::Any,
    ),
    reads("dirname", "-z --zero --help --version"),
    reads(
        "du",
        "-0abcDHhkLlmPSsx -BdtX: --null --all --apparent-size --block-size= --bytes --total \
        --dereference-args --max-depth= --files0-from= --human-readable --inodes --dereference \
        --count-links --no-dereference --separate-dirs --si --summarize --threshold= --time? \
        --time-style= --exclude-from= --exclude= --one-file-system --help --version",
    ),
    anything("echo"),
    reads("egrep", GREP),
    anything("expr"),
    anything("false"),
    reads("fgrep", GREP),
    // Not -C, which writes; -p, which sets times back; -s, which reads devices;
    // -z and -Z, which run programs; -S, which lets the others do so.
    guarded(
        "file",
        "-bciklLhnN0rvE -mefFP: --magic-file= --brief --checking-printout --exclude= \
        --exclude-quiet= --files-from= --separator= --mime --apple --extension --mime-type \
        --mime-encoding --keep-going --list --dereference --no-dereference --no-buffer --no-pad \
        --print0 --parameter= --raw --help --version",
        Operands::Any,
    ),
    Program {
        name: "find",
        arguments: Arguments::Find,
    },
    reads(
        "fold",
        "-bs -w: -# --bytes --spaces --width= --help --version",
    ),
    guarded(
        "free",
        "-bkmghltvwV --bytes --kilo --mega --giga --tera --peta --kibi --mebi --gibi --tebi \
        --pebi --human --si --lohi --total --committed --wide --help --version",
        Operands::Any,
    ),
    reads("grep", GREP),
    reads(
        "head",
        "-qvz -cn: -# --bytes= --lines= --quiet --silent --verbose --zero-terminated --help \
        --version",
    ),
    reads(
        "hexdump",
        "-bcCdoxvhV -L? -efns: --one-byte-octal --one-byte-char --canonical --two-bytes-decimal \
        --two-bytes-octal --two-bytes-hex --color? --format= --format-file= --length= --skip= \
        --no-squeezing --help --version",
    ),
    reads(
        "id",
        "-aZgGnruz --context --group --groups --name --real --user --zero --help --version",
    ),
    reads(
        "join",
        "-iz -aejotv12: --ignore-case --check-order --nocheck-order --header --zero-terminated \
        --help --version",
    ),
    reads(
        "ls",
        "-aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1 -ITw: --all --almost-all --author --escape \
        --block-size= --ignore-backups --color? --directory --dired --classify? --file-type \
        --format= --full-time --group-directories-first --no-group --human-readable --si \
        --dereference-command-line --dereference-command-line-symlink-to-dir --hide= \
        --hyperlink? --indicator-style= --inode --ignore= --kibibytes --dereference \
        --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name \
        --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= \
        --width= --context --zero --help --version",
    ),
    reads("md5sum", SUM),
    reads(
        "nl",
        "-p -bdfhilnsvw: --body-numbering= --section-delimiter= --footer-numbering= \
        --header-numbering= --line-increment= --join-blank-lines= --number-format= \
        --no-renumber --number-separator= --starting-line-number= --number-width= --help \
        --version",
    ),
    reads("nproc", "--all --ignore= --help --version"),
    reads(
        "od",
        "-vabcdfiloshx -AjNSt: -w? --address-radix= --endian= --skip-bytes= --read-bytes= \
        --strings? --format= --output-duplicates --width? --traditional --help --version",
    ),
    reads(
        "paste",
        "-sz -d: --delimiters= --serial --zero-terminated --help --version",
    ),
    anything("ps"),
    reads("pwd", "-LP --logical --physical --help --version"),
    reads(
        "readlink",
        "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline \
        --quiet --silent --verbose --zero --help --version",
    ),
    reads(
        "realpath",
        "-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet \
        --relative-to= --relative-base= --strip --no-symlinks --zero --help --version",
    ),
    reads("rev", "-hV --help --version"),
    // Not --pre, --hostname-bin and -z, which run programs.
    guarded(
        "rg",
        "-bscFlLhivxnUIN0oPpqSauVHw. -ABCEefgMmrjtT: --after-context= --auto-hybrid-regex \
        --before-context= --binary --block-buffered --byte-offset --case-sensitive --color= \
        --colors= --column --context= --context-separator= --count --count-matches --crlf \
        --debug --dfa-size-limit= --encoding= --field-context-separator= \
        --field-match-separator= --file= --files --files-with-matches --files-without-match \
        --fixed-strings --follow --glob= --glob-case-insensitive --help --heading --hidden \
        --iglob= --ignore-case --ignore-file= --ignore-file-case-insensitive --include-zero \
        --invert-match --json --line-buffered --line-number --line-regexp --max-columns= \
        --max-columns-preview --max-count= --max-depth= --max-filesize= --mmap --multiline \
        --multiline-dotall --no-config --no-filename --no-heading --no-ignore --no-ignore-dot \
        --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages \
        --no-ignore-parent --no-ignore-vcs --no-line-number --no-messages --no-mmap \
        --no-pcre2-unicode --no-require-git --no-unicode --null --null-data --one-file-system \
        --only-matching --passthru --path-separator= --pcre2 --pcre2-version --pretty --quiet \
        --regex-size-limit= --regexp= --replace= --smart-case --sort= --sortr= --stats --text \
        --threads= --trim --type= --type-add= --type-clear= --type-list --type-not= \
        --unrestricted --version --vimgrep --with-filename --word-regexp",
        Operands::Any,
    ),
    reads(
        "seq",
        "-w -fs: -# --equal-width --format= --separator= --help --version",
    ),
    reads("sha1sum", SUM),
    reads("sha256sum", SUM),
    reads("sha512sum", SUM),
    // Not -o, which writes; -T, which says where; --compress-program.
    guarded(
        "sort",
        "-bdfgiMhnRrVcCmsuz -kSt: --ignore-leading-blanks --dictionary-order --ignore-case \
        --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort \
        --numeric-sort --random-sort --random-source= --reverse --sort= --version-sort \
        --batch-size= --check? --debug --files0-from= --key= --merge --stable --buffer-size= \
        --field-separator= --parallel= --unique --zero-terminated --help --version",
        Operands::Any,
    ),
    reads(
        "stat",
        "-Lft -c: --dereference --file-system --cached= --format= --printf= --terse --help \
        --version",
    ),
    reads(
        "strings",
        "-adfwohvV -ntTeUs: -# --all --data --print-file-name --bytes= --radix= \
        --include-all-whitespace --target= --encoding= --unicode= --output-separator= --help \
        --version",
    ),
    reads(
        "tac",
        "-br -s: --before --regex --separator= --help --version",
    ),
    reads(
        "tail",
        "-qvz -cn: -# --bytes= --lines= --quiet --silent --verbose --zero-terminated --help \
        --version",
    ),
    reads(
        "tr",
        "-cCdst --complement --delete --squeeze-repeats --truncate-set1 --help --version",
    ),
    anything("true"),
    reads(
        "uname",
        "-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine \
        --processor --hardware-platform --operating-system --help --version",
    ),
    guarded(
        "uniq",
        "-cdDiuz -fsw: --count --repeated --all-repeated? --skip-fields= --group? --ignore-case \
        --skip-chars= --unique --zero-terminated --check-chars= --help --version",
        Operands::One,
    ),
    reads(
        "wc",
        "-cmlLw --bytes --chars --lines --files0-from= --max-line-length --words --help --version",
    ),
    reads("whoami", "--help --version"),
];
