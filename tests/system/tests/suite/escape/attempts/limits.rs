//! More than a turn's limits.

use crate::escape::attempt::Gap::Memory;
use crate::escape::attempt::{Attempt, seen};

pub(super) const ALL: &[Attempt] = &[
    seen("raise a limit", "ulimit -n 8192"),
    seen(
        "fork bomb",
        // The limit is beside all that run on the machine.
        "perl -e 'open(L, \"<\", \"/proc/loadavg\"); ($n) = <L> =~ m{/(\\d+)}; for (1 .. $n + 300) { $p = fork; if (!defined $p) { kill 9, @c; exit 1 } if (!$p) { sleep 60; exit } push @c, $p } kill 9, @c'",
    ),
    seen("memory bomb", "perl -e '$x = \"x\" x (600 << 20)'").but(&[Memory]),
    seen(
        "one huge file",
        "head -c 64M /dev/zero >huge; s=$(stat -c %s huge); rm huge; test $s = 67108864",
    ),
    seen(
        "one huge file with a hole",
        "truncate -s 2G hole; s=$(stat -c %s hole); rm -f hole; test $s = 2147483648",
    ),
    seen(
        "room for a huge file at once",
        "perl -e 'open(F, \">\", \"room\"); $r = syscall(285, fileno(F), 1, 0, 64 << 20); unlink(\"room\"); exit($r < 0)'",
    ),
];
