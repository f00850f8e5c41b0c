//! The network.

use crate::escape::attempt::Gap::{Names, Network, Sockets};
use crate::escape::attempt::{Attempt, left, seen};

pub(super) const ALL: &[Attempt] = &[
    seen("connect to the gateway's port", "tcp 127.0.0.1 18789").but(&[Network]),
    seen("connect to the model itself", "tcp 127.0.0.1 18999").but(&[Network]),
    seen("connect to a private address", "tcp 10.11.12.13 80").but(&[Network]),
    seen("connect to the metadata service", "tcp 169.254.169.254 80").but(&[Network]),
    seen("connect to the internet", "tcp 44.33.22.11 80").but(&[Network]),
    seen("connect to any address of this machine", "tcp 0.0.0.0 18789").but(&[Network]),
    seen(
        "connect to IPv4 as IPv6",
        "perl -MSocket=:all -e 'socket(S, PF_INET6, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in6(18789, inet_pton(AF_INET6, \"::ffff:127.0.0.1\"))) or exit 1'",
    )
    .but(&[Network]),
    seen(
        "connect with the first data",
        "perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) && send(S, \"GET / HTTP/1.1\\r\\n\\r\\n\", 0x20000000, pack_sockaddr_in(18999, inet_aton(\"127.0.0.1\"))) or exit 1; $SIG{ALRM} = sub { exit 1 }; alarm 5; exit !sysread(S, $x, 10)'",
    )
    .but(&[Network]),
    seen(
        "connect with the first data of a message",
        "perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) or exit 1; $t = \"GET / HTTP/1.1\\r\\n\\r\\n\"; $v = pack(\"PQ\", $t, length $t); $n = pack_sockaddr_in(18999, inet_aton(\"127.0.0.1\")); $m = pack(\"PIx4PQQQi x4\", $n, 16, $v, 1, 0, 0, 0); syscall(46, fileno(S), $m, 0x20000000) > 0 or exit 1; $SIG{ALRM} = sub { exit 1 }; alarm 5; exit !sysread(S, $x, 10)'",
    )
    .but(&[Network]),
    seen(
        "connect over several paths",
        "perl -MSocket -e '$SIG{ALRM} = sub { exit 1 }; alarm 5; socket(S, PF_INET, SOCK_STREAM, 262) && connect(S, pack_sockaddr_in(18789, inet_aton(\"127.0.0.1\"))) or exit 1'",
    )
    .but(&[Network]),
    seen(
        "send a datagram",
        "perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0) && send(S, \"x\", 0, pack_sockaddr_in(53, inet_aton(\"10.11.12.13\"))) or exit 1'",
    )
    .but(&[Network]),
    seen(
        "ask a name server",
        "perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0) && connect(S, pack_sockaddr_in(53, inet_aton(\"10.11.12.13\"))) && syswrite(S, \"x\") or exit 1'",
    )
    .but(&[Network]),
    left(
        "listen where others knock",
        "perl -MSocket -e '$SIG{ALRM} = sub { exit 1 }; alarm 2; socket(S, PF_INET, SOCK_STREAM, 0) && setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1) && bind(S, pack_sockaddr_in($ENV{PORT}, INADDR_ANY)) && listen(S, 9) && accept(C, S) or exit 1' && echo x >knocked",
        "test -e $WORK/knocked && rm $WORK/knocked",
    )
    .but(&[Network]),
    seen("ask for interfaces", "perl -e 'exit !socket(S, 16, 3, 0)'").but(&[Sockets]),
    seen("ask for the firewall", "perl -e 'exit !socket(S, 16, 3, 12)'"),
    seen("ask for connections", "perl -e 'exit !socket(S, 16, 3, 4)'"),
    seen(
        "see the machine's connections",
        "grep -q ':4965 ' /proc/net/tcp",
    )
    .but(&[Names, Network]),
    // Through the agent's proxy where it has one.
    seen("reach a private address", "fetch 10.11.12.13:80").but(&[Network]),
    seen("reach a private address by name", "fetch private.example:80").but(&[Network]),
    seen("reach the metadata service", "fetch 169.254.169.254:80").but(&[Network]),
    seen("reach what is not on the list", "fetch 44.33.22.11:443").but(&[Network]),
    seen("reach another port of a host on the list", "fetch public.example:8080").but(&[Network]),
    seen("reach the gateway", "fetch localhost:18789").but(&[Network]),
    seen("reach the gateway by a number", "fetch 2130706433:18789").but(&[Network]),
    seen("reach the gateway by a short number", "fetch 127.1:18789").but(&[Network]),
];
