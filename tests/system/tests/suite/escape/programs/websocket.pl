#!/usr/bin/perl
# Asks the gateway over its WebSocket: websocket.pl METHOD PARAMETERS; what it answers is printed.
use strict;
use warnings;
use Socket;
$| = 1;
my ($method, $parameters) = @ARGV;
my ($token) = `cat $ENV{STATE}/openclaw.json` =~ /"token":"([^"]+)"/;
socket(my $socket, PF_INET, SOCK_STREAM, 0) && connect($socket, pack_sockaddr_in(18789, inet_aton("127.0.0.1"))) or die "no gateway: $!";
syswrite $socket, "GET / HTTP/1.1\r\nHost: 127.0.0.1:18789\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" .
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
my $text = "";
sub until_seen {
    my ($pattern) = @_;
    while ($text !~ /$pattern/s) { sysread($socket, $text, 65536, length $text) or die "it ended: $text" }
}
# A frame of text, masked with zeros.
sub tell {
    my ($words) = @_;
    syswrite $socket, pack("CCn", 0x81, 0x80 | 126, length $words) . "\0\0\0\0" . $words;
}
until_seen("connect.challenge");
tell(qq({"type":"req","id":"1","method":"connect","params":{"minProtocol":4,"maxProtocol":4,"client":{"id":"gateway-client",) .
    qq("version":"1.0.0","platform":"linux","mode":"backend"},"role":"operator","scopes":["operator.read","operator.admin"],) .
    qq("auth":{"token":"$token"}}}));
until_seen('"id":"1"');
tell(qq({"type":"req","id":"2","method":"$method","params":$parameters}));
until_seen('"id":"2".*\}');
print "$text\n";
