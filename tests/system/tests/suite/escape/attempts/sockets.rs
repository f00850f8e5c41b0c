//! Sockets, the service manager, and descriptors passed along.

use crate::escape::attempt::Gap::Kept;
use crate::escape::attempt::{Attempt, left, seen};

pub(super) const ALL: &[Attempt] = &[
    seen("reach the message bus", "unix $BUS"),
    seen("reach systemd's private socket", "unix $PRIVATE"),
    seen("reach the gateway's control socket", "unix $S/gateway.sock"),
    seen("reach the agent-runner's socket", "unix $S/runner.sock"),
    seen("reach the memory daemon's socket", "unix $S/memory.sock"),
    seen("reach the system bus", "unix /run/dbus/system_bus_socket"),
    seen(
        "reach the journal's socket",
        "unix /run/systemd/journal/stdout",
    ),
    seen("reach an abstract socket", "abstract escape-witness-$SIDE"),
    seen(
        "reach the bus through another process's root",
        "unix /proc/$WITNESS/root$BUS",
    ),
    seen(
        "log with a datagram",
        "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_DGRAM, 0) && send(S, \"MESSAGE=escape\\n\", 0, pack_sockaddr_un(\"/run/systemd/journal/socket\")) or exit 1'",
    ),
    seen(
        "log through a pair of datagram sockets",
        "perl -MSocket -e 'socketpair(S, T, PF_UNIX, SOCK_DGRAM, 0) && send(S, \"MESSAGE=escape\\n\", 0, pack_sockaddr_un(\"/run/systemd/journal/socket\")) or exit 1'",
    ),
    seen(
        "log through a pair of raw sockets",
        "perl -MSocket -e 'socketpair(S, T, PF_UNIX, SOCK_RAW, 0) && send(S, \"MESSAGE=escape\\n\", 0, pack_sockaddr_un(\"/run/systemd/journal/socket\")) or exit 1'",
    ),
    seen(
        "reach the journal with packets",
        "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_SEQPACKET, 0) or exit 1'",
    ),
    left(
        "tell systemd that a service is ready",
        "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_DGRAM, 0) && send(S, \"STATUS=escape\", 0, pack_sockaddr_un($ENV{NOTIFY})) or exit 1' && echo x >told",
        "test -e $WORK/told && rm $WORK/told",
    ),
    left(
        "offer a socket in the home",
        "perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un(\"$ENV{H}/escape-socket-$ENV{A}\"))'",
        "test -S $H/escape-socket-$A",
    ),
    left(
        "start a transient unit",
        "$RUN --wait touch $H/escape-unit-$A",
        "test -e $H/escape-unit-$A",
    ),
    left(
        "keep a child alive",
        "$RUN sleep 432$PORT; (setsid sleep 432$PORT </dev/null >/dev/null 2>&1 &)",
        "pgrep -f \"^/?[a-z/]*sleep 432$PORT\"",
    )
    .but(&[Kept]),
    seen(
        "pass a descriptor over the turn socket",
        r#"perl -MSocket -e '
            my $taken;
            for ($pid = getppid; $pid > 1; $pid = $next) {
                open(S, "<", "/proc/$pid/status") or last; ($next) = join("", <S>) =~ /PPid:\s(\d+)/;
                my $p = syscall(434, $pid + 0, 0); next if $p < 0;
                my $fd = syscall(438, $p, 0, 0); next if $fd < 0;
                open(F, "+<&=", $fd) or next; -S F and $taken = $fd and last;
            }
            $taken or exit 1;
            # Nothing to read beside it: whoever reads at the other end is to go on.
            my $byte = "\n"; my $piece = pack("PQ", $byte, 0);
            my $control = pack("Qiii", 20, 1, 1, 0) . "\0" x 4;
            my $message = pack("QIx4PQPQI", 0, 0, $piece, 1, $control, 24, 0) . "\0" x 4;
            exit(syscall(46, $taken + 0, $message, 0) < 0)'"#,
    ),
    seen(
        "take what the agent's words go to",
        "perl -e '$p = syscall(434, shift()+0, 0); exit(syscall(438, $p, 1, 0) < 0)' $TOP",
    ),
    seen(
        "hear the kernel's device events",
        "perl -e 'exit !socket(S, 16, 3, 15)'",
    ),
    seen(
        "use the kernel's cryptography socket",
        "perl -e 'exit !socket(S, 38, 5, 0)'",
    )
    .where_it_is(),
    seen(
        "reach the hypervisor",
        "perl -e 'exit !socket(S, 40, 1, 0)'",
    ),
    seen(
        "reach an abstract socket with connect after a pair",
        "perl -MSocket -e 'socketpair(S, T, PF_UNIX, SOCK_DGRAM, 0) && connect(S, pack_sockaddr_un(\"\\0escape-datagram-$ENV{SIDE}\")) && send(S, \"x\", 0) or exit 1'",
    ),
];
