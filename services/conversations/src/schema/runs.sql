CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, idempotency_key TEXT UNIQUE, session_key TEXT NOT NULL,
    agent_id TEXT NOT NULL, session_id TEXT NOT NULL, channel TEXT NOT NULL, state TEXT NOT
    NULL CHECK (state IN ('accepted', 'running', 'done', 'failed', 'aborted',
    'interrupted')), user_entry_id TEXT NOT NULL, created_ms INTEGER NOT NULL, ended_ms
    INTEGER, reason TEXT, outcome TEXT
) WITHOUT ROWID;
CREATE INDEX open_runs ON runs (state) WHERE ended_ms IS NULL;
