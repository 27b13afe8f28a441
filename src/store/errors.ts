import { StoreError, type StoreErrorCode } from '../contract/index.ts'

/** The problem in words, and its remedy. */
type Words = readonly [what: string, remedy: string]

/** The words of a driver for its problems. */
export type Problems = Readonly<Partial<Record<StoreErrorCode, Words>> & { failed: Words }>

/** The problems with a file of SQLite. */
const SQLITE_PROBLEMS: Problems = {
  closed: ['is closed', 'Open it again before using it.'],
  damaged: [
    'is damaged or not a SQLite database',
    'Restore it from a backup, or move it away: a new one is created at the next start.',
  ],
  failed: ['failed', 'See whether its disk is full or failing; if it stays, run "PRAGMA integrity_check" on the file.'],
  foreign: ['belongs to another program', 'Set store.path to a file that does not exist yet.'],
  full: ['cannot grow because the disk is full', 'Free space on the disk, or set store.path to another one.'],
  locked: [
    'is locked by another process',
    'Close the program that holds it (a backup or a database browser), then try again.',
  ],
  newer: [
    'was written by a newer version of Turnpike',
    'Update Turnpike, or set store.path to another file: an older version would damage it.',
  ],
  'no-folder': [
    'cannot be created in its folder',
    'Set store.path to a file in a folder that can be created and written.',
  ],
  unwritable: [
    'cannot be read and written',
    'Give the user that runs Turnpike read and write access to the file and its folder, or change store.path.',
  ],
}

/**
 * Puts a problem into words. `detail` adds a few about it, without content of the store; `problems` has those of its
 * driver.
 */
export function storeProblem(
  code: StoreErrorCode,
  path: string,
  detail?: string,
  cause?: unknown,
  problems = SQLITE_PROBLEMS,
): StoreError {
  const [what, remedy] = problems[code] ?? problems.failed
  const why = detail === undefined ? '' : ` (${detail})`
  return new StoreError(code, path, `The store ${path} ${what}${why}. ${remedy}`, cause)
}

/** True for an error that only a mistake in a program can cause: it is none of a store, a disk or a network. */
export function isMistake(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
}

/** SQLite's primary result codes (the low byte of the extended ones), see https://www.sqlite.org/rescode.html. */
const SQLITE_CODES: Readonly<Record<number, StoreErrorCode>> = {
  3: 'unwritable', // PERM
  5: 'locked', // BUSY
  6: 'locked', // LOCKED
  8: 'unwritable', // READONLY
  11: 'damaged', // CORRUPT
  13: 'full', // FULL
  14: 'unwritable', // CANTOPEN
  26: 'damaged', // NOTADB
}

const SYSTEM_CODES: Readonly<Record<string, StoreErrorCode>> = {
  EACCES: 'unwritable',
  EPERM: 'unwritable',
  EROFS: 'unwritable',
  EISDIR: 'unwritable',
  ENOTDIR: 'no-folder',
  EEXIST: 'no-folder',
  ENOENT: 'no-folder',
  ENOSPC: 'full',
  EDQUOT: 'full',
  ERR_INVALID_STATE: 'closed',
}

/** Converts an error of SQLite or the file system into a `StoreError`; that and a mistake are returned unchanged. */
export function storeError(error: unknown, path: string): unknown {
  if (error instanceof StoreError || isMistake(error)) return error
  const { code, errcode, errstr } = error as { code?: string; errcode?: number; errstr?: string }
  if (errcode !== undefined) return storeProblem(SQLITE_CODES[errcode & 0xff] ?? 'failed', path, errstr, error)
  return storeProblem(SYSTEM_CODES[code ?? ''] ?? 'failed', path, code, error)
}
