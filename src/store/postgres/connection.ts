import pg from 'pg'
import { isMistake } from '../errors.ts'
import type { Row } from '../rows.ts'
import { identifier, sql } from './sql.ts'

/** The time for a connection, and for an answer of the server, in milliseconds. */
const CONNECT_MS = 5000
const ANSWER_MS = 15_000

/**
 * The time after which the server stops a statement, in milliseconds: nobody waits for it any more. A server learns that only
 * when it answers, and each statement that waits for a lock would keep a connection.
 */
const STOPPED_MS = ANSWER_MS + 1000

/** Sets that, unless the user has a shorter time. */
const STOP = sql`
  SELECT set_config('statement_timeout', ${String(STOPPED_MS)}, false) FROM pg_settings
  WHERE name = 'statement_timeout' AND CAST(setting AS INT) NOT BETWEEN 1 AND ${STOPPED_MS}`

/** The driver's words for a connection that the server has closed. */
const TERMINATED = 'Connection terminated unexpectedly'

/** Opens a connection; rejects when there can be none now. */
export type Connector = () => Promise<Connection>

/** 64-bit integers are numbers: those of the store are milliseconds and counts. */
const TYPES = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/**
 * Connects to the database of `url`. `schema` is where its tables are, whether or not it exists.
 */
export async function connect(url: string, schema: string): Promise<Connection> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'turnpike',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    types: TYPES,
  })
  const connection = new Connection(client)
  await client.connect()
  try {
    await client.query(`${sql`SET search_path TO ${identifier(schema)}`}; ${STOP}`)
    return connection
  } catch (error) {
    await connection.end()
    throw error
  }
}

/** A connection to the server. */
export class Connection {
  readonly #client: pg.Client
  #usable = true

  constructor(client: pg.Client) {
    this.#client = client
    client.on('error', () => this.#lose())
    client.on('end', () => this.#lose())
  }

  /** False once it is lost or ended. */
  get usable(): boolean {
    return this.#usable
  }

  /** Runs statements in one transaction, sent in one message. Gives the rows of each. */
  async transaction(statements: readonly string[]): Promise<Row[][]> {
    const results = await this.query(['BEGIN', ...statements, 'COMMIT'].join(';\n'))
    return results.slice(1, -1)
  }

  /** Runs the statements of a text. Gives the rows of each. */
  async query<R extends object = Row>(text: string): Promise<R[][]> {
    try {
      // One for each statement where there are several.
      const results: pg.QueryResult | pg.QueryResult[] = await this.#client.query(text)
      return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows)
    } catch (error) {
      if (isLost(error)) this.#lose()
      // A failed transaction stays open until it is undone.
      else await this.#client.query('ROLLBACK').catch(() => this.#lose())
      throw error
    }
  }

  async end(): Promise<void> {
    if (this.#usable) await this.#client.end()
  }

  #lose(): void {
    if (!this.#usable) return
    this.#usable = false
    void this.#client.end().catch(() => {})
  }
}

/** The five characters by which the server names an error. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/**
 * True when another connection may do better: there is none, or the server ended it, stops, starts, has too many, or is
 * one that only reads since another has taken its place.
 */
export function isLost(error: unknown): boolean {
  if (isMistake(error)) return false
  const state = sqlStateOf(error)
  return state === undefined || /^(08|57P0[1-5]|53300|25006|25P0[34])/.test(state)
}

/** True when there is a server that starts, stops, or has ended a connection without a word. */
export function isStarting(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return /^57P0[1-3]$/.test(sqlStateOf(error) ?? '') || code === 'ECONNRESET' || message === TERMINATED
}

/**
 * True for an error that may pass by itself: no connection, another transaction that was first, a lock or the memory that
 * was not to be had, or a statement that was cancelled.
 */
export function isPassing(error: unknown): boolean {
  return isLost(error) || /^(40|55P03|57014|53200)/.test(sqlStateOf(error) ?? '')
}
