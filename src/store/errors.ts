/** The kinds of problems with a store. */
export type StoreErrorCode =
  | 'closed'
  | 'damaged'
  | 'failed'
  | 'foreign'
  | 'full'
  | 'locked'
  | 'newer'
  | 'no-folder'
  | 'refused'
  | 'unreachable'
  | 'unwritable'

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
  failed: ['failed', 'See the cause; if it stays, run "PRAGMA integrity_check" on the file.'],
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

/** A store that cannot be opened or used. The message names its file or URL, what is wrong with it, and the remedy. */
export class StoreError extends Error {
  readonly code: StoreErrorCode
  readonly path: string

  /** `detail` adds a few words about the problem, without content of the store; `problems` has the words of its driver. */
  constructor(code: StoreErrorCode, path: string, detail?: string, cause?: unknown, problems = SQLITE_PROBLEMS) {
    const [what, remedy] = problems[code] ?? problems.failed
    super(`The store ${path} ${what}${detail === undefined ? '' : ` (${detail})`}. ${remedy}`, { cause })
    this.name = 'StoreError'
    this.code = code
    this.path = path
  }
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

/** Converts an error of SQLite or the file system into a `StoreError`; a `StoreError` is returned unchanged. */
export function storeError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error
  const { code, errcode, errstr } = error as { code?: string; errcode?: number; errstr?: string }
  if (errcode !== undefined) return new StoreError(SQLITE_CODES[errcode & 0xff] ?? 'failed', path, errstr, error)
  return new StoreError(SYSTEM_CODES[code ?? ''] ?? 'failed', path, code, error)
}
