import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml'
import type { ConfigProblem, Path } from './errors.ts'
import { formatPath } from './errors.ts'
import { type Environment, type Expansion, expand } from './expand.ts'
import type { Source } from './source.ts'

const REFERENCE_HINT = `write \${NAME} or \${NAME:-default}, or "$\${" for the text`

/** Replacements for messages of the YAML parser that would quote the file. */
const PLAIN_MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: 'a wrong name of an alias or anchor',
  BAD_DIRECTIVE: 'an unknown directive',
  BAD_DQ_ESCAPE: 'an unknown escape sequence in double quotes',
  MULTIPLE_DOCS: 'a second document begins here; a configuration is one, without a line "---" in it',
  TAG_RESOLVE_FAILED: 'an unknown tag',
}

/** A YAML file with the positions of its values, so that every problem can be shown at its place. */
export class SourceDocument implements Source {
  /** The file's name in messages. */
  readonly file: string
  readonly problems: ConfigProblem[] = []
  readonly #document: ReturnType<typeof parseDocument>
  readonly #lines = new LineCounter()
  readonly #inserted = new Map<unknown, Expansion['inserted']>()
  readonly #written = new Map<unknown, string>()

  /** Parses `text`; syntax errors are in `problems`. Messages quote nothing of it. */
  constructor(text: string, file: string) {
    this.file = file
    this.#document = parseDocument(text, {
      merge: true,
      lineCounter: this.#lines,
      prettyErrors: false,
      logLevel: 'error',
    })
    for (const { code, message, pos } of [...this.#document.errors, ...this.#document.warnings]) {
      // Text after a word with a colon, or after a quote, is a piece of the file, which may be a secret.
      this.#reportSyntax(pos[0], PLAIN_MESSAGES[code] ?? message.replace(/(?<=\w): [\s\S]*$| "[\s\S]*$/, ''))
    }
    visit(this.#document, {
      Alias: (_, alias, ancestors) => {
        const target = alias.resolve(this.#document)
        if (target && !(ancestors as readonly unknown[]).includes(target)) return
        this.#reportSyntax(alias.range?.[0] ?? 0, target ? 'an alias of what it is in' : 'an alias without its anchor')
      },
      Pair: (_, { key, value }) => {
        const at = (key as Node | null)?.range?.[0] ?? 0
        if (isCollection(key)) this.#reportSyntax(at, 'a key that is a table or a list')
        // Readers of tables pass over it.
        else if (nameOf(key) === '__proto__') this.#reportSyntax(at, '"__proto__" is no key')
        if (!isMergeKey(key) || this.#mergedBy(value)) return
        this.#reportSyntax(at, '"<<" merges tables: give it an alias of one, or a list of aliases')
      },
    })
  }

  /** The document as plain values; undefined when it is empty or its syntax is wrong. */
  value(): unknown {
    if (this.problems.length > 0) return undefined
    try {
      return this.#document.toJS() ?? undefined
    } catch {
      this.#reportSyntax(0, 'too many aliases of aliases')
      return undefined
    }
  }

  /** Expands `${VAR}` in every text value (not in keys), once each, however often an alias repeats it. */
  expand(env: Environment): void {
    visit(this.#document, {
      Scalar: (key, node, ancestors) => {
        if (key !== 'key' && typeof node.value === 'string') this.#expandScalar(node, env, ancestors)
      },
    })
  }

  /** True when there is a value at `path`. */
  has(path: Path): boolean {
    return this.#find(path).value !== undefined
  }

  /** The variables used in the value at `path` or below it. */
  insertedAt(path: Path): Expansion['inserted'] {
    const scalars = new Set<Scalar>()
    this.#collect(this.#find(path).scope, scalars, new Set())
    return [...scalars].flatMap((scalar) => this.#inserted.get(scalar) ?? [])
  }

  /** The text at `path` as written, with the names of its variables: for messages, which hold no values. */
  written(path: Path): string {
    const node = this.#resolve(this.#find(path).value)
    return this.#written.get(node) ?? (isScalar(node) ? String(node.value) : '')
  }

  /** The text of a scalar as it was written (`1.10`, not the number); undefined when there is none at `path`. */
  sourceAt(path: Path): string | undefined {
    const node = this.#find(path).value
    return isScalar(node) ? (node.source ?? '') : undefined
  }

  /**
   * Adds a problem with the value at `path`, or with its key; the nearest place above when there is none. A message
   * that quotes a value must take it from `written`.
   */
  report(path: Path, message: string, hint?: string, part: 'key' | 'value' = 'value'): void {
    this.problems.push({
      file: this.file,
      ...this.place(path, part),
      path: formatPath(path),
      message,
      ...(hint === undefined ? {} : { hint }),
    })
  }

  /** Line and column (from 1) of the value at `path` or of its key; of a table or list it is always the key. */
  place(path: Path, part: 'key' | 'value'): { line: number; column: number } {
    const { key, value } = this.#find(path)
    const node = part === 'value' && value !== undefined && !isCollection(value) ? value : (key ?? value)
    const { line, col } = this.#lines.linePos((node as Node | undefined)?.range?.[0] ?? 0)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  #reportSyntax(offset: number, message: string): void {
    const { line, col } = this.#lines.linePos(offset)
    this.problems.push({ file: this.file, line, column: col, path: '', message })
  }

  #expandScalar(node: Scalar, env: Environment, ancestors: Parameters<typeof pathOf>[0]): void {
    const written = node.value as string
    const { text, inserted, unknown, malformed } = expand(written, env)
    node.value = text
    this.#written.set(node, written)
    if (inserted.length > 0) this.#inserted.set(node, inserted)
    if (unknown.length === 0 && !malformed) return
    const path = pathOf(ancestors, node)
    for (const name of unknown) {
      this.report(path, `the environment variable ${name} is not set`, `set it, or write \${${name}:-default}`)
    }
    if (malformed) this.report(path, '"${" begins no variable', REFERENCE_HINT)
  }

  /**
   * The nodes at `path`. `key` is undefined for the root and for items of a list. When a step is missing, `value` is
   * undefined and `key` the place above; `scope` is the deepest node there is.
   */
  #find(path: Path): { key: unknown; value: unknown; scope: unknown } {
    let key: unknown
    let value: unknown = this.#document.contents
    for (const step of path) {
      const next = this.#childOf(this.#resolve(value), step)
      if (!next) return { key: key ?? value, value: undefined, scope: value }
      key = next.key
      value = next.value
    }
    return { key, value, scope: value }
  }

  /** The item or pair of a node, from a table itself or from the tables merged into it. */
  #childOf(node: unknown, step: string | number): { key: unknown; value: unknown } | undefined {
    if (isSeq(node))
      return Number(step) < node.items.length ? { key: undefined, value: node.items[Number(step)] } : undefined
    if (!isMap(node)) return undefined
    const pair = node.items.find(({ key }) => nameOf(key) === String(step))
    if (pair) return { key: pair.key, value: pair.value }
    for (const { key, value } of node.items) {
      for (const table of (isMergeKey(key) && this.#mergedBy(value)) || []) {
        const merged = this.#childOf(table, step)
        if (merged) return merged
      }
    }
    return undefined
  }

  /**
   * The tables that the value of a `<<` names, the first one with the highest priority; undefined when it is invalid.
   */
  #mergedBy(value: unknown): Node[] | undefined {
    const named = this.#resolve(value)
    const tables = (isSeq(named) ? named.items : [named]).map((table) => this.#resolve(table))
    return tables.every(isMap) ? tables : undefined
  }

  #resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node
  }

  /** The scalars at and below a node, also those that aliases stand for. */
  #collect(node: unknown, scalars: Set<Scalar>, seen: Set<unknown>): void {
    if (seen.has(node)) return
    seen.add(node)
    visit(node as Node | null, {
      Scalar: (_, scalar) => void scalars.add(scalar),
      Alias: (_, alias) => this.#collect(alias.resolve(this.#document), scalars, seen),
    })
  }
}

/** The name of a key; the `<<` of a merge is a symbol. */
function nameOf(key: unknown): string {
  if (isMergeKey(key)) return '<<'
  return String(isScalar(key) ? key.value : key)
}

/** True for the key `<<` without quotes, which merges tables (yaml.org/type/merge). */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}

function pathOf(ancestors: readonly unknown[], node: unknown): (string | number)[] {
  const path: (string | number)[] = []
  for (const [depth, ancestor] of ancestors.entries()) {
    const child = ancestors[depth + 1] ?? node
    if (isSeq(ancestor)) path.push(ancestor.items.indexOf(child))
    if (isMap(ancestor)) path.push(nameOf((child as { key: unknown }).key))
  }
  return path
}
