CREATE TABLE alpha_spend (
    id INTEGER NOT NULL,
    family TEXT NOT NULL,
    nth INTEGER DEFAULT 0 NOT NULL,
    amount REAL,
    earned_back REAL,
    candidate TEXT NOT NULL,
    at_ms INTEGER,
    CONSTRAINT pk_alpha_spend PRIMARY KEY (id),
    CONSTRAINT uq_alpha_spend_family_nth UNIQUE (family, nth)
)
 STRICT;

CREATE TABLE body (
    id INTEGER NOT NULL,
    digest BLOB NOT NULL,
    codec TEXT NOT NULL,
    bytes BLOB NOT NULL,
    redaction INTEGER DEFAULT 0 NOT NULL,
    tombstone_ms INTEGER,
    CONSTRAINT pk_body PRIMARY KEY (id),
    CONSTRAINT ck_body_codec_known CHECK (codec IN ('raw', 'zstd')),
    CONSTRAINT uq_body_digest UNIQUE (digest)
)
 STRICT;

CREATE TABLE comparison (
    id TEXT NOT NULL,
    night TEXT DEFAULT '' NOT NULL,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    mode TEXT NOT NULL,
    family TEXT DEFAULT '' NOT NULL,
    nth INTEGER,
    alpha REAL,
    tasks TEXT DEFAULT '' NOT NULL,
    agent TEXT DEFAULT '' NOT NULL,
    models TEXT DEFAULT '[]' NOT NULL,
    boundaries TEXT DEFAULT '[]' NOT NULL,
    evidence TEXT DEFAULT 'recorded' NOT NULL,
    verdict TEXT DEFAULT '' NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    metric TEXT DEFAULT 'hard' NOT NULL,
    "before" REAL,
    "after" REAL,
    effect REAL,
    low REAL,
    high REAL,
    p REAL,
    e REAL,
    e_reverse REAL,
    pairs INTEGER DEFAULT 0 NOT NULL,
    coverage REAL,
    opened REAL,
    deterministic INTEGER CONSTRAINT ck_comparison_deterministic_flag CHECK (deterministic IN (0, 1)),
    counts TEXT DEFAULT '{}' NOT NULL,
    needs TEXT DEFAULT '' NOT NULL,
    repeats INTEGER DEFAULT 0 NOT NULL,
    bets TEXT DEFAULT '[]' NOT NULL,
    begun_ms INTEGER,
    ended_ms INTEGER,
    CONSTRAINT pk_comparison PRIMARY KEY (id)
)
 STRICT;

CREATE INDEX ix_comparison_night ON comparison (night);

CREATE TABLE evidence_log (
    id INTEGER NOT NULL,
    previous BLOB NOT NULL,
    digest BLOB NOT NULL,
    kind TEXT NOT NULL,
    speaks_of TEXT DEFAULT '[]' NOT NULL,
    at_ms INTEGER NOT NULL,
    CONSTRAINT pk_evidence_log PRIMARY KEY (id),
    CONSTRAINT uq_evidence_log_digest UNIQUE (digest)
)
 STRICT;

CREATE TABLE night (
    id TEXT NOT NULL,
    date TEXT NOT NULL,
    zone TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    state TEXT DEFAULT 'running' NOT NULL,
    pid INTEGER DEFAULT 0 NOT NULL,
    boot TEXT DEFAULT '' NOT NULL,
    heartbeat_ms INTEGER,
    fence INTEGER DEFAULT 0 NOT NULL,
    config TEXT DEFAULT '' NOT NULL,
    resumed_from TEXT DEFAULT '' NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    report TEXT DEFAULT 'null' NOT NULL,
    begun_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    CONSTRAINT pk_night PRIMARY KEY (id),
    CONSTRAINT ck_night_trigger_known CHECK (trigger IN ('manual', 'scheduled', 'caught_up')),
    CONSTRAINT ck_night_state_known CHECK (state IN ('running', 'done', 'failed', 'interrupted'))
)
 STRICT;

CREATE INDEX ix_night_state ON night (state);

CREATE UNIQUE INDEX uq_night_scheduled ON night (date) WHERE trigger <> 'manual';

CREATE TABLE project (
    id INTEGER NOT NULL,
    root TEXT NOT NULL,
    git_root TEXT DEFAULT '' NOT NULL,
    cwd TEXT DEFAULT '' NOT NULL,
    remote TEXT DEFAULT '' NOT NULL,
    worktree TEXT DEFAULT '' NOT NULL,
    first_seen_ms INTEGER,
    CONSTRAINT pk_project PRIMARY KEY (id),
    CONSTRAINT uq_project_root UNIQUE (root)
)
 STRICT;

CREATE TABLE root (
    id INTEGER NOT NULL,
    path TEXT NOT NULL,
    agent TEXT DEFAULT '' NOT NULL,
    project TEXT DEFAULT '' NOT NULL,
    recorded_ms INTEGER NOT NULL,
    removed_ms INTEGER,
    CONSTRAINT pk_root PRIMARY KEY (id),
    CONSTRAINT uq_root_path UNIQUE (path)
)
 STRICT;

CREATE TABLE setting (
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_setting PRIMARY KEY (name)
)
 STRICT;

