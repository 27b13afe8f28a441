import { isRecord } from '../model/index.ts'
import { quickDigest } from '../startup/index.ts'
import type { CompiledConfig, CompiledProfile, Reference } from './compiled.ts'
import { type Path, valueAt, withValue } from './errors.ts'
import { type Environment, expand } from './expand.ts'
import type { ReadProfile } from './profile.ts'
import { argumentSecret, SECRET_NAME } from './redact.ts'
import { AGENT_KEYS, type FileShape } from './schema.ts'
import type { TEXTS } from './texts.ts'

/** A valid file: its written values, the schema's result with the variables of `env`, and the profiles it names. */
export interface Compilable {
  text: string
  raw: unknown
  shape: FileShape
  profiles: ReadonlyMap<string, ReadProfile>
  env: Environment
}

/**
 * The compiled form of a valid file, for the cache. Undefined when there is none: a variable is used for a value other
 * than text, or the file itself contains a possible secret, which must not be copied.
 */
export function compileConfig({ text, raw, shape, profiles, env }: Compilable): CompiledConfig | undefined {
  const kept: Record<string, CompiledProfile> = {}
  for (const [path, { source: _, warnings, text: own, ...profile }] of profiles) {
    if (warnings.length > 0) return undefined
    kept[path] = { ...profile, digest: quickDigest(Buffer.from(own)) }
  }
  if (holdsSecret(raw) || holdsSecret(kept) || !isPlain(raw) || !isPlain(shape) || !isPlain(kept)) return undefined
  let plain = shape
  const references: Reference[] = []
  for (const [path, written] of textsOf(raw)) {
    const reference = referenceOf(path, written, valueAt(shape, path), env)
    if (!reference) return undefined
    references.push(reference)
    if (reference.must !== 'same') plain = withValue(plain, path, written)
  }
  return { digest: quickDigest(Buffer.from(text)), raw, shape: plain, references, profiles: kept }
}

/** All texts that may name a variable, with their paths. */
function* textsOf(value: unknown, path: Path = []): Generator<[path: Path, text: string]> {
  if (typeof value === 'string' && value.includes('${')) yield [path, value]
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsOf(item, [...path, index])
  if (isRecord(value)) for (const [key, inner] of Object.entries(value)) yield* textsOf(inner, [...path, key])
}

function referenceOf(path: Path, text: string, taken: unknown, env: Environment): Reference | undefined {
  const expanded = expand(text, env)
  const must = textAt(path)
  if (must !== undefined && taken === expanded.text) return { path, text, must }
  return expanded.inserted.length === 0 ? { path, text, must: 'same', value: expanded.text } : undefined
}

/** The schema's rule for a text at this path; undefined when the schema converts it. */
function textAt([section, name, key, ...rest]: Path): keyof typeof TEXTS | undefined {
  if (section === 'store')
    return ({ path: 'some', schema: 'some', url: 'database', password: 'some', ca: 'some' } as const)[String(name)]
  if (section === 'cluster') return ({ address: 'url', labels: 'some' } as const)[String(name)]
  if (section === 'telemetry') return ({ headers: 'line', otlp: 'url', traces: 'url' } as const)[String(name)]
  if (section !== 'agents' || key === undefined) return undefined
  // A codec's own keys are validated by its own schema each time.
  if (!AGENT_KEYS.includes(String(key))) return 'any'
  const table = {
    env: 'variable',
    headers: 'line',
    args: 'any',
    wrap: 'some',
    workspaces: 'some',
    placement: 'some',
  } as const
  const text = { command: 'some', cwd: 'some', profile: 'some', url: 'url' } as const
  return rest.length === 0 ? text[key as keyof typeof text] : table[key as keyof typeof table]
}

/**
 * Yields texts under keys that are named like secrets, and passwords in URLs. `env: NAME` names a variable and is not
 * one.
 */
function holdsSecret(value: unknown, secret = false): boolean {
  if (typeof value === 'string') {
    return (secret && !isVariable(value)) || /:\/\/[^/?#\s]*:[^/?#\s]*@/.test(value)
  }
  if (Array.isArray(value)) {
    const texts = value.map(String)
    const argument = texts.some((_, index) => !isVariable(argumentSecret(texts, index) ?? ''))
    return argument || value.some((item) => holdsSecret(item, secret))
  }
  return (
    isRecord(value) &&
    Object.entries(value).some(([name, inner]) => {
      const variable = name === 'env' && typeof inner === 'string'
      return holdsSecret(inner, !variable && (secret || SECRET_NAME.test(name)))
    })
  )
}

/** True when all of a text comes from variables, except a leading scheme word. */
function isVariable(text: string): boolean {
  return /^(?:bearer|basic|token)?\s*$/i.test(text.replace(/\$\{\w+\}/g, ''))
}

/** True when JSON preserves the value, except for undefined keys. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPlain)
  if (isRecord(value)) return Object.entries(value).every(([key, inner]) => key !== '__proto__' && isPlain(inner))
  return typeof value === 'number' ? Number.isFinite(value) : typeof value !== 'bigint' && typeof value !== 'function'
}
