//! Other processes, and what the machine's processes share.

use crate::escape::attempt::Gap::{Landlock, Names, Priorities};
use crate::escape::attempt::{Attempt, left, seen};

pub(super) const ALL: &[Attempt] = &[
    seen("leave the cgroup", "leave"),
    seen("signal a daemon", "kill -0 $GATEWAY").but(&[Landlock(6)]),
    seen("signal everybody", "perl -e 'exit !kill(0, -1)'"),
    seen(
        "signal through a descriptor of a process",
        "perl -e '$p = syscall(434, shift()+0, 0); exit($p < 0 || syscall(424, $p, 0, 0, 0) < 0)' $WITNESS",
    )
    .but(&[Landlock(6)]),
    seen("signal a thread", "sys 234 $WITNESS $WITNESS 0").but(&[Landlock(6)]),
    seen(
        "queue a signal",
        "perl -e '$i = pack(\"iii\", 0, 0, -1) . \"\\0\" x 116; exit(syscall(129, shift()+0, 0, $i) < 0)' $WITNESS",
    )
    .but(&[Landlock(6)]),
    seen("trace a daemon", "sys 101 16 $WITNESS 0 0"),
    seen("seize a daemon", "sys 101 0x4206 $WITNESS 0 0"),
    seen(
        "read a daemon's memory at once",
        "perl -e '$b = \"x\" x 16; $v = pack(\"QQ\", unpack(\"Q\", pack(\"P\", $b)), 16); open(F, \"<\", \"/proc/$ARGV[0]/maps\"); ($a) = <F> =~ /^([0-9a-f]+)/; $r = pack(\"QQ\", hex($a), 16); exit(syscall(310, $ARGV[0]+0, $v, 1, $r, 1, 0) != 16)' $WITNESS",
    ),
    seen(
        "take a descriptor of a daemon's",
        "perl -e '$p = syscall(434, shift()+0, 0); exit(syscall(438, $p, 0, 0) < 0)' $WITNESS",
    ),
    seen("compare a daemon's descriptors", "sys 312 $WITNESS $WITNESS 0 0 0"),
    seen(
        "find a daemon's list of locks",
        "perl -e '$h = $l = \"x\" x 8; exit(syscall(274, shift()+0, $h, $l) < 0)' $WITNESS",
    ),
    seen(
        "write into a daemon's memory",
        "perl -e 'open(F, \"+<\", \"/proc/$ARGV[0]/mem\") or exit 1' $WITNESS",
    ),
    seen(
        "have a daemon killed first",
        "echo 1000 >/proc/$WITNESS/oom_score_adj",
    ),
    seen("limit a daemon", "perl -e '$l = \"x\" x 16; exit(syscall(302, shift()+0, 7, 0, $l) < 0)' $WITNESS")
        .but(&[Priorities]),
    seen("slow a daemon down", "renice -n 1 -p $WITNESS").but(&[Priorities]),
    seen(
        "keep a daemon on one processor",
        "perl -e '$m = pack(\"Q\", 1); exit(syscall(203, shift()+0, 8, $m) < 0)' $WITNESS",
    )
    .but(&[Priorities]),
    seen(
        "give a daemon another schedule",
        "perl -e '$p = pack(\"i\", 0); exit(syscall(144, shift()+0, 3, $p) < 0)' $WITNESS",
    )
    .but(&[Priorities]),
    seen("see the processes of others", "test -d /proc/$WITNESS").but(&[Names]),
    seen("attach shared memory", "sys 30 $SEGMENT 0 4096"),
    seen("make shared memory", "sys 29 4711 4096 950"),
    seen(
        "read another process's messages",
        "perl -e '$m = \"x\" x 264; exit(syscall(70, shift()+0, $m, 256, 0, 024000 | 04000) < 0)' $QUEUE",
    ),
    left(
        "leave a queue of messages",
        "perl -e '$n = \"escape-$ENV{PORT}\"; syscall(240, $n, 0102, 0600, 0)'",
        "perl -e '$n = \"escape-$ENV{PORT}\"; $q = syscall(240, $n, 0, 0, 0); syscall(241, $n); exit($q < 0)'",
    ),
    left(
        "leave a semaphore",
        "perl -e 'syscall(64, 9000 + $ENV{PORT}, 1, 01666)'",
        "perl -e '$s = syscall(64, 9000 + $ENV{PORT}, 1, 0); $s >= 0 or exit 1; syscall(66, $s, 0, 0, 0)'",
    ),
];
