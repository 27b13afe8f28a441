import { storeProblem } from '../errors.ts'
import { type Connection, sqlStateOf } from './connection.ts'
import { POSTGRES_PROBLEMS } from './errors.ts'
import { identifier, Raw, sql } from './sql.ts'

/** A version of the tables: the script that makes it, and the oldest program, by its own version, that can work with it. */
interface Migration {
  readonly script: string
  readonly oldest: number
}

/**
 * The versions, in order. Keys of clients may be longer than an index of PostgreSQL takes: their digests are in it. A
 * script that is released is never changed. Replicas of the version before run beside the one that migrates: a script that
 * they cannot work with raises `oldest`, and comes a release after one that could. Replicas that are too old then get no
 * lease any more, at the latest when theirs is to be renewed.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    oldest: 1,
    script: `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    conversation TEXT NOT NULL,
    bound TEXT,
    created_at BIGINT NOT NULL,
    used_at BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    settings TEXT,
    usage TEXT
  );
  CREATE INDEX sessions_by_use ON sessions (tenant, used_at);

  CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    place BIGINT NOT NULL,
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    answered INT NOT NULL,
    json TEXT NOT NULL
  );
  CREATE INDEX messages_by_session ON messages (session, place, position);

  CREATE TABLE running (
    turn TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    front TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    request TEXT,
    started_at BIGINT NOT NULL
  );
  CREATE INDEX running_by_session ON running (session);

  CREATE TABLE turns (
    turn TEXT PRIMARY KEY,
    inserted BIGINT GENERATED ALWAYS AS IDENTITY,
    position BIGINT NOT NULL,
    session TEXT NOT NULL,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    front TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    request TEXT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    delivered INT NOT NULL,
    losses TEXT,
    measures TEXT,
    usage TEXT,
    seq BIGINT,
    messages TEXT,
    events TEXT,
    known TEXT
  );
  CREATE INDEX turns_by_known ON turns (known) WHERE known IS NOT NULL;
  CREATE INDEX turns_by_session ON turns (session, position);
  CREATE INDEX turns_by_start ON turns (tenant, started_at);
  CREATE INDEX turns_by_end ON turns (ended_at);

  CREATE TABLE events (
    turn TEXT NOT NULL,
    seq BIGINT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (turn, seq)
  );

  CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    turn TEXT NOT NULL,
    body TEXT NOT NULL,
    claimed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE INDEX claims_by_expiry ON claims (expires_at);

  CREATE TABLE leases (
    owner TEXT PRIMARY KEY,
    epoch BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_call INT NOT NULL
  );

  CREATE TABLE forgotten (key TEXT PRIMARY KEY)`,
  },
  {
    // Only tables that are new: replicas of version 1 do not know them.
    oldest: 1,
    script: `
  CREATE TABLE spent (
    tenant TEXT NOT NULL,
    day BIGINT NOT NULL,
    owner TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    estimated BIGINT NOT NULL,
    cost_usd DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (tenant, day, owner)
  );
  CREATE TABLE tenants (tenant TEXT PRIMARY KEY);
  CREATE TABLE places (
    turn TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch BIGINT NOT NULL
  );
  CREATE INDEX places_by_tenant ON places (tenant);
  CREATE TABLE requests (
    process TEXT NOT NULL,
    name TEXT NOT NULL,
    count BIGINT NOT NULL,
    counted_at BIGINT NOT NULL,
    PRIMARY KEY (process, name)
  )`,
  },
  // The frames of a turn's wires.
  { oldest: 1, script: 'ALTER TABLE turns ADD COLUMN wire TEXT' },
  {
    // A program of the version before leaves sessions without an owner, which anybody may run.
    oldest: 1,
    script: `
  ALTER TABLE sessions ADD COLUMN owner TEXT;
  ALTER TABLE sessions ADD COLUMN owner_epoch BIGINT;
  CREATE INDEX running_by_request ON running (tenant, request);
  CREATE TABLE replicas (owner TEXT PRIMARY KEY, epoch BIGINT NOT NULL, info TEXT NOT NULL);
  CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
  },
  {
    // Servers from version 14 on may have LZ4. PostgreSQL's own compression took more than half of the time of the beginning
    // and the end of a turn.
    oldest: 1,
    script: `
  DO $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
      EXECUTE 'ALTER TABLE turns ALTER COLUMN events SET COMPRESSION lz4, ALTER COLUMN messages SET COMPRESSION lz4,
        ALTER COLUMN wire SET COMPRESSION lz4';
      EXECUTE 'ALTER TABLE events ALTER COLUMN json SET COMPRESSION lz4';
      EXECUTE 'ALTER TABLE messages ALTER COLUMN json SET COMPRESSION lz4';
    END IF;
  END $$`,
  },
]

/** The version of the tables that this code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** The name of the table that has the applied versions. */
export const VERSIONS = 'turnpike_versions'

/** The number of times that a migration is tried again because another process migrates at the same time. */
const ATTEMPTS = 20

/** Errors of a statement that another process's migration was quicker than: something exists by now. */
const QUICKER = /^(23505|42P06|42P07|42710|40001|40P01|XX000)$/

/** The version of the tables in a schema: 0 when there are none, and the oldest program that can work with them. */
export interface Versions {
  version: number
  oldest: number
}

/** Reads the newest of the applied versions, and the oldest program that can work with it. */
export const NEWEST = `SELECT max(version) AS version, max(oldest) AS oldest FROM ${VERSIONS}`

/** Reads the version of the tables. */
export async function readVersions(connection: Connection): Promise<Versions> {
  const [tables] = await connection.query(sql`
    SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = ${VERSIONS}`)
  if (tables?.length === 0) return { version: 0, oldest: 0 }
  const [rows] = await connection.query<Versions>(NEWEST)
  return rows![0]!
}

/**
 * Brings the tables of the schema to `SCHEMA_VERSION`; safe when several processes do that at once. Gives the version
 * before. Throws a `StoreError` when a newer program has made them unusable for this one.
 */
export async function migrate(connection: Connection, schema: string, place: string): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.query(sql`CREATE SCHEMA IF NOT EXISTS ${identifier(schema)}`)
      const found = await readVersions(connection)
      checkVersions(found, place)
      for (let version = found.version; version < SCHEMA_VERSION; version++) await apply(connection, version)
      return found.version
    } catch (error) {
      if (attempt === ATTEMPTS || !QUICKER.test(sqlStateOf(error) ?? '')) throw error
    }
  }
}

/** Throws a `StoreError` when the tables are of a version that this program cannot work with. */
export function checkVersions({ version, oldest }: Versions, place: string): void {
  if (oldest > SCHEMA_VERSION) throw tooNew(version, place)
}

/** The error of tables that a newer program has made unusable for this one. */
export function tooNew(version: number, place: string): Error {
  const detail = `its tables have version ${version}, this program knows up to ${SCHEMA_VERSION}`
  return storeProblem('newer', place, detail, undefined, POSTGRES_PROBLEMS)
}

/**
 * One of several processes writes the row of a version; the others fail, and see it then. Large tables take their time, also
 * when nobody waits for it any more.
 */
async function apply(connection: Connection, version: number): Promise<void> {
  const { script, oldest } = MIGRATIONS[version]!
  await connection.transaction([
    'SET LOCAL statement_timeout TO 0',
    `CREATE TABLE IF NOT EXISTS ${VERSIONS} (version INT PRIMARY KEY, oldest INT NOT NULL)`,
    sql`INSERT INTO ${new Raw(VERSIONS)} (version, oldest) VALUES (${version + 1}, ${oldest})`,
    script,
  ])
}
