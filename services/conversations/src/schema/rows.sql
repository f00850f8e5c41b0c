DROP INDEX open_runs;
DROP INDEX runs_by_seq;
ALTER TABLE turns RENAME TO old_turns;
ALTER TABLE runs RENAME TO old_runs;
ALTER TABLE session_notes RENAME TO old_session_notes;
CREATE TABLE runs (
    run_id TEXT NOT NULL PRIMARY KEY, idempotency_key TEXT UNIQUE, session_key TEXT NOT
    NULL, agent_id TEXT NOT NULL, session_id TEXT NOT NULL, channel TEXT NOT NULL, state
    TEXT NOT NULL CHECK (state IN ('accepted', 'running', 'done', 'failed', 'aborted',
    'interrupted')), user_entry_id TEXT NOT NULL, created_ms INTEGER NOT NULL, ended_ms
    INTEGER, reason TEXT, outcome TEXT, accepted_seq INTEGER, started_seq INTEGER,
    started_ms INTEGER, ended_seq INTEGER, entries TEXT, route TEXT
);
CREATE TABLE turns (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE, unit TEXT NOT NULL,
    cpu_ms INTEGER NOT NULL, memory_peak_bytes INTEGER NOT NULL, tasks_peak INTEGER NOT
    NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL
) WITHOUT ROWID;
CREATE TABLE session_notes (
    agent_id TEXT NOT NULL, session_key TEXT NOT NULL, entry TEXT NOT NULL, base TEXT NOT
    NULL, PRIMARY KEY (agent_id, session_key)
);
INSERT INTO runs (run_id, idempotency_key, session_key, agent_id, session_id, channel, state,
        user_entry_id, created_ms, ended_ms, reason, outcome, accepted_seq, started_seq,
        started_ms, ended_seq, entries, route)
    SELECT run_id, idempotency_key, session_key, agent_id, session_id, channel, state,
        user_entry_id, created_ms, ended_ms, reason, outcome, accepted_seq, started_seq,
        started_ms, ended_seq, entries, route
    FROM old_runs ORDER BY accepted_seq;
INSERT INTO turns SELECT * FROM old_turns;
INSERT INTO session_notes SELECT * FROM old_session_notes;
-- The turns first: they would go with their runs.
DROP TABLE old_turns;
DROP TABLE old_runs;
DROP TABLE old_session_notes;
CREATE INDEX open_runs ON runs (created_ms) WHERE ended_ms IS NULL;
CREATE INDEX runs_by_seq ON runs (accepted_seq);