CREATE TABLE signature (
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    normaliser TEXT DEFAULT '' NOT NULL,
    text TEXT NOT NULL,
    CONSTRAINT pk_signature PRIMARY KEY (id),
    CONSTRAINT uq_signature_kind_normaliser_text UNIQUE (kind, normaliser, text)
)
 STRICT;

CREATE TABLE skill (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    scope TEXT DEFAULT '' NOT NULL,
    kind TEXT NOT NULL,
    route TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_skill PRIMARY KEY (id),
    CONSTRAINT uq_skill_scope_kind_name UNIQUE (scope, kind, name),
    CONSTRAINT ck_skill_kind_known CHECK (kind IN ('learned', 'hand-written', 'memory'))
)
 STRICT;

CREATE TABLE skip (
    id INTEGER NOT NULL,
    date TEXT NOT NULL,
    zone TEXT DEFAULT '' NOT NULL,
    "trigger" TEXT DEFAULT '' NOT NULL,
    why TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    CONSTRAINT pk_skip PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE source (
    id INTEGER NOT NULL,
    agent TEXT NOT NULL,
    path TEXT NOT NULL,
    root TEXT DEFAULT '' NOT NULL,
    device INTEGER DEFAULT 0 NOT NULL,
    inode INTEGER DEFAULT 0 NOT NULL,
    size INTEGER DEFAULT 0 NOT NULL,
    mtime_ns INTEGER DEFAULT 0 NOT NULL,
    head TEXT DEFAULT '' NOT NULL,
    "offset" INTEGER DEFAULT 0 NOT NULL,
    "before" TEXT DEFAULT '' NOT NULL,
    parser INTEGER DEFAULT 0 NOT NULL,
    reader_state BLOB DEFAULT (x'') NOT NULL,
    understood INTEGER DEFAULT 0 NOT NULL,
    unknown INTEGER DEFAULT 0 NOT NULL,
    skipped TEXT DEFAULT '{}' NOT NULL,
    state TEXT DEFAULT 'pending' NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    seen_ms INTEGER,
    gone_ms INTEGER,
    CONSTRAINT pk_source PRIMARY KEY (id),
    CONSTRAINT uq_source_agent_path UNIQUE (agent, path),
    CONSTRAINT ck_source_state_known CHECK (state IN ('pending', 'read', 'unreadable', 'excluded', 'gone'))
)
 STRICT;

CREATE TABLE spend (
    id INTEGER NOT NULL,
    night TEXT NOT NULL,
    role TEXT NOT NULL,
    reserved_tokens INTEGER DEFAULT 0 NOT NULL,
    reserved_usd REAL,
    settled_tokens INTEGER,
    settled_usd REAL,
    exact INTEGER CONSTRAINT ck_spend_exact_flag CHECK (exact IN (0, 1)),
    currency TEXT DEFAULT 'USD' NOT NULL,
    prices TEXT DEFAULT '' NOT NULL,
    model TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER NOT NULL,
    settled_ms INTEGER,
    CONSTRAINT pk_spend PRIMARY KEY (id)
)
 STRICT;

CREATE INDEX ix_spend_night ON spend (night);

CREATE TABLE usage (
    id INTEGER NOT NULL,
    "key" INTEGER NOT NULL,
    session_id INTEGER GENERATED ALWAYS AS (id >> 26) VIRTUAL,
    message TEXT NOT NULL,
    input INTEGER DEFAULT 0 NOT NULL,
    output INTEGER DEFAULT 0 NOT NULL,
    cache_read INTEGER DEFAULT 0 NOT NULL,
    cache_write INTEGER DEFAULT 0 NOT NULL,
    model TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER,
    CONSTRAINT pk_usage PRIMARY KEY (id),
    CONSTRAINT uq_usage_key UNIQUE ("key")
)
 STRICT;

CREATE TABLE attempt (
    id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    task TEXT NOT NULL,
    skill TEXT NOT NULL,
    agent TEXT NOT NULL,
    agent_version TEXT DEFAULT '' NOT NULL,
    model TEXT DEFAULT '' NOT NULL,
    settings TEXT DEFAULT '{}' NOT NULL,
    draw INTEGER DEFAULT 0 NOT NULL,
    comparison TEXT DEFAULT '' NOT NULL,
    status TEXT NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    offered INTEGER CONSTRAINT ck_attempt_offered_flag CHECK (offered IN (0, 1)),
    opened INTEGER CONSTRAINT ck_attempt_opened_flag CHECK (opened IN (0, 1)),
    loaded TEXT,
    hard REAL,
    soft REAL,
    failed TEXT DEFAULT '[]' NOT NULL,
    objectives TEXT DEFAULT '{}' NOT NULL,
    prompt BLOB,
    trajectory BLOB,
    native_session TEXT DEFAULT '' NOT NULL,
    night TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER,
    CONSTRAINT pk_attempt PRIMARY KEY (id),
    CONSTRAINT ck_attempt_status_known CHECK (status IN ('done', 'missing')),
    CONSTRAINT uq_attempt_key UNIQUE ("key"),
    CONSTRAINT fk_attempt_prompt FOREIGN KEY(prompt) REFERENCES body (digest),
    CONSTRAINT fk_attempt_trajectory FOREIGN KEY(trajectory) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_attempt_comparison ON attempt (comparison);

CREATE INDEX ix_attempt_task ON attempt (task);

CREATE TABLE comparison_unit (
    comparison_id TEXT NOT NULL,
    n INTEGER DEFAULT 0 NOT NULL,
    unit TEXT NOT NULL,
    "before" REAL,
    "after" REAL,
    d REAL,
    pairs INTEGER DEFAULT 0 NOT NULL,
    began_ms INTEGER DEFAULT 0 NOT NULL,
    tasks TEXT DEFAULT '[]' NOT NULL,
    note TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_comparison_unit PRIMARY KEY (comparison_id, n),
    CONSTRAINT fk_comparison_unit_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE completion (
    id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    settings TEXT DEFAULT '' NOT NULL,
    draw INTEGER DEFAULT 0 NOT NULL,
    asked BLOB,
    reply BLOB,
    status TEXT NOT NULL,
    night TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER,
    CONSTRAINT pk_completion PRIMARY KEY (id),
    CONSTRAINT uq_completion_key UNIQUE ("key"),
    CONSTRAINT fk_completion_asked FOREIGN KEY(asked) REFERENCES body (digest),
    CONSTRAINT fk_completion_reply FOREIGN KEY(reply) REFERENCES body (digest)
)
 STRICT;

CREATE TABLE pattern (
    id TEXT NOT NULL,
    "key" TEXT NOT NULL,
    project TEXT DEFAULT '' NOT NULL,
    kind TEXT NOT NULL,
    friction TEXT DEFAULT '' NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    signature TEXT DEFAULT '' NOT NULL,
    document TEXT DEFAULT 'skill' NOT NULL,
    person TEXT DEFAULT '' NOT NULL,
    sentence TEXT DEFAULT 'null' NOT NULL,
    body BLOB,
    stake_actions INTEGER DEFAULT 0 NOT NULL,
    stake_output_share REAL,
    stake_per_week REAL,
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    first_night TEXT DEFAULT '' NOT NULL,
    last_night TEXT DEFAULT '' NOT NULL,
    retired_ms INTEGER,
    CONSTRAINT pk_pattern PRIMARY KEY (id),
    CONSTRAINT ck_pattern_kind_known CHECK (kind IN ('request', 'friction', 'correction')),
    CONSTRAINT ck_pattern_document_known CHECK (document IN ('skill', 'memory')),
    CONSTRAINT uq_pattern_key UNIQUE ("key"),
    CONSTRAINT fk_pattern_body FOREIGN KEY(body) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_pattern_project ON pattern (project);

CREATE TABLE preference (
    id INTEGER NOT NULL,
    text BLOB,
    origin TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    until_ms INTEGER,
    CONSTRAINT pk_preference PRIMARY KEY (id),
    CONSTRAINT uq_preference_text_origin_since_ms UNIQUE (text, origin, since_ms),
    CONSTRAINT fk_preference_text FOREIGN KEY(text) REFERENCES body (digest)
)
 STRICT;

CREATE TABLE project_alias (
    id INTEGER NOT NULL,
    project_id INTEGER NOT NULL,
    path TEXT NOT NULL,
    kind TEXT DEFAULT 'cwd' NOT NULL,
    CONSTRAINT pk_project_alias PRIMARY KEY (id),
    CONSTRAINT ck_project_alias_kind_known CHECK (kind IN ('cwd', 'worktree', 'moved')),
    CONSTRAINT fk_project_alias_project_id FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT uq_project_alias_path UNIQUE (path)
)
 STRICT;

CREATE TABLE proposal (
    id TEXT NOT NULL,
    night_id TEXT NOT NULL,
    skill_id INTEGER NOT NULL,
    base_digest TEXT NOT NULL,
    base BLOB,
    candidate BLOB,
    comparison_id TEXT,
    state TEXT DEFAULT 'staged' NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    quotes_forgotten INTEGER CONSTRAINT ck_proposal_quotes_forgotten_flag CHECK (quotes_forgotten IN (0, 1)),
    created_ms INTEGER NOT NULL,
    changed_ms INTEGER,
    CONSTRAINT pk_proposal PRIMARY KEY (id),
    CONSTRAINT ck_proposal_state_known CHECK (state IN ('staged', 'on_trial', 'superseded', 'stale', 'adopted', 'rejected')),
    CONSTRAINT fk_proposal_night_id FOREIGN KEY(night_id) REFERENCES night (id),
    CONSTRAINT fk_proposal_skill_id FOREIGN KEY(skill_id) REFERENCES skill (id),
    CONSTRAINT fk_proposal_base FOREIGN KEY(base) REFERENCES body (digest),
    CONSTRAINT fk_proposal_candidate FOREIGN KEY(candidate) REFERENCES body (digest),
    CONSTRAINT fk_proposal_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id)
)
 STRICT;

CREATE INDEX ix_proposal_state ON proposal (state);

CREATE TABLE rejected (
    id INTEGER NOT NULL,
    meaning TEXT NOT NULL,
    skill TEXT NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    verdict TEXT DEFAULT '' NOT NULL,
    op TEXT DEFAULT '' NOT NULL,
    anchor BLOB,
    text BLOB,
    night TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER,
    CONSTRAINT pk_rejected PRIMARY KEY (id),
    CONSTRAINT uq_rejected_meaning_skill UNIQUE (meaning, skill),
    CONSTRAINT fk_rejected_anchor FOREIGN KEY(anchor) REFERENCES body (digest),
    CONSTRAINT fk_rejected_text FOREIGN KEY(text) REFERENCES body (digest)
)
 STRICT;

CREATE TABLE rule (
    id TEXT NOT NULL,
    skill_id INTEGER,
    title TEXT DEFAULT '' NOT NULL,
    predicate TEXT DEFAULT '' NOT NULL,
    state TEXT DEFAULT 'tried' NOT NULL,
    first_ms INTEGER,
    CONSTRAINT pk_rule PRIMARY KEY (id),
    CONSTRAINT ck_rule_state_known CHECK (state IN ('tried', 'live', 'retired')),
    CONSTRAINT fk_rule_skill_id FOREIGN KEY(skill_id) REFERENCES skill (id)
)
 STRICT;

CREATE TABLE session (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    agent TEXT NOT NULL,
    native_id TEXT NOT NULL,
    origin TEXT DEFAULT 'interactive' NOT NULL,
    parent TEXT DEFAULT '' NOT NULL,
    fork_of TEXT DEFAULT '' NOT NULL,
    project_id INTEGER,
    cwd TEXT DEFAULT '' NOT NULL,
    cwds TEXT DEFAULT '[]' NOT NULL,
    branch TEXT DEFAULT '' NOT NULL,
    head_commit TEXT DEFAULT '' NOT NULL,
    agent_version TEXT DEFAULT '' NOT NULL,
    models TEXT DEFAULT '[]' NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER,
    events INTEGER DEFAULT 0 NOT NULL,
    messages INTEGER DEFAULT 0 NOT NULL,
    twin_of INTEGER,
    first_seen_ms INTEGER,
    changed_ms INTEGER,
    forgotten_ms INTEGER,
    CONSTRAINT pk_session PRIMARY KEY (id),
    CONSTRAINT uq_session_agent_native_id UNIQUE (agent, native_id),
    CONSTRAINT ck_session_origin_known CHECK (origin IN ('interactive', 'headless', 'subagent', 'own')),
    CONSTRAINT uq_session_name UNIQUE (name),
    CONSTRAINT fk_session_project_id FOREIGN KEY(project_id) REFERENCES project (id),
    CONSTRAINT fk_session_twin_of FOREIGN KEY(twin_of) REFERENCES session (id)
)
 STRICT;

CREATE INDEX ix_session_project_id ON session (project_id);

CREATE INDEX ix_session_started ON session (origin, started_ms);

CREATE TABLE skill_version (
    id INTEGER NOT NULL,
    skill_id INTEGER NOT NULL,
    digest TEXT NOT NULL,
    parent TEXT DEFAULT '' NOT NULL,
    body BLOB,
    auxiliary TEXT DEFAULT '' NOT NULL,
    night TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER,
    CONSTRAINT pk_skill_version PRIMARY KEY (id),
    CONSTRAINT uq_skill_version_skill_id_digest UNIQUE (skill_id, digest),
    CONSTRAINT fk_skill_version_skill_id FOREIGN KEY(skill_id) REFERENCES skill (id),
    CONSTRAINT fk_skill_version_body FOREIGN KEY(body) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_skill_version_digest ON skill_version (digest);

CREATE TABLE step (
    id INTEGER NOT NULL,
    night_id TEXT NOT NULL,
    name TEXT NOT NULL,
    "key" TEXT NOT NULL,
    tries INTEGER DEFAULT 0 NOT NULL,
    state TEXT DEFAULT 'running' NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    result TEXT DEFAULT 'null' NOT NULL,
    begun_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    CONSTRAINT pk_step PRIMARY KEY (id),
    CONSTRAINT uq_step_night_id_key UNIQUE (night_id, "key"),
    CONSTRAINT ck_step_state_known CHECK (state IN ('running', 'done', 'failed')),
    CONSTRAINT fk_step_night_id FOREIGN KEY(night_id) REFERENCES night (id)
)
 STRICT;

CREATE TABLE trial (
    id TEXT NOT NULL,
    skill_id INTEGER,
    rule TEXT DEFAULT '' NOT NULL,
    candidate TEXT NOT NULL,
    live TEXT NOT NULL,
    predicate TEXT DEFAULT '' NOT NULL,
    cut_ms INTEGER NOT NULL,
    alpha REAL,
    e REAL,
    e_reverse REAL,
    state TEXT DEFAULT 'running' NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    rebased_from TEXT DEFAULT '' NOT NULL,
    first_night TEXT DEFAULT '' NOT NULL,
    nights INTEGER DEFAULT 0 NOT NULL,
    begun_ms INTEGER,
    ended_ms INTEGER,
    CONSTRAINT pk_trial PRIMARY KEY (id),
    CONSTRAINT ck_trial_state_known CHECK (state IN ('running', 'accepted', 'dropped', 'restarted', 'adopted')),
    CONSTRAINT fk_trial_skill_id FOREIGN KEY(skill_id) REFERENCES skill (id)
)
 STRICT;

CREATE INDEX ix_trial_state ON trial (state);

CREATE TABLE adoption (
    id TEXT NOT NULL,
    proposal_id TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    edits TEXT DEFAULT '[]' NOT NULL,
    state TEXT DEFAULT 'intent' NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER NOT NULL,
    written_ms INTEGER,
    rolled_back_ms INTEGER,
    CONSTRAINT pk_adoption PRIMARY KEY (id),
    CONSTRAINT ck_adoption_by_whom_known CHECK (by_whom IN ('person', 'auto')),
    CONSTRAINT ck_adoption_state_known CHECK (state IN ('intent', 'written', 'rolled_back')),
    CONSTRAINT fk_adoption_proposal_id FOREIGN KEY(proposal_id) REFERENCES proposal (id)
)
 STRICT;

CREATE INDEX ix_adoption_proposal_id ON adoption (proposal_id);

CREATE TABLE decision (
    id INTEGER NOT NULL,
    proposal_id TEXT NOT NULL,
    edits TEXT DEFAULT '[]' NOT NULL,
    choice TEXT NOT NULL,
    by_whom TEXT NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    unproven INTEGER CONSTRAINT ck_decision_unproven_flag CHECK (unproven IN (0, 1)),
    at_ms INTEGER NOT NULL,
    CONSTRAINT pk_decision PRIMARY KEY (id),
    CONSTRAINT ck_decision_choice_known CHECK (choice IN ('adopt', 'reject', 'defer')),
    CONSTRAINT ck_decision_by_whom_known CHECK (by_whom IN ('person', 'auto')),
    CONSTRAINT fk_decision_proposal_id FOREIGN KEY(proposal_id) REFERENCES proposal (id)
)
 STRICT;

CREATE INDEX ix_decision_proposal_id ON decision (proposal_id);

CREATE TABLE derived (
    session_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    "of" TEXT NOT NULL,
    CONSTRAINT pk_derived PRIMARY KEY (session_id, kind, "of"),
    CONSTRAINT fk_derived_session_id FOREIGN KEY(session_id) REFERENCES session (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE edit (
    id INTEGER NOT NULL,
    rule_id TEXT,
    skill_id INTEGER NOT NULL,
    base TEXT DEFAULT '' NOT NULL,
    op TEXT NOT NULL,
    anchor BLOB,
    text BLOB,
    meaning TEXT NOT NULL,
    label TEXT DEFAULT '' NOT NULL,
    support TEXT DEFAULT '[]' NOT NULL,
    status TEXT NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    origin TEXT DEFAULT '' NOT NULL,
    night TEXT DEFAULT '' NOT NULL,
    at_ms INTEGER,
    CONSTRAINT pk_edit PRIMARY KEY (id),
    CONSTRAINT uq_edit_night_skill_id_base_meaning_op UNIQUE (night, skill_id, base, meaning, op),
    CONSTRAINT ck_edit_op_known CHECK (op IN ('add', 'insert_after', 'replace', 'delete')),
    CONSTRAINT ck_edit_status_known CHECK (status IN ('proposed', 'accepted', 'dropped', 'missed', 'refused')),
    CONSTRAINT fk_edit_rule_id FOREIGN KEY(rule_id) REFERENCES rule (id),
    CONSTRAINT fk_edit_skill_id FOREIGN KEY(skill_id) REFERENCES skill (id),
    CONSTRAINT fk_edit_anchor FOREIGN KEY(anchor) REFERENCES body (digest),
    CONSTRAINT fk_edit_text FOREIGN KEY(text) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_edit_rule_id ON edit (rule_id);

CREATE TABLE exposure (
    id INTEGER NOT NULL,
    rule_id TEXT NOT NULL,
    session_id INTEGER NOT NULL,
    applicable INTEGER DEFAULT 0 NOT NULL,
    offered INTEGER CONSTRAINT ck_exposure_offered_flag CHECK (offered IN (0, 1)),
    opened INTEGER CONSTRAINT ck_exposure_opened_flag CHECK (opened IN (0, 1)),
    followed INTEGER,
    friction INTEGER,
    CONSTRAINT pk_exposure PRIMARY KEY (id),
    CONSTRAINT uq_exposure_rule_id_session_id UNIQUE (rule_id, session_id),
    CONSTRAINT fk_exposure_rule_id FOREIGN KEY(rule_id) REFERENCES rule (id),
    CONSTRAINT fk_exposure_session_id FOREIGN KEY(session_id) REFERENCES session (id)
)
 STRICT;

CREATE INDEX ix_exposure_session_id ON exposure (session_id);

CREATE TABLE pair (
    id INTEGER NOT NULL,
    comparison_id TEXT NOT NULL,
    task TEXT NOT NULL,
    draw INTEGER DEFAULT 0 NOT NULL,
    live_attempt INTEGER,
    candidate_attempt INTEGER,
    d REAL,
    CONSTRAINT pk_pair PRIMARY KEY (id),
    CONSTRAINT uq_pair_comparison_id_task_draw UNIQUE (comparison_id, task, draw),
    CONSTRAINT fk_pair_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id),
    CONSTRAINT fk_pair_live_attempt FOREIGN KEY(live_attempt) REFERENCES attempt (id),
    CONSTRAINT fk_pair_candidate_attempt FOREIGN KEY(candidate_attempt) REFERENCES attempt (id)
)
 STRICT;

CREATE TABLE proposal_target (
    id INTEGER NOT NULL,
    proposal_id TEXT NOT NULL,
    n INTEGER DEFAULT 0 NOT NULL,
    agent TEXT NOT NULL,
    also TEXT DEFAULT '[]' NOT NULL,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    block TEXT DEFAULT '' NOT NULL,
    digest TEXT,
    CONSTRAINT pk_proposal_target PRIMARY KEY (id),
    CONSTRAINT uq_proposal_target_proposal_id_n UNIQUE (proposal_id, n),
    CONSTRAINT fk_proposal_target_proposal_id FOREIGN KEY(proposal_id) REFERENCES proposal (id)
)
 STRICT;

CREATE TABLE rule_version (
    id INTEGER NOT NULL,
    rule_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    body BLOB,
    at_ms INTEGER,
    CONSTRAINT pk_rule_version PRIMARY KEY (id),
    CONSTRAINT uq_rule_version_rule_id_digest UNIQUE (rule_id, digest),
    CONSTRAINT fk_rule_version_rule_id FOREIGN KEY(rule_id) REFERENCES rule (id),
    CONSTRAINT fk_rule_version_body FOREIGN KEY(body) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_rule_version_rule_id ON rule_version (rule_id);

CREATE TABLE session_source (
    session_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    relation TEXT DEFAULT 'own' NOT NULL,
    CONSTRAINT pk_session_source PRIMARY KEY (session_id, source_id),
    CONSTRAINT ck_session_source_relation_known CHECK (relation IN ('own', 'copy')),
    CONSTRAINT fk_session_source_session_id FOREIGN KEY(session_id) REFERENCES session (id),
    CONSTRAINT fk_session_source_source_id FOREIGN KEY(source_id) REFERENCES source (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX ix_session_source_source_id ON session_source (source_id);

CREATE TABLE stretch (
    id INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    body BLOB,
    CONSTRAINT pk_stretch PRIMARY KEY (id),
    CONSTRAINT fk_stretch_session_id FOREIGN KEY(session_id) REFERENCES session (id),
    CONSTRAINT fk_stretch_source_id FOREIGN KEY(source_id) REFERENCES source (id),
    CONSTRAINT fk_stretch_body FOREIGN KEY(body) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_stretch_session_id ON stretch (session_id);

CREATE TABLE trial_step (
    id INTEGER NOT NULL,
    trial_id TEXT NOT NULL,
    night TEXT NOT NULL,
    task TEXT NOT NULL,
    d REAL,
    e_after REAL,
    e_reverse_after REAL,
    at_ms INTEGER,
    CONSTRAINT pk_trial_step PRIMARY KEY (id),
    CONSTRAINT uq_trial_step_trial_id_task UNIQUE (trial_id, task),
    CONSTRAINT fk_trial_step_trial_id FOREIGN KEY(trial_id) REFERENCES trial (id)
)
 STRICT;

CREATE TABLE adoption_target (
    id INTEGER NOT NULL,
    adoption_id TEXT NOT NULL,
    n INTEGER DEFAULT 0 NOT NULL,
    agent TEXT NOT NULL,
    also TEXT DEFAULT '[]' NOT NULL,
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    made TEXT DEFAULT '[]' NOT NULL,
    "before" BLOB,
    "after" BLOB,
    mode INTEGER,
    newline TEXT DEFAULT '' NOT NULL,
    block TEXT DEFAULT '' NOT NULL,
    state TEXT DEFAULT 'intent' NOT NULL,
    why TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_adoption_target PRIMARY KEY (id),
    CONSTRAINT uq_adoption_target_adoption_id_n UNIQUE (adoption_id, n),
    CONSTRAINT uq_adoption_target_adoption_id_root_path_block UNIQUE (adoption_id, root, path, block),
    CONSTRAINT ck_adoption_target_state_known CHECK (state IN ('intent', 'written', 'refused', 'rolled_back')),
    CONSTRAINT fk_adoption_target_adoption_id FOREIGN KEY(adoption_id) REFERENCES adoption (id),
    CONSTRAINT fk_adoption_target_before FOREIGN KEY("before") REFERENCES body (digest),
    CONSTRAINT fk_adoption_target_after FOREIGN KEY("after") REFERENCES body (digest)
)
 STRICT;

CREATE TABLE event (
    id INTEGER NOT NULL,
    "key" INTEGER NOT NULL,
    session_id INTEGER GENERATED ALWAYS AS (id >> 26) VIRTUAL,
    seq INTEGER GENERATED ALWAYS AS (id & 67108863) VIRTUAL,
    kind TEXT NOT NULL,
    author TEXT NOT NULL,
    at_ms INTEGER,
    "offset" INTEGER DEFAULT 0 NOT NULL,
    length INTEGER DEFAULT 0 NOT NULL,
    tool TEXT DEFAULT '' NOT NULL,
    outcome TEXT DEFAULT '' NOT NULL,
    stretch_id INTEGER NOT NULL,
    place INTEGER DEFAULT 0 NOT NULL,
    forgotten INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT pk_event PRIMARY KEY (id),
    CONSTRAINT uq_event_key UNIQUE ("key"),
    CONSTRAINT fk_event_stretch_id FOREIGN KEY(stretch_id) REFERENCES stretch (id)
)
 STRICT;

CREATE TABLE proposal_edit (
    id INTEGER NOT NULL,
    proposal_id TEXT NOT NULL,
    place INTEGER DEFAULT 0 NOT NULL,
    n INTEGER DEFAULT 0 NOT NULL,
    edit_id INTEGER NOT NULL,
    rule TEXT DEFAULT '' NOT NULL,
    status TEXT NOT NULL,
    comparison_id TEXT,
    title TEXT DEFAULT '' NOT NULL,
    predicate TEXT DEFAULT '' NOT NULL,
    stake_actions INTEGER,
    stake_output_share REAL,
    stake_per_week REAL,
    why TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_proposal_edit PRIMARY KEY (id),
    CONSTRAINT uq_proposal_edit_proposal_id_n UNIQUE (proposal_id, n),
    CONSTRAINT fk_proposal_edit_proposal_id FOREIGN KEY(proposal_id) REFERENCES proposal (id),
    CONSTRAINT fk_proposal_edit_edit_id FOREIGN KEY(edit_id) REFERENCES edit (id),
    CONSTRAINT fk_proposal_edit_comparison_id FOREIGN KEY(comparison_id) REFERENCES comparison (id)
)
 STRICT;

CREATE TABLE edit_source (
    id INTEGER NOT NULL,
    edit_id INTEGER NOT NULL,
    n INTEGER DEFAULT 0 NOT NULL,
    event_id INTEGER,
    session TEXT DEFAULT '' NOT NULL,
    author TEXT NOT NULL,
    quote BLOB,
    at_ms INTEGER,
    role TEXT DEFAULT 'evidence' NOT NULL,
    CONSTRAINT pk_edit_source PRIMARY KEY (id),
    CONSTRAINT uq_edit_source_edit_id_n UNIQUE (edit_id, n),
    CONSTRAINT ck_edit_source_role_known CHECK (role IN ('origin', 'evidence')),
    CONSTRAINT ck_edit_source_author_known CHECK (author IN ('person', 'agent', 'tool', 'harness')),
    CONSTRAINT fk_edit_source_edit_id FOREIGN KEY(edit_id) REFERENCES edit (id),
    CONSTRAINT fk_edit_source_event_id FOREIGN KEY(event_id) REFERENCES event (id),
    CONSTRAINT fk_edit_source_quote FOREIGN KEY(quote) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_edit_source_edit_id ON edit_source (edit_id);

CREATE INDEX ix_edit_source_event_id ON edit_source (event_id);

CREATE INDEX ix_edit_source_session ON edit_source (session);

CREATE TABLE episode (
    id TEXT NOT NULL,
    session_id INTEGER NOT NULL,
    first_event INTEGER NOT NULL,
    last_event INTEGER,
    miner TEXT DEFAULT '' NOT NULL,
    start_commit TEXT DEFAULT '' NOT NULL,
    end_commit TEXT DEFAULT '' NOT NULL,
    outcome TEXT DEFAULT '' NOT NULL,
    person TEXT DEFAULT '' NOT NULL,
    twin TEXT DEFAULT '' NOT NULL,
    began_ms INTEGER NOT NULL,
    tokens INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT pk_episode PRIMARY KEY (id),
    CONSTRAINT fk_episode_session_id FOREIGN KEY(session_id) REFERENCES session (id),
    CONSTRAINT fk_episode_first_event FOREIGN KEY(first_event) REFERENCES event (id),
    CONSTRAINT fk_episode_last_event FOREIGN KEY(last_event) REFERENCES event (id)
)
 STRICT;

CREATE INDEX ix_episode_session_id ON episode (session_id);

CREATE TABLE skill_use (
    id INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    event_id INTEGER NOT NULL,
    skill TEXT NOT NULL,
    digest_seen TEXT DEFAULT '' NOT NULL,
    offered INTEGER CONSTRAINT ck_skill_use_offered_flag CHECK (offered IN (0, 1)),
    opened INTEGER CONSTRAINT ck_skill_use_opened_flag CHECK (opened IN (0, 1)),
    CONSTRAINT pk_skill_use PRIMARY KEY (id),
    CONSTRAINT fk_skill_use_session_id FOREIGN KEY(session_id) REFERENCES session (id),
    CONSTRAINT uq_skill_use_event_id UNIQUE (event_id),
    CONSTRAINT fk_skill_use_event_id FOREIGN KEY(event_id) REFERENCES event (id)
)
 STRICT;

CREATE INDEX ix_skill_use_session_id ON skill_use (session_id);

CREATE TABLE friction (
    id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    signature_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    episode_id TEXT,
    session_id INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    failing_event INTEGER,
    resolving_event INTEGER,
    reason_event INTEGER,
    wasted INTEGER DEFAULT 0 NOT NULL,
    tokens INTEGER DEFAULT 0 NOT NULL,
    self_healing INTEGER CONSTRAINT ck_friction_self_healing_flag CHECK (self_healing IN (0, 1)),
    CONSTRAINT pk_friction PRIMARY KEY (id),
    CONSTRAINT uq_friction_key UNIQUE ("key"),
    CONSTRAINT fk_friction_signature_id FOREIGN KEY(signature_id) REFERENCES signature (id),
    CONSTRAINT fk_friction_episode_id FOREIGN KEY(episode_id) REFERENCES episode (id),
    CONSTRAINT fk_friction_session_id FOREIGN KEY(session_id) REFERENCES session (id),
    CONSTRAINT fk_friction_failing_event FOREIGN KEY(failing_event) REFERENCES event (id),
    CONSTRAINT fk_friction_resolving_event FOREIGN KEY(resolving_event) REFERENCES event (id),
    CONSTRAINT fk_friction_reason_event FOREIGN KEY(reason_event) REFERENCES event (id)
)
 STRICT;

CREATE INDEX ix_friction_session_id ON friction (session_id);

CREATE TABLE task (
    id TEXT NOT NULL,
    pattern_id TEXT,
    episode_id TEXT,
    session_id INTEGER,
    prompt BLOB,
    "commit" TEXT DEFAULT '' NOT NULL,
    files TEXT DEFAULT '{}' NOT NULL,
    origin TEXT DEFAULT 'real' NOT NULL,
    twin TEXT NOT NULL,
    split TEXT NOT NULL,
    salt TEXT DEFAULT '' NOT NULL,
    began_ms INTEGER NOT NULL,
    first_night TEXT DEFAULT '' NOT NULL,
    reviewed_by TEXT DEFAULT '' NOT NULL,
    reviewed_ms INTEGER,
    retired_ms INTEGER,
    CONSTRAINT pk_task PRIMARY KEY (id),
    CONSTRAINT ck_task_origin_known CHECK (origin IN ('real', 'dream', 'imported')),
    CONSTRAINT ck_task_split_known CHECK (split IN ('train', 'gate', 'audit')),
    CONSTRAINT fk_task_pattern_id FOREIGN KEY(pattern_id) REFERENCES pattern (id),
    CONSTRAINT fk_task_episode_id FOREIGN KEY(episode_id) REFERENCES episode (id),
    CONSTRAINT fk_task_session_id FOREIGN KEY(session_id) REFERENCES session (id),
    CONSTRAINT fk_task_prompt FOREIGN KEY(prompt) REFERENCES body (digest)
)
 STRICT;

CREATE INDEX ix_task_began ON task (began_ms);

CREATE INDEX ix_task_episode_id ON task (episode_id);

CREATE INDEX ix_task_pattern_id ON task (pattern_id);

CREATE INDEX ix_task_session_id ON task (session_id);

CREATE TABLE "check" (
    id INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    n INTEGER DEFAULT 0 NOT NULL,
    kind TEXT NOT NULL,
    argument BLOB,
    source_event INTEGER,
    derived_from TEXT DEFAULT '' NOT NULL,
    vetting TEXT DEFAULT '' NOT NULL,
    CONSTRAINT pk_check PRIMARY KEY (id),
    CONSTRAINT uq_check_task_id_n UNIQUE (task_id, n),
    CONSTRAINT fk_check_task_id FOREIGN KEY(task_id) REFERENCES task (id),
    CONSTRAINT fk_check_argument FOREIGN KEY(argument) REFERENCES body (digest),
    CONSTRAINT fk_check_source_event FOREIGN KEY(source_event) REFERENCES event (id)
)
 STRICT;

CREATE INDEX ix_check_task_id ON "check" (task_id);

CREATE TABLE pattern_member (
    id INTEGER NOT NULL,
    pattern_id TEXT NOT NULL,
    episode_id TEXT,
    friction_id INTEGER,
    session_id INTEGER NOT NULL,
    CONSTRAINT pk_pattern_member PRIMARY KEY (id),
    CONSTRAINT uq_pattern_member_pattern_id_friction_id UNIQUE (pattern_id, friction_id),
    CONSTRAINT fk_pattern_member_pattern_id FOREIGN KEY(pattern_id) REFERENCES pattern (id),
    CONSTRAINT fk_pattern_member_episode_id FOREIGN KEY(episode_id) REFERENCES episode (id),
    CONSTRAINT fk_pattern_member_friction_id FOREIGN KEY(friction_id) REFERENCES friction (id),
    CONSTRAINT fk_pattern_member_session_id FOREIGN KEY(session_id) REFERENCES session (id)
)
 STRICT;

CREATE INDEX ix_pattern_member_episode_id ON pattern_member (episode_id);

CREATE INDEX ix_pattern_member_friction_id ON pattern_member (friction_id);

CREATE INDEX ix_pattern_member_pattern_id ON pattern_member (pattern_id);

CREATE INDEX ix_pattern_member_session_id ON pattern_member (session_id);

CREATE UNIQUE INDEX uq_pattern_member_request ON pattern_member (pattern_id, episode_id) WHERE friction_id IS NULL;
