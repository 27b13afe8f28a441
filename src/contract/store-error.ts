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

/**
 * A store that cannot be opened or used. The message names its file or URL, what is wrong with it, and the remedy. Any
 * other error that a store throws is a mistake of the program, and says nothing about the store.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** The file, or the server and schema. */
  readonly path: string

  constructor(code: StoreErrorCode, path: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.path = path
  }
}
