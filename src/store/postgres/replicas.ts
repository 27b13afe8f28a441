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
import { sql } from './sql.ts'
import { takeSession } from './take-session.ts'

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
    const [rows] = await this.#run([takeSession(key, id, by, now)], { shares: `session ${keyDigest(key)}` })
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
      SELECT owner, epoch, info, CAST(expires_at <= ${now} AS INT) AS expired
      FROM replicas JOIN leases USING (owner, epoch) ORDER BY owner`
  }
}

function replicaOf(row: Row): Replica {
  const info = JSON.parse(row['info'] as string) as ReplicaInfo
  return { ...info, owner: row['owner'] as string, epoch: row['epoch'] as number, expired: row['expired'] === 1 }
}
