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

/** In the place of messages that repeat what is in the file. */
const PLAIN_MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: 'a wrong name of an alias or anchor',
  BAD_DIRECTIVE: 'an unknown directive',
  TAG_RESOLVE_FAILED: 'an unknown tag',
}

/** A YAML file with the places of its values, so that every problem can be shown where it is. */
export class SourceDocument implements Source {
  /** As it is shown to people. */
  readonly file: string
  readonly problems: ConfigProblem[] = []
  readonly #document: ReturnType<typeof parseDocument>
  readonly #lines = new LineCounter()
  readonly #inserted = new Map<unknown, Expansion['inserted']>()

  /** Parses `text`; what is wrong with its syntax is in `problems`. Nothing in it is shown in a message. */
  constructor(text: string, file: string) {
    this.file = file
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false })
    for (const { code, message, pos } of [...this.#document.errors, ...this.#document.warnings]) {
      // What follows a colon and a quote is a piece of the file, which may be a secret.
      this.#reportSyntax(pos[0], PLAIN_MESSAGES[code] ?? message.replace(/:? "[\s\S]*$/, ''))
    }
    visit(this.#document, {
      Alias: (_, alias, ancestors) => {
        const target = alias.resolve(this.#document)
        if (target && !(ancestors as readonly unknown[]).includes(target)) return
        this.#reportSyntax(alias.range?.[0] ?? 0, target ? 'an alias of what it is in' : 'an alias without its anchor')
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

  /** Whether there is a value at `path`. */
  has(path: Path): boolean {
    return this.#find(path).value !== undefined
  }

  /** The variables that went into the value at `path` or below it. */
  insertedAt(path: Path): Expansion['inserted'] {
    const { scope } = this.#find(path)
    const found: Expansion['inserted'] = []
    visit(scope as Node | null, {
      Scalar: (_, scalar) => void found.push(...(this.#inserted.get(scalar) ?? [])),
      Alias: (_, alias) => void found.push(...(this.#inserted.get(alias.resolve(this.#document)) ?? [])),
    })
    return found
  }

  /** The text of a scalar as it was written (`1.10`, not the number); undefined when there is none at `path`. */
  sourceAt(path: Path): string | undefined {
    const node = this.#find(path).value
    return isScalar(node) ? (node.source ?? '') : undefined
  }

  /**
   * Adds a problem with the value at `path`, or with its key; the nearest place above when there is none.
   * Values that came from the environment are shown by the variable's name.
   */
  report(path: Path, message: string, hint?: string, part: 'key' | 'value' = 'value'): void {
    const hide = (text: string): string => hideInserted(text, this.insertedAt(path))
    this.problems.push({
      file: this.file,
      ...this.place(path, part),
      path: formatPath(path),
      message: hide(message),
      ...(hint === undefined ? {} : { hint: hide(hint) }),
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
    const { text, inserted, unknown, malformed } = expand(node.value as string, env)
    node.value = text
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
      const node = isAlias(value) ? value.resolve(this.#document) : value
      const next = childOf(node, step)
      if (!next) return { key: key ?? value, value: undefined, scope: value }
      key = next.key
      value = next.value
    }
    return { key, value, scope: value }
  }
}

function childOf(node: unknown, step: string | number): { key: unknown; value: unknown } | undefined {
  if (isSeq(node))
    return Number(step) < node.items.length ? { key: undefined, value: node.items[Number(step)] } : undefined
  if (!isMap(node)) return undefined
  const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step))
  return pair && { key: pair.key, value: pair.value }
}

function pathOf(ancestors: readonly unknown[], node: unknown): (string | number)[] {
  const path: (string | number)[] = []
  for (const [depth, ancestor] of ancestors.entries()) {
    const child = ancestors[depth + 1] ?? node
    if (isSeq(ancestor)) path.push(ancestor.items.indexOf(child))
    if (isMap(ancestor)) path.push(String((child as { key: { value?: unknown } }).key?.value ?? ''))
  }
  return path
}

/** Longer values first, so that one which holds another is not left in pieces. */
function hideInserted(text: string, inserted: Expansion['inserted']): string {
  const values = inserted.filter(({ value }) => value !== '').sort((a, b) => b.value.length - a.value.length)
  return values.reduce((hidden, { name, value }) => hidden.replaceAll(value, () => `\${${name}}`), text)
}
