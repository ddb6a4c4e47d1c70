package store

// tables are the tables of the schema with their columns.
func tables() map[string]string {
	return map[string]string{
		"conversations":      conversationColumns,
		"turns t":            `t.principal, ` + turnColumns,
		"leases":             `principal, conversation, turn_key, digest, kind, message, holder, started, expires`,
		"sessions":           `principal, id, client, workflow, conversation, created, used`,
		"last_conversations": `principal, client, workflow, conversation`,
		"corrections":        correctionColumns,
		"runs":               runColumns + `, held`,
		"run_events":         `principal, run, seq, body, sum`,
		"definitions":        `digest, body`,
		"expiry":             `single, age, said`,
	}
}

// migrations lead from an empty database to the schema of this program, one a version. Each runs once, all that are
// needed in one transaction. They are SQL that SQLite and PostgreSQL both understand; BYTEA and COLLATE "C" are
// PostgreSQL's words, which the SQLite side replaces.
func migrations() []string {
	return []string{`
CREATE TABLE conversations (
	principal TEXT NOT NULL,
	id        TEXT NOT NULL,
	client    TEXT NOT NULL,
	workflow  TEXT NOT NULL,
	topic_key TEXT NOT NULL COLLATE "C",
	created   BIGINT NOT NULL,
	updated   BIGINT NOT NULL,
	turns     BIGINT NOT NULL,
	body      BYTEA NOT NULL,
	sum       BIGINT NOT NULL,
	PRIMARY KEY (principal, id)
);
CREATE INDEX conversations_updated ON conversations (principal, workflow, updated, id);
CREATE UNIQUE INDEX conversations_topic ON conversations (principal, topic_key) WHERE topic_key <> '';
CREATE TABLE turns (
	principal    TEXT NOT NULL,
	conversation TEXT NOT NULL,
	seq          BIGINT NOT NULL,
	turn_key     TEXT NOT NULL,
	ended        BIGINT NOT NULL,
	body         BYTEA NOT NULL,
	sum          BIGINT NOT NULL,
	PRIMARY KEY (principal, conversation, seq),
	UNIQUE (principal, turn_key),
	FOREIGN KEY (principal, conversation) REFERENCES conversations (principal, id) ON DELETE CASCADE
);
CREATE TABLE leases (
	principal    TEXT NOT NULL,
	conversation TEXT NOT NULL,
	turn_key     TEXT NOT NULL,
	digest       TEXT NOT NULL,
	kind         TEXT NOT NULL,
	message      BYTEA NOT NULL,
	holder       TEXT NOT NULL,
	started      BIGINT NOT NULL,
	expires      BIGINT NOT NULL,
	PRIMARY KEY (principal, conversation),
	UNIQUE (principal, turn_key),
	FOREIGN KEY (principal, conversation) REFERENCES conversations (principal, id) ON DELETE CASCADE
);
CREATE INDEX leases_holder ON leases (holder);
CREATE TABLE sessions (
	principal    TEXT NOT NULL,
	id           TEXT NOT NULL,
	client       TEXT NOT NULL,
	workflow     TEXT NOT NULL,
	conversation TEXT NOT NULL,
	created      BIGINT NOT NULL,
	used         BIGINT NOT NULL,
	PRIMARY KEY (principal, id),
	FOREIGN KEY (principal, conversation) REFERENCES conversations (principal, id) ON DELETE CASCADE
);
CREATE INDEX sessions_used ON sessions (used);
CREATE INDEX sessions_conversation ON sessions (principal, conversation);
CREATE TABLE last_conversations (
	principal    TEXT NOT NULL,
	client       TEXT NOT NULL,
	workflow     TEXT NOT NULL,
	conversation TEXT NOT NULL,
	PRIMARY KEY (principal, client, workflow),
	FOREIGN KEY (principal, conversation) REFERENCES conversations (principal, id) ON DELETE CASCADE
);
CREATE INDEX last_conversation ON last_conversations (principal, conversation);
CREATE TABLE corrections (
	principal TEXT NOT NULL,
	workflow  TEXT NOT NULL,
	version   TEXT NOT NULL,
	utterance TEXT NOT NULL,
	command   TEXT NOT NULL,
	veto      BIGINT NOT NULL,
	made      BIGINT NOT NULL,
	sum       BIGINT NOT NULL,
	PRIMARY KEY (principal, workflow, version, utterance, command)
);
`, `
CREATE TABLE runs (
	principal TEXT NOT NULL,
	id        TEXT NOT NULL,
	workflow  TEXT NOT NULL,
	digest    TEXT NOT NULL,
	created   BIGINT NOT NULL,
	updated   BIGINT NOT NULL,
	events    BIGINT NOT NULL,
	held      BIGINT NOT NULL,
	head      BYTEA NOT NULL,
	sum       BIGINT NOT NULL,
	PRIMARY KEY (principal, id)
);
CREATE INDEX runs_updated ON runs (principal, updated, id);
CREATE INDEX runs_digest ON runs (digest);
CREATE TABLE run_events (
	principal TEXT NOT NULL,
	run       TEXT NOT NULL,
	seq       BIGINT NOT NULL,
	body      BYTEA NOT NULL,
	sum       BIGINT NOT NULL,
	PRIMARY KEY (principal, run, seq),
	FOREIGN KEY (principal, run) REFERENCES runs (principal, id) ON DELETE CASCADE
);
CREATE TABLE definitions (
	digest TEXT NOT NULL PRIMARY KEY,
	body   BYTEA NOT NULL
);
`, `
CREATE TABLE expiry (
	single BIGINT NOT NULL PRIMARY KEY CHECK (single = 1),
	age    BIGINT NOT NULL,
	said   BIGINT NOT NULL
);
`}
}
