import type { ConfigProblem, Path } from './errors.ts'
import type { Expansion } from './expand.ts'

/** The source of a configuration's values, and the receiver of their problems. */
export interface Source {
  /** The file's name in messages. */
  readonly file: string
  readonly problems: ConfigProblem[]
  /** True when there is a value at `path`. */
  has(path: Path): boolean
  /** The text at `path` as written, with the names of its variables: for messages, which hold no values. */
  written(path: Path): string
  /** The variables used in the value at `path` or below it. */
  insertedAt(path: Path): Expansion['inserted']
  /** Adds a problem with the value at `path`, or with its key. */
  report(path: Path, message: string, hint?: string, part?: 'key' | 'value'): void
}
