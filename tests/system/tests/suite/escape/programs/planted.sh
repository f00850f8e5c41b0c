# What the test of what is left behind does outside, with the variables of a side.

# Files of the user's that are to stay as they are, and a place for what is said.
prepare() {
    umask 077
    for f in .bashrc .profile .npmrc .inputrc .gitconfig; do echo "# FIXTURE $f" >$H/$f; done
    mkdir -p $H/realdir/rules $OUT
    echo 'key = "own"' >$H/realdir/config.toml
    echo own >$H/realdir/rules/own
    echo '{"claudeAiOauth":{"accessToken":"ESCAPE-ELSEWHERE","expiresAt":99999999999999}}' >$H/realdir/login.json
    : >$OUT/said; : >$OUT/complained
    perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in(18999, inet_aton("127.0.0.1"))) or exit 1;
        syswrite S, "DELETE /_requests HTTP/1.1\r\nHost: model\r\nConnection: close\r\n\r\n"; 1 while sysread(S, $x, 4096)'
}

# Every name, mode, owner, time and content.
snapshot() {
    cd $H && for f in .bashrc .profile .npmrc .inputrc .gitconfig .bash_history .ssh .claude .codex .config realdir private-bin; do
        find $f -printf '%p %y %m %U %l %T@\n' -type f -exec sha256sum {} ';'
    done | sort
}

# Where something is found that must not be: in what was said, the state, the workspaces, the journal, what the model
# was asked; but for the files that it belongs in.
leaks() {
    # Of a file with a hole only what is there is read.
    find $OUT $STATE $WORKSPACES -type f -size -64M ! -path "$STATE/openclaw.json*" ! -path '*/agent/auth-profiles.json' \
        ! -path "$STATE/config*" ! -name attempts.sh ! -path '*/work/open*' -print0 | xargs -0 grep -aHoE ".{0,60}($1)" | head -n 20
    for archive in $OUT/*.tar.gz; do tar -xzOf $archive 2>/dev/null | grep -aqE "$1" && echo $archive; done
    $JOURNAL -q --no-pager -o cat -u 'openclaw*' | grep -aoE ".{0,80}($1)" | head -n 3 | sed 's/^/the journal: /'
    perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in(18999, inet_aton("127.0.0.1"))) or exit 1;
        syswrite S, "GET /_requests HTTP/1.1\r\nHost: model\r\nConnection: close\r\n\r\n"; print while <S>' \
        | grep -aoE ".{0,80}($1)" | grep -v 'x-api-key\|uthorization' | head -n 3 | sed 's/^/what the model was asked: /'
    true
}

# Whether a daemon has ever held more than a gigabyte.
large() {
    for daemon in gateway agent-runner memory; do
        awk '/VmHWM/ { exit !($2 > 1000000) }' /proc/$($SYSTEMCTL show -P MainPID openclaw-$daemon.service)/status && return 0
    done
    return 1
}
export -f large
