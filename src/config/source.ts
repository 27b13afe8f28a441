import type { ConfigProblem, Path } from './errors.ts'
import type { Expansion } from './expand.ts'

/** Where the values of a configuration come from, and where what is wrong with one is told. */
export interface Source {
  /** As it is shown to people. */
  readonly file: string
  readonly problems: ConfigProblem[]
  /** Whether there is a value at `path`. */
  has(path: Path): boolean
  /** The text at `path` as it is in the file, with the names of its variables: for messages, which hold no values. */
  written(path: Path): string
  /** The variables that went into the value at `path` or below it. */
  insertedAt(path: Path): Expansion['inserted']
  /** Adds a problem with the value at `path`, or with its key. */
  report(path: Path, message: string, hint?: string, part?: 'key' | 'value'): void
}
