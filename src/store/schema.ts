import type { DatabaseSync } from 'node:sqlite'
import { storeProblem } from './errors.ts'
import { inTransaction } from './transaction.ts'

/** Marks a file as ours ("TnPk"), so that a wrong path never turns another program's database into a store. */
export const APPLICATION_ID = 0x546e506b

/** One script per version, applied in order; `user_version` counts the applied ones. Never edit a released one. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    conversation TEXT NOT NULL,
    bound TEXT,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    UNIQUE (tenant, agent, session, conversation)
  ) WITHOUT ROWID;
  CREATE INDEX sessions_by_use ON sessions (tenant, used_at);

  CREATE TABLE messages (
    position INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    json TEXT NOT NULL
  );
  CREATE INDEX messages_by_session ON messages (session, position);

  CREATE TABLE turns (
    turn TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    front TEXT NOT NULL,
    owner TEXT NOT NULL,
    request TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT,
    code TEXT,
    delivered INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX turns_by_session ON turns (session);
  CREATE INDEX turns_by_end ON turns (ended_at);
  CREATE INDEX turns_running ON turns (started_at) WHERE outcome IS NULL;

  CREATE TABLE events (
    turn TEXT NOT NULL REFERENCES turns (turn) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (turn, seq)
  ) WITHOUT ROWID;

  CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    body TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX claims_by_expiry ON claims (expires_at);
  `,
  `
  ALTER TABLE sessions ADD COLUMN usage TEXT;
  ALTER TABLE turns ADD COLUMN losses TEXT;
  CREATE INDEX turns_by_start ON turns (tenant, started_at);
  `,
  `
  ALTER TABLE turns ADD COLUMN measures TEXT;
  `,
  // Before this version agents got the client's session id, or that with a slash and the conversation. From it on, only
  // the local tenant's sessions without a conversation keep that name. An agent that returned the old name as its own id
  // has no other, and two sessions may share it.
  `
  ALTER TABLE sessions ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN settings TEXT;
  ALTER TABLE sessions ADD COLUMN renamed INTEGER NOT NULL DEFAULT 0;
  UPDATE sessions SET renamed = 1 WHERE tenant <> 'local' OR conversation <> '';
  UPDATE sessions SET bound = NULL WHERE renamed = 1 AND (bound = session OR bound = session || '/' || conversation);
  CREATE TABLE forgotten (key TEXT PRIMARY KEY) WITHOUT ROWID;
  `,
  // Before this version the owner of a turn was a process number. Such an owner has no lease: its turns are lost.
  `
  CREATE TABLE leases (
    owner TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_call INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  ALTER TABLE turns ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
  `,
  // A turn has one row: in `running`, if it is recorded before its end, then in `turns`. That row has what it adds to its
  // session, and its last events. Large columns come last, because SQLite reads a row from its beginning.
  `
  CREATE TABLE running (
    turn TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    front TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    request TEXT,
    started_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX running_by_session ON running (session);
  INSERT INTO running
    SELECT turn, session, tenant, agent, front, owner, epoch, request, started_at FROM turns WHERE outcome IS NULL;

  CREATE TABLE ended (
    position INTEGER PRIMARY KEY,
    turn TEXT NOT NULL,
    session TEXT NOT NULL,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    front TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    request TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    delivered INTEGER NOT NULL,
    losses TEXT,
    measures TEXT,
    usage TEXT,
    seq INTEGER,
    messages TEXT,
    events TEXT
  );
  INSERT INTO ended (
      turn, session, tenant, agent, front, owner, epoch, request, started_at, ended_at, outcome, code, delivered, losses,
      measures
    )
    SELECT turn, session, tenant, agent, front, owner, epoch, request, started_at, coalesce(ended_at, started_at),
      outcome, code, delivered, losses, measures
    FROM turns WHERE outcome IS NOT NULL ORDER BY ended_at, turn;
  DROP TABLE turns;
  ALTER TABLE ended RENAME TO turns;
  CREATE UNIQUE INDEX turns_by_id ON turns (turn);
  CREATE INDEX turns_by_session ON turns (session);
  CREATE INDEX turns_by_start ON turns (tenant, started_at);

  ALTER TABLE messages ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
  DROP INDEX messages_by_session;
  CREATE INDEX messages_by_session ON messages (session, place);
  `,
  // The conversation that a turn has left its session with, where its client may tell that again.
  `
  ALTER TABLE turns ADD COLUMN known TEXT;
  CREATE INDEX turns_by_known ON turns (known) WHERE known IS NOT NULL;
  `,
  // What keys have used and hold. Each process has rows of its own.
  `
  CREATE TABLE spent (
    tenant TEXT NOT NULL,
    day INTEGER NOT NULL,
    owner TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    PRIMARY KEY (tenant, day, owner)
  ) WITHOUT ROWID;
  CREATE TABLE places (
    turn TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX places_by_tenant ON places (tenant);
  CREATE TABLE requests (
    process TEXT NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    counted_at INTEGER NOT NULL,
    PRIMARY KEY (process, name)
  ) WITHOUT ROWID;
  `,
  // The frames of a turn's wires.
  `
  ALTER TABLE turns ADD COLUMN wire TEXT;
  `,
  // Blocks of events are too long for a table without row ids: to find a place for a row, SQLite reads others there whole.
  `
  CREATE TABLE blocks (
    position INTEGER PRIMARY KEY,
    turn TEXT NOT NULL,
    seq INTEGER NOT NULL,
    json TEXT NOT NULL
  );
  INSERT INTO blocks (turn, seq, json) SELECT turn, seq, json FROM events ORDER BY turn, seq;
  DROP TABLE events;
  ALTER TABLE blocks RENAME TO events;
  CREATE UNIQUE INDEX events_by_turn ON events (turn, seq);
  `,
]

/** The version of the tables that this code reads and writes, and the first one that has leases. */
export const SCHEMA_VERSION = MIGRATIONS.length
export const LEASES_VERSION = 5

/**
 * Migrates an open database to `SCHEMA_VERSION`; safe when several processes open a new file at once. Throws what
 * `versionOf` throws.
 */
export function migrate(db: DatabaseSync, path: string): void {
  if (versionOf(db, path) === SCHEMA_VERSION) return
  inTransaction(db, () => {
    // Read again under the write lock: another process may have migrated in between.
    for (const script of MIGRATIONS.slice(versionOf(db, path))) db.exec(script)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`)
  })
}

/** One statement reads one snapshot: a concurrent migration is seen entirely or not at all. */
const IDENTITY = `
  SELECT (SELECT application_id FROM pragma_application_id) AS application,
         (SELECT user_version FROM pragma_user_version) AS version,
         (SELECT count(*) FROM sqlite_schema) AS tables`

/**
 * The version of the tables in the database, 0 for an empty one. Changes nothing. Throws a `StoreError` when the file
 * was written by a newer version or by another program.
 */
export function versionOf(db: DatabaseSync, path: string): number {
  const { application, version, tables } = db.prepare(IDENTITY).get() as Record<string, number>
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0 || tables !== 0)) {
    throw storeProblem('foreign', path)
  }
  if (version! > SCHEMA_VERSION) {
    throw storeProblem('newer', path, `it has version ${version}, this program knows up to ${SCHEMA_VERSION}`)
  }
  return version!
}
