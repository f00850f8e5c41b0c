DROP INDEX open_runs;
DROP INDEX runs_by_seq;
ALTER TABLE turns RENAME TO old_turns;
ALTER TABLE runs RENAME TO old_runs;
CREATE TABLE runs (
    accepted_seq INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, idempotency_key TEXT
    UNIQUE, session_key TEXT NOT NULL, agent_id TEXT NOT NULL, session_id TEXT NOT NULL,
    channel TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('accepted', 'running',
    'done', 'failed', 'aborted', 'interrupted')), user_entry_id TEXT NOT NULL, created_ms
    INTEGER NOT NULL, ended_ms INTEGER, reason TEXT, outcome TEXT, started_seq INTEGER,
    started_ms INTEGER, ended_seq INTEGER, entries TEXT, route TEXT
);
CREATE TABLE turns (
    accepted_seq INTEGER PRIMARY KEY REFERENCES runs (accepted_seq) ON DELETE CASCADE, unit
    TEXT NOT NULL, cpu_ms INTEGER NOT NULL, memory_peak_bytes INTEGER NOT NULL, tasks_peak
    INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
    cost_usd REAL
);
INSERT INTO runs (accepted_seq, run_id, idempotency_key, session_key, agent_id, session_id,
        channel, state, user_entry_id, created_ms, ended_ms, reason, outcome, started_seq,
        started_ms, ended_seq, entries, route)
    SELECT accepted_seq, run_id, idempotency_key, session_key, agent_id, session_id,
        channel, state, user_entry_id, created_ms, ended_ms, reason, outcome, started_seq,
        started_ms, ended_seq, entries, route
    FROM old_runs ORDER BY accepted_seq;
INSERT INTO turns (accepted_seq, unit, cpu_ms, memory_peak_bytes, tasks_peak, input_tokens,
        output_tokens, cost_usd)
    SELECT accepted_seq, unit, cpu_ms, memory_peak_bytes, tasks_peak, input_tokens,
        output_tokens, cost_usd
    FROM old_turns JOIN runs USING (run_id) ORDER BY accepted_seq;
-- The turns first: they would go with their runs.
DROP TABLE old_turns;
DROP TABLE old_runs;
CREATE INDEX open_runs ON runs (created_ms) WHERE ended_ms IS NULL;
