import { type ConfigProblem, type Path, valueAt, withValue } from './errors.ts'
import { type Environment, type Expansion, expand } from './expand.ts'
import type { Profile } from './profile.ts'
import { resolveConfig } from './resolve.ts'
import type { FileShape } from './schema.ts'
import type { Source } from './source.ts'
import { TEXTS } from './texts.ts'
import type { CodecInfos, Config } from './types.ts'

/** A text of the file that names variables, and the rule for its expanded form. */
export interface Reference {
  path: Path
  /** The text as written in the file. */
  text: string
  /** One of `TEXTS`; `same` when the expanded text must equal `value`. */
  must: keyof typeof TEXTS | 'same'
  value?: string
}

/** A profile without its place in a file. */
export type CompiledProfile = Omit<Profile, 'source' | 'warnings'> & { digest: string }

/**
 * A valid configuration file as plain values, without the values of variables. Everything that depends on the
 * environment is done when it is resolved.
 */
export interface CompiledConfig {
  /** Of the file's text. */
  digest: string
  /** As it was written. */
  raw: unknown
  /** After validation. */
  shape: FileShape
  references: readonly Reference[]
  /** By absolute path. */
  profiles: Readonly<Record<string, CompiledProfile>>
}

/** The context for resolving a compiled configuration. */
export interface CompiledOptions {
  /** Absolute folder that relative paths start from. */
  folder: string
  env: Environment
  codecs: CodecInfos
}

/**
 * The configuration that reading the file would give. Undefined when reading the file may give another result, such as
 * an error.
 */
export function resolveCompiled(
  { raw, shape, references, profiles }: CompiledConfig,
  { folder, env, codecs }: CompiledOptions,
): Config | undefined {
  const source = new CompiledSource(raw)
  let file = shape
  for (const reference of references) {
    const { text, inserted, unknown, malformed } = expand(reference.text, env)
    if (malformed || unknown.length > 0 || !isRight(reference, text, inserted)) return undefined
    source.inserted.push([reference.path, inserted])
    if (reference.must !== 'same') file = withValue(file, reference.path, text)
  }
  const readProfile = (path: string): Profile => {
    const { digest: _, ...known } = profiles[path]!
    return { ...known, source: new CompiledSource({}), warnings: [] }
  }
  const config = resolveConfig(source, file, { folder, env, codecs, readProfile })
  return source.doubtful ? undefined : config
}

function isRight({ must, value }: Reference, text: string, inserted: Expansion['inserted']): boolean {
  if (must === 'same') return inserted.length === 0 && text === value
  return TEXTS[must](text)
}

/** The plain values of a valid file, as a `Source`: any reported problem is a reason to read the file itself. */
class CompiledSource implements Source {
  readonly file = ''
  readonly problems: ConfigProblem[] = []
  readonly inserted: [path: Path, inserted: Expansion['inserted']][] = []
  readonly #raw: unknown
  doubtful = false

  constructor(raw: unknown) {
    this.#raw = raw
  }

  has(path: Path): boolean {
    return valueAt(this.#raw, path) !== undefined
  }

  written(): string {
    return ''
  }

  insertedAt(path: Path): Expansion['inserted'] {
    const below = this.inserted.filter(([at]) => path.every((step, depth) => String(step) === String(at[depth])))
    return below.flatMap(([, inserted]) => inserted)
  }

  report(): void {
    this.doubtful = true
  }
}
