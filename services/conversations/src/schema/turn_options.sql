-- What messages that have not ended want for their turns alone.
-- Since version 13. Messages of before say nothing of it, and go on as their sessions say.
CREATE TABLE turn_options (
    accepted_seq INTEGER PRIMARY KEY REFERENCES runs (accepted_seq) ON DELETE CASCADE,
    options TEXT NOT NULL
);
