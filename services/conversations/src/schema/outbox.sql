CREATE TABLE outbox (
    delivery_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, kind TEXT NOT
    NULL, channel TEXT NOT NULL, account TEXT NOT NULL, target TEXT NOT NULL, chat TEXT,
    thread TEXT NOT NULL, session_key TEXT NOT NULL, agent_id TEXT NOT NULL, run_id TEXT NOT
    NULL, facts TEXT NOT NULL, about INTEGER, state TEXT NOT NULL CHECK (state IN
    ('pending', 'leased', 'delivered', 'failed')), attempts INTEGER NOT NULL, not_before_ms
    INTEGER NOT NULL, provider_ids TEXT NOT NULL, reason TEXT NOT NULL, created_ms INTEGER
    NOT NULL, changed_ms INTEGER NOT NULL
);
CREATE INDEX open_deliveries ON outbox (channel, account, target, thread, delivery_id)
    WHERE state IN ('pending', 'leased');
