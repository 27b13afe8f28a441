import { nearest } from './nearest.ts'

/** A path in a document: keys and indices from its root. */
export type Path = readonly (string | number)[]

/** One problem of a configuration. `line` and `column` count from 1; both are 0 for the file as a whole. */
export interface ConfigProblem {
  file: string
  line: number
  column: number
  /** Such as `agents.coder.args[0]`; empty for the file as a whole. */
  path: string
  message: string
  /** The remedy. */
  hint?: string
}

/** An unusable configuration, with all of its problems. Holds no secret. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** A problem as one line, such as `turnpike.yaml:12:3 agents.coder.comand: unknown key; did you mean "command"?`. */
export function formatProblem({ file, line, column, path, message, hint }: ConfigProblem): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`
  return `${place}${path === '' ? '' : ` ${path}`}: ${message}${hint === undefined ? '' : `; ${hint}`}`
}

/** A path in its usual notation, such as `agents.coder.args[0]`. */
export function formatPath(path: Path): string {
  let text = ''
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`
  return text
}

/** A suggestion: the nearest of the known words, or all of them. */
export function suggest(word: string, known: readonly string[]): string {
  const near = nearest(word, known)
  if (near !== undefined) return `did you mean "${near}"?`
  return known.length === 0 ? 'there are none' : `known: ${known.join(', ')}`
}

/** A copy of the values with another value at an existing path. */
export function withValue<T>(values: T, path: Path, value: unknown): T {
  const [step, ...rest] = path
  if (step === undefined) return value as T
  const copy = (Array.isArray(values) ? [...values] : { ...values }) as Record<string | number, unknown>
  copy[step] = withValue(copy[step], rest, value)
  return copy as T
}

/** The value at a path of plain values, or undefined. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<string | number, unknown> | null)?.[step], value)
}
