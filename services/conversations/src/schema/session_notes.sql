CREATE TABLE session_notes (
    agent_id TEXT NOT NULL, session_key TEXT NOT NULL, entry TEXT NOT NULL, base TEXT NOT
    NULL, PRIMARY KEY (agent_id, session_key)
) WITHOUT ROWID;
-- By state it changed with each; the open ones are looked for in order of time.
DROP INDEX open_runs;
CREATE INDEX open_runs ON runs (created_ms) WHERE ended_ms IS NULL;
