CREATE TABLE IF NOT EXISTS devices (
    device_id TEXT NOT NULL, role TEXT NOT NULL, public_key TEXT NOT NULL, scopes TEXT NOT
    NULL, facts TEXT NOT NULL, token_hash TEXT, created_ms INTEGER NOT NULL, approved_ms
    INTEGER NOT NULL, issued_ms INTEGER, revoked_ms INTEGER, last_used_ms INTEGER, PRIMARY
    KEY (device_id, role)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pairings (
    request_id TEXT PRIMARY KEY, device_id TEXT NOT NULL, role TEXT NOT NULL, public_key
    TEXT NOT NULL, scopes TEXT NOT NULL, facts TEXT NOT NULL, created_ms INTEGER NOT NULL,
    UNIQUE (device_id, role)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (
    job_id TEXT PRIMARY KEY, job TEXT NOT NULL, next_ms INTEGER, updated_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS job_runs (
    number INTEGER PRIMARY KEY, job_id TEXT NOT NULL, run_id TEXT, ended_ms INTEGER NOT
    NULL, entry TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS heartbeats (
    number INTEGER PRIMARY KEY CHECK (number = 1), event TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS approvals (
    approval_id TEXT PRIMARY KEY, run_id TEXT NOT NULL, session_key TEXT NOT NULL, agent_id
    TEXT NOT NULL, tool TEXT NOT NULL, command TEXT NOT NULL, cwd TEXT NOT NULL, reason TEXT
    NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, decision TEXT NOT
    NULL, decided_by TEXT NOT NULL, decided_ms INTEGER NOT NULL, form TEXT NOT NULL DEFAULT
    ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS command_grants (
    agent_id TEXT NOT NULL, form TEXT NOT NULL, command TEXT NOT NULL, directory TEXT NOT
    NULL, created_ms INTEGER NOT NULL, granted_by TEXT NOT NULL, PRIMARY KEY (agent_id,
    form, command, directory)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS job_runs_by_job ON job_runs (job_id, number);
