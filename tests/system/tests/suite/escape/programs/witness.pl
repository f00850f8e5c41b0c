# What other processes of the user hold: open files, a folder, abstract sockets, shared memory, a queue of messages, a
# terminal.
chdir $ENV{H}; use Socket; $| = 1;
open(STDIN, "<", "$ENV{H}/.ssh/id_ed25519") or die;
socket(S, PF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un("\0escape-witness-$ENV{SIDE}")) && listen(S, 99) or die;
socket(D, PF_UNIX, SOCK_DGRAM, 0) && bind(D, pack_sockaddr_un("\0escape-datagram-$ENV{SIDE}")) or die;
my $number = $ENV{SIDE} eq "root" ? 8 : 7;
my $segment = shmget($number, 4096, 01600) // die;
my $queue = msgget($number, 01600) // die;
# Each reader takes one away.
msgsnd($queue, pack("l! a*", 1, "ESCAPE-MESSAGE"), 0) or die for 1 .. 200;
# Always number 9.
open(H, "+>", "$ENV{H}/victims/held") or die; syscall(33, fileno(H), 9);
sysopen(M, "/dev/ptmx", 2 | 0400) or die;
my $zero = pack("i", 0); ioctl(M, 0x40045431, $zero) or die;
my $pts = pack("i", 0); ioctl(M, 0x80045430, $pts) or die; $pts = unpack("i", $pts);
sysopen(T, "/dev/pts/$pts", 2 | 0400) or die;
open(F, ">", "$ENV{H}/witness.tmp") or die;
print F "WITNESS=$$ SEGMENT=$segment QUEUE=$queue PTS=$pts\n"; close F;
rename "$ENV{H}/witness.tmp", "$ENV{H}/witness.ready";
open(O, ">>", "$ENV{H}/victims/terminal") or die;
while (sysread(M, my $typed, 4096)) { syswrite O, $typed }
sleep 10000;
