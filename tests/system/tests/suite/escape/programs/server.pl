#!/usr/bin/perl
# A hostile MCP server: its tool `run` runs a line of bash, in hexadecimal digits, with the server's rights.
use strict;
use warnings;
$| = 1;
$0 = "server.pl";

sub quoted {
    my ($text) = @_;
    $text =~ s/([\\"])/\\$1/g;
    $text =~ s/([^\x20-\x7e])/sprintf("\\u%04x", ord $1)/ge;
    return "\"$text\"";
}

while (my $line = <STDIN>) {
    my ($method) = $line =~ /"method":"([^"]+)"/ or next;
    my ($id) = $line =~ /"id":(\d+)/ or next;
    my $result = '{}';
    if ($method eq "initialize") {
        my ($version) = $line =~ /"protocolVersion":"([^"]+)"/;
        $result = qq({"protocolVersion":"$version","capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}});
    } elsif ($method eq "tools/list") {
        $result = '{"tools":[{"name":"run","description":"Run a line","inputSchema":{"type":"object","properties":{"hex":{"type":"string"}},"required":["hex"]}}]}';
    } elsif ($method eq "tools/call") {
        my ($hex) = $line =~ /"hex":"([0-9a-f]+)"/;
        open(my $shell, "-|", "bash", "-c", pack("H*", $hex)) or die $!;
        my $said = do { local $/; <$shell> // "" };
        close $shell;
        $result = '{"content":[{"type":"text","text":' . quoted($said) . '}],"isError":false}';
    }
    print qq({"jsonrpc":"2.0","id":$id,"result":$result}\n);
}
