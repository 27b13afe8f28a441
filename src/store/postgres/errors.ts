import { StoreError, type StoreErrorCode } from '../../contract/index.ts'
import { isMistake, type Problems, storeProblem } from '../errors.ts'
import { sqlStateOf } from './connection.ts'

/** The problems with a store in PostgreSQL. */
export const POSTGRES_PROBLEMS: Problems = {
  closed: ['is closed', 'Open it again before using it.'],
  damaged: ['is damaged', "See the server's log; restore the database from a backup."],
  failed: ['failed', "See the cause and the server's log."],
  foreign: ['does not exist', 'Create the database that store.url names, or correct the URL.'],
  full: ['cannot grow because the disk of its server is full', 'Free space there.'],
  locked: ['is locked by another process', "See the server's pg_stat_activity for what holds the lock."],
  newer: [
    'was written by a newer version of Turnpike',
    'Update Turnpike, or set store.schema to another name: an older version would damage it.',
  ],
  refused: [
    'refuses the connection',
    'Correct the user and the TLS parameters in store.url, store.password and store.ca.',
  ],
  unreachable: [
    'cannot be reached',
    'Start the server, or correct the host and the port in store.url; a server that has too many connections needs a higher max_connections.',
  ],
  unwritable: [
    'cannot be read and written',
    'Grant the user in store.url the right to create the schema, or the ownership of its tables.',
  ],
}

/** SQLSTATE codes and classes, the most specific first. */
const STATES: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/^28/, 'refused'],
  [/^3D000/, 'foreign'],
  [/^(42501|25006)/, 'unwritable'],
  [/^(53100|53200)/, 'full'],
  [/^(08|57P|53300)/, 'unreachable'],
  [/^(40|55P03)/, 'locked'],
  [/^XX00[12]/, 'damaged'],
]

/** Messages of the driver about TLS and passwords, which have no code. */
const REFUSED = /SSL|TLS|certificate|password|SASL|SCRAM/i

/** Converts an error of the driver into a `StoreError` about `place`; that and a mistake are returned unchanged. */
export function postgresError(error: unknown, place: string): unknown {
  if (error instanceof StoreError || isMistake(error)) return error
  const { code, message } = error as { code?: string; message: string }
  const state = sqlStateOf(error)
  const known = STATES.find(([pattern]) => pattern.test(state ?? ''))?.[1]
  const isFile = (error as { syscall?: string }).syscall === 'open'
  const found = known ?? (state !== undefined ? 'failed' : isFile || REFUSED.test(message) ? 'refused' : 'unreachable')
  // The message of an unknown error may quote what is stored.
  const detail = known === undefined && !isFile ? (code ?? message) : message
  return storeProblem(found, place, detail, error, POSTGRES_PROBLEMS)
}
