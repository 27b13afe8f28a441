import { readFileSync } from 'node:fs'
import { isRecord } from '../model/index.ts'
import { SourceDocument } from './document.ts'
import { formatProblem, type Path, suggest } from './errors.ts'
import type { Source } from './source.ts'
import type { CodecInfo } from './types.ts'

/** The fields of a profile that describe the start of the process. */
const PROCESS_FIELDS = ['command', 'args', 'cwd', 'env'] as const

/**
 * A profile: a file of a protocol that describes an agent. Its values are not expanded or resolved: the codec does
 * that.
 */
export interface Profile {
  source: Source
  /** The path of its fields in the file: its root, or the protocol's key. */
  root: Path
  command?: string
  args?: string[]
  cwd?: string
  env: Record<string, string>
  /** The fields of the codec's options, as written. */
  options: Record<string, unknown>
  warnings: string[]
}

/** A profile with the file that it is read from. */
export type ReadProfile = Profile & { source: SourceDocument; text: string }

/**
 * Reads a profile of a protocol with profiles. `file` is its name in messages. Problems are in `source.problems`;
 * throws the errors of the file system.
 */
export function readProfile(path: string, file: string, { profile: format, options }: CodecInfo): ReadProfile {
  const text = readFileSync(path, 'utf8')
  const source = new SourceDocument(text, file)
  const whole = source.value() ?? {}
  const root: Path = isRecord(whole) && format && isRecord(whole[format.root]) ? [format.root] : []
  const fields = root.length > 0 ? (whole as Record<string, unknown>)[root[0]!] : whole
  const profile: ReadProfile = { source, root, env: {}, options: {}, warnings: [], text }
  if (source.problems.length > 0) return profile
  if (!isRecord(fields)) {
    source.report([], 'must be a table of keys and values')
    return profile
  }
  for (const [key, { problem, hint }] of Object.entries(format?.driven ?? {})) {
    if (key in fields && !('command' in fields)) source.report([...root, key], problem, hint)
  }
  for (const [key, value] of Object.entries(fields)) {
    if (!Object.hasOwn(format?.driven ?? {}, key)) readField(profile, key, value, options.keys)
  }
  return profile
}

function readField(profile: ReadProfile, key: string, value: unknown, optionKeys: readonly string[]): void {
  const path = [...profile.root, key]
  // An empty field counts as absent.
  if (value === null) return
  if (key === 'command' || key === 'cwd') {
    if (typeof value === 'string' && value.trim() !== '') profile[key] = value
    else profile.source.report(path, 'must be text', 'write it in quotes')
  } else if (key === 'args') {
    if (Array.isArray(value)) profile.args = value.map((_, index) => scalarText(profile, [...path, index]))
    else profile.source.report(path, 'must be a list')
  } else if (key === 'env') {
    if (!isRecord(value)) profile.source.report(path, 'must be a table of keys and values')
    else for (const name of Object.keys(value)) profile.env[name] = scalarText(profile, [...path, name])
  } else if (optionKeys.includes(key)) {
    profile.options[key] = value
  } else {
    profile.warnings.push(ignoredField(profile, path, key, optionKeys))
  }
}

/** The text of numbers and booleans, as written: other runners accept them too. */
function scalarText(profile: ReadProfile, path: Path): string {
  const text = profile.source.sourceAt(path)
  if (text === undefined) profile.source.report(path, 'must be text')
  return text ?? ''
}

function ignoredField(profile: ReadProfile, path: Path, key: string, optionKeys: readonly string[]): string {
  const { line, column } = profile.source.place(path, 'key')
  const hint = suggest(key, [...PROCESS_FIELDS, ...optionKeys])
  const known = hint.startsWith('did') ? hint : undefined
  const message = 'this field is unknown and ignored'
  return formatProblem({ file: profile.source.file, line, column, path: path.join('.'), message, hint: known })
}
