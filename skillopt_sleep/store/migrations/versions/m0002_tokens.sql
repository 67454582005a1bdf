CREATE TABLE message (
    "key" INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    CONSTRAINT pk_message PRIMARY KEY ("key"),
    CONSTRAINT fk_message_session_id FOREIGN KEY(session_id) REFERENCES session (id)
)
 STRICT;

CREATE TABLE usage (
    id INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    tokens BLOB NOT NULL,
    CONSTRAINT pk_usage PRIMARY KEY (id),
    CONSTRAINT fk_usage_session_id FOREIGN KEY(session_id) REFERENCES session (id)
)
 STRICT;

CREATE INDEX ix_usage_session_id ON usage (session_id);
