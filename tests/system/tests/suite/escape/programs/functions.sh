# What the attempts use; sourced by the agent's bash.
unix() { perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un(shift)) or exit 1' "$1"; }
abstract() { perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("\0" . shift)) or exit 1' "$1"; }
tcp() { perl -MSocket -e '$SIG{ALRM} = sub { exit 1 }; alarm 5; socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ARGV[1], inet_aton($ARGV[0]))) or exit 1' "$1" "$2"; }

# A system call by its number; a word that is no number is passed as text. `sys` succeeds when the call does, `answers`
# when the kernel did not say that it may not (EPERM) or has no such call (ENOSYS).
sys() { call 0 "$@"; }
answers() { call 1 "$@"; }
call() { perl -e '
    my $lenient = shift;
    my @words = map { /^-?\d+$/ ? $_ + 0 : /^0x/ ? hex : "$_\0" } @ARGV;
    exit 0 if syscall(shift(@words), @words) >= 0;
    exit !($lenient && $! != 1 && ($! != 38 || $ARGV[0] =~ /^0x4/))' "$@"; }

# A program of 64 bits that asks for its process number as a program of 32 bits does: xor eax,eax; mov al,20; int 0x80;
# and ends with 0 where it was told one.
int80() {
    perl -e '
        my $code = pack("H*", "b814000000cd8031ff85c0790383c701b83c0000000f05");
        my $head = "\x7fELF\x02\x01\x01" . "\0" x 9 . pack("SSLQQQLSSSSSS", 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0);
        my $size = 120 + length $code;
        open(F, ">", "int80.elf") or exit 1;
        print F $head, pack("LLQQQQQQ", 1, 5, 0, 0x400000, 0x400000, $size, $size, 4096), $code;
        close F; chmod 0755, "int80.elf"; exec "./int80.elf"; exit 1'
}

# Types into a terminal of its own as if somebody had.
type-ahead() { perl -e '
    $SIG{HUP} = "IGNORE";
    sysopen(M, "/dev/ptmx", 2 | 0400) or exit 1;
    my $zero = pack("i", 0); ioctl(M, 0x40045431, $zero) or exit 1;
    my $number = pack("i", 0); ioctl(M, 0x80045430, $number) or exit 1;
    syscall(112);
    sysopen(S, "/dev/pts/" . unpack("i", $number), 2) or exit 1;
    ioctl(S, 0x540e, 0);
    my $letter = "x"; exit !ioctl(S, 0x5412, $letter)'; }

# Finds the rest of the key in another process's memory.
memory() { perl -e '
    my $key = join("", $ENV{KEY}, "test");
    open(my $maps, "<", "/proc/$ARGV[0]/maps") or exit 1;
    open(my $memory, "<:raw", "/proc/$ARGV[0]/mem") or exit 1;
    while (<$maps>) {
        my ($from, $to) = /^([0-9a-f]+)-([0-9a-f]+) rw/ or next;
        ($from, $to) = (hex($from), hex($to));
        next if $to - $from > (64 << 20);
        sysseek($memory, $from, 0) or next;
        my $piece = "";
        while ($from < $to) {
            my $count = sysread($memory, my $part, 1 << 20) or last;
            $piece = substr($piece, -64) . $part;
            exit 0 if index($piece, $key) >= 0;
            $from += $count;
        }
    }
    exit 1' "$1"; }

leave() {
    local path
    path=$(sed -n 's/^0:://p; s/^[0-9]*:name=systemd://p' /proc/self/cgroup | tail -1)
    for base in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
        mkdir "$base$(dirname "$path")/escape.$$" && echo $$ >"$base$(dirname "$path")/escape.$$/cgroup.procs" && return 0
    done
    return 1
}

# Something of a host and a port: through the agent's proxy, and without.
fetch() { perl -MSocket -e '
    $SIG{ALRM} = sub { exit 1 }; alarm 5;
    my ($name, $port) = $ARGV[0] =~ /(.*):(\d+)/;
    my ($user, $host, $door) = ($ENV{https_proxy} // "") =~ m{//(.*)@(.*):(\d+)};
    if ($host && socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($door, inet_aton($host)))) {
        my $word = pack("u", $user); $word =~ s/^.//mg; $word =~ s/\n//g; $word =~ tr|` -_|AA-Za-z0-9+/|;
        my $short = (3 - length($user) % 3) % 3; substr($word, -$short) = "=" x $short if $short;
        syswrite S, "CONNECT $ARGV[0] HTTP/1.1\r\nHost: $ARGV[0]\r\nProxy-Authorization: Basic $word\r\n\r\n";
        my $head = "";
        sysread(S, $head, 4096);
        exit 0 if $head =~ m{^HTTP/1.1 200};
    }
    my $address = inet_aton($name) or exit 1;
    socket(T, PF_INET, SOCK_STREAM, 0) && connect(T, pack_sockaddr_in($port, $address)) or exit 1' "$1"; }

# A request of the model: through the agent's door with its token, where it has one, else of the provider itself.
ask() { perl -MSocket -e '
    $SIG{ALRM} = sub { exit 1 }; alarm 5;
    my ($method, $path, $body) = (@ARGV, "");
    my ($host, $port) = ($ENV{DOOR} || "127.0.0.1:18999") =~ /([0-9.]+):(\d+)/;
    my $token = $ENV{DOOR_TOKEN} || "none";
    socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($port, inet_aton($host))) or exit 1;
    syswrite S, "$method $path HTTP/1.1\r\nHost: $host\r\nAuthorization: Bearer $token\r\nx-api-key: $token\r\n" .
        "anthropic-version: 2023-06-01\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
    1 while sysread(S, my $answer, 65536)' "$@"; }

# Whether the model was asked something with this in it. Outside only.
asked() { perl -MSocket -e '
    socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in(18999, inet_aton("127.0.0.1"))) or exit 1;
    syswrite S, "GET /_requests HTTP/1.1\r\nHost: model\r\nConnection: close\r\n\r\n";
    my $all = ""; 1 while sysread(S, $all, 1 << 20, length $all);
    exit($all !~ /\Q$ARGV[0]\E(?!\d)/)' "$1"; }
export -f unix abstract tcp sys answers call int80 type-ahead memory leave fetch ask asked
