CREATE INDEX ix_evidence_log_fact ON evidence_log (kind, speaks_of);

CREATE TABLE clearance (
    id INTEGER NOT NULL,
    mode TEXT NOT NULL,
    alpha REAL,
    comparisons INTEGER DEFAULT 0 NOT NULL,
    accepted INTEGER DEFAULT 0 NOT NULL,
    by_whom TEXT NOT NULL,
    why TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    CONSTRAINT pk_clearance PRIMARY KEY (id)
)
 STRICT;
