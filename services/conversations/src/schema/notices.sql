CREATE TABLE notices (
    notice_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    session_key   TEXT NOT NULL,
    text          TEXT NOT NULL,
    at_ms         INTEGER NOT NULL
);
CREATE INDEX notices_by_session ON notices (session_key, notice_id);
