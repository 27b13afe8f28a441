import type {
  LeaseRef,
  Replica,
  ReplicaInfo,
  ReplicaStore,
  SessionKey,
  SessionRecord,
  TurnRecord,
} from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { keyDigest, toColumn } from '../key-text.ts'
import { type Row, sessionRecord, turnRecord } from '../rows.ts'
import type { Results, Way } from './lane.ts'
import type { ServerClock } from './server-clock.ts'
import { SESSION } from './session-statements.ts'
import { Raw, sql } from './sql.ts'

/** The lease that a session belongs to is over, or it belongs to none. */
const IS_FREE = new Raw(`NOT EXISTS (
  SELECT 1 FROM leases WHERE leases.owner = sessions.owner AND leases.epoch = sessions.owner_epoch
)`)

/** The state that replicas share. Each method is one message to the server. */
export class PostgresReplicas implements ReplicaStore {
  readonly #run: (statements: readonly string[], way?: Way) => Promise<Results>
  readonly #clock: ServerClock

  /** `run` runs statements in one transaction. */
  constructor(run: (statements: readonly string[], way?: Way) => Promise<Results>, clock: ServerClock) {
    this.#run = run
    this.#clock = clock
  }

  async announce({ owner, epoch }: LeaseRef, info: ReplicaInfo, now: number): Promise<Replica[]> {
    const [, , rows] = await this.#run(
      [
        sql`
        INSERT INTO replicas (owner, epoch, info) VALUES (${owner}, ${epoch}, ${JSON.stringify(info)})
        ON CONFLICT (owner) DO UPDATE SET epoch = excluded.epoch, info = excluded.info
        WHERE replicas.epoch <= excluded.epoch`,
        'DELETE FROM replicas WHERE NOT EXISTS (SELECT 1 FROM leases WHERE leases.owner = replicas.owner)',
        this.#living(now),
      ],
      { shares: 'replicas' },
    )
    return rows!.map(replicaOf).filter((replica) => replica.owner !== owner)
  }

  async replicas(now: number): Promise<Replica[]> {
    const [rows] = await this.#run([this.#living(now)])
    return rows!.map(replicaOf)
  }

  async takeSession(key: SessionKey, id: Id, by: LeaseRef, now: number): Promise<SessionRecord> {
    const { tenant, agent } = key
    const [session, conversation] = [toColumn(key.session), toColumn(key.conversation)]
    const digest = keyDigest(key)
    // One that has an owner is only read: replicas that lock the same sessions in different orders wait for each other.
    const [rows] = await this.#run(
      [
        sql`
        WITH owned AS (SELECT id FROM sessions WHERE key = ${digest} AND NOT ${IS_FREE}), taken AS (
        INSERT INTO sessions
          (id, key, tenant, agent, session, conversation, created_at, used_at, epoch, owner, owner_epoch)
        SELECT ${id}, ${digest}, ${tenant}, ${agent}, ${session}, ${conversation}, ${now}, ${now},
          CASE WHEN EXISTS (SELECT 1 FROM forgotten WHERE key = ${digest}) THEN ${Math.max(1, now)} ELSE 0 END,
          ${by.owner}, ${by.epoch}
        WHERE NOT EXISTS (SELECT 1 FROM owned)
        ON CONFLICT (key) DO UPDATE SET
          used_at = greatest(sessions.used_at, excluded.used_at),
          owner = CASE WHEN ${IS_FREE} THEN excluded.owner ELSE sessions.owner END,
          owner_epoch = CASE WHEN ${IS_FREE} THEN excluded.owner_epoch ELSE sessions.owner_epoch END
        RETURNING *)
        SELECT ${SESSION} FROM taken AS sessions
        UNION ALL SELECT ${SESSION} FROM sessions WHERE id IN (SELECT id FROM owned)`,
      ],
      { shares: `session ${digest}` },
    )
    return sessionRecord(rows![0]!)
  }

  async giveUpSession(id: Id, { owner, epoch }: LeaseRef): Promise<boolean> {
    const [, left] = await this.#run([
      sql`
        UPDATE sessions SET owner = NULL, owner_epoch = NULL
        WHERE id = ${id} AND owner = ${owner} AND owner_epoch = ${epoch}
          AND NOT EXISTS (SELECT 1 FROM running WHERE session = ${id})`,
      sql`SELECT 1 FROM sessions WHERE id = ${id} AND owner = ${owner} AND owner_epoch = ${epoch}`,
    ])
    return left!.length === 0
  }

  async runningTurn(tenant: string, request: string): Promise<TurnRecord | undefined> {
    const [rows] = await this.#run([
      sql`SELECT * FROM running WHERE tenant = ${tenant} AND request = ${toColumn(request)} LIMIT 2`,
    ])
    return rows!.length === 1 ? turnRecord(rows![0]!) : undefined
  }

  async secret(candidate: string): Promise<string> {
    const [, rows] = await this.#run([
      sql`INSERT INTO secrets (name, value) VALUES ('cluster', ${candidate}) ON CONFLICT DO NOTHING`,
      `SELECT value FROM secrets WHERE name = 'cluster'`,
    ])
    return rows![0]!['value'] as string
  }

  time(now: number): number {
    return this.#clock.at(now)
  }

  /** Reads the replicas whose leases are not over. */
  #living(now: number): string {
    return sql`
      SELECT owner, epoch, info, CAST(expires_at <= ${this.#clock.at(now)} AS INT) AS expired
      FROM replicas JOIN leases USING (owner, epoch) ORDER BY owner`
  }
}

function replicaOf(row: Row): Replica {
  const info = JSON.parse(row['info'] as string) as ReplicaInfo
  return { ...info, owner: row['owner'] as string, epoch: row['epoch'] as number, expired: row['expired'] === 1 }
}
