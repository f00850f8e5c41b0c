umask 077
mkdir -p $H/.ssh $H/.claude $H/.codex $H/.config/gh $H/.config/openclaw $H/private-bin $H/victims
mkdir -p $STATE/agents/main/agent $STATE/agents/main/home $STATE/other
echo ESCAPE-SSH >$H/.ssh/id_ed25519
echo '{"claudeAiOauth":{"accessToken":"ESCAPE-LOGIN","expiresAt":99999999999999}}' >$H/.claude/.credentials.json
echo '{"OPENAI_API_KEY":"ESCAPE-LOGIN"}' >$H/.codex/auth.json
echo 'oauth_token: ESCAPE-TOKEN' >$H/.config/gh/hosts.yml
echo 'login ESCAPE-HISTORY' >$H/.bash_history
printf '#!/bin/sh\necho ESCAPE-TOOL\n' >$H/private-bin/tool
chmod 700 $H/private-bin/tool
ln -sfn /secret-place $H/pointer
perl -e '($f, $n, $v) = ("$ENV{H}/.ssh/id_ed25519", "user.escape", "ESCAPE-ATTRIBUTE"); syscall(188, $f, $n, $v, length $v, 0)'
: >$H/victims/held
: >$H/victims/terminal
echo ESCAPE-OTHER >$STATE/other/notes
echo ESCAPE-HOME >$STATE/agents/main/home/notes
echo '{"version":1,"profiles":{"openai:other":{"type":"api_key","provider":"openai","key":"ESCAPE-AUTH"}}}' >$STATE/agents/main/agent/auth-profiles.json
printf 'ANTHROPIC_API_KEY=sk-system-test\nOPENAI_API_KEY=sk-system-test\nESCAPE_MARKER=escape-marker-value\n' >$H/.config/openclaw/env
