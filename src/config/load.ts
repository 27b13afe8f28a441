import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { isRecord } from '../model/index.ts'
import { checkAgentKeys } from './agent-keys.ts'
import { type Compilable, compileConfig } from './compile.ts'
import { type CompiledConfig, resolveCompiled } from './compiled.ts'
import { SourceDocument } from './document.ts'
import { ConfigError } from './errors.ts'
import type { Environment } from './expand.ts'
import { reportIssues } from './issues.ts'
import { type ReadProfile, readProfile } from './profile.ts'
import { readTexts, type TypeIssue } from './readings.ts'
import { type ResolveContext, resolveConfig } from './resolve.ts'
import { type FileShape, fileSchema } from './schema.ts'
import type { CodecInfos, Config } from './types.ts'

export { describeConfig } from './describe.ts'
export { parseDuration } from './duration.ts'
export { fixHints } from './fix-hints.ts'

/** The default name of the file, in the working folder. */
export const CONFIG_FILE = 'turnpike.yaml'

/** The origin of a configuration. */
export interface LoadOptions {
  /** The file, relative to `cwd`. Absent: the variable TURNPIKE_CONFIG, else `turnpike.yaml` if it exists. */
  file?: string
  /** The text itself instead of a file; its relative paths start from `cwd`. */
  text?: string
  env: Environment
  /** Absolute. */
  cwd: string
  codecs: CodecInfos
}

/**
 * Finds, reads and resolves the configuration; undefined when none is named and none exists. Throws a `ConfigError`
 * with all problems.
 */
export function loadConfig(options: LoadOptions): Config | undefined {
  const found = find(options)
  return found && parseConfig(found.text, found)
}

/** The same for an existing file, with the compiled form of the configuration, if it has one. */
export function loadAndCompile(options: LoadOptions & { file: string }): { config: Config; compiled?: CompiledConfig } {
  const found = find(options)!
  return parseAndCompile(found.text, found)
}

function find({ file, text, env, cwd, codecs }: LoadOptions): (ParseOptions & { text: string }) | undefined {
  if (text !== undefined) return { text, file: file ?? CONFIG_FILE, folder: cwd, env, codecs }
  const named = file ?? (env['TURNPIKE_CONFIG'] || undefined)
  const path = resolve(cwd, named ?? CONFIG_FILE)
  if (named === undefined && !existsSync(path)) return undefined
  const fromHere = relative(cwd, path)
  const shown = fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere
  return { text: readConfig(path, shown), file: shown, folder: dirname(path), env, codecs }
}

function readConfig(path: string, file: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const message = `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`
    const hint = 'name an existing file with --config or TURNPIKE_CONFIG'
    throw new ConfigError([{ file, line: 0, column: 0, path: '', message, hint }])
  }
}

/** The context for resolving the text of a configuration. */
export interface ParseOptions {
  /** The file's name in messages. */
  file: string
  /** Absolute folder that relative paths start from. */
  folder: string
  env: Environment
  codecs: CodecInfos
}

/** Resolves the text of a configuration. Throws a `ConfigError` with all problems. */
export function parseConfig(text: string, options: ParseOptions): Config {
  return parse(text, options).config
}

/** The same, with the compiled form: if it has one, and if resolving that gives the same configuration. */
export function parseAndCompile(text: string, options: ParseOptions): { config: Config; compiled?: CompiledConfig } {
  const { config, compilable } = parse(text, options)
  const compiled = compileConfig(compilable)
  if (!compiled) return { config }
  const again = resolveCompiled(compiled, options)
  return again && plain(again) === plain(config) ? { config, compiled } : { config }
}

/** A configuration as text, for comparison. */
function plain({ agents, ...rest }: Config): string {
  return JSON.stringify([rest, ...agents])
}

function parse(text: string, options: ParseOptions): { config: Config; compilable: Compilable } {
  const { env, codecs } = options
  const source = new SourceDocument(text, options.file)
  throwProblems(source)
  const raw = source.value() ?? {}
  source.expand(env)
  const shape = validate(source, codecs)
  throwProblems(source)
  const profiles = new Map<string, ReadProfile>()
  const reading: ResolveContext['readProfile'] = (path, file, codec) => {
    const profile = readProfile(path, file, codec)
    profiles.set(path, profile)
    return profile
  }
  const config = resolveConfig(source, shape!, { ...options, readProfile: reading })
  throwProblems(source)
  return { config, compilable: { text, raw, shape: shape!, profiles, env } }
}

function throwProblems({ problems }: SourceDocument): void {
  if (problems.length > 0) throw new ConfigError(problems.toSorted((a, b) => a.line - b.line || a.column - b.column))
}

/**
 * Checks the keys of agents even when the shape is wrong elsewhere, so that one run shows as many problems as possible.
 */
function validate(source: SourceDocument, codecs: CodecInfos): FileShape | undefined {
  let value = source.value() ?? {}
  let result = fileSchema.safeParse(value)
  if (!result.success) {
    value = readTexts(value, result.error.issues as TypeIssue[])
    result = fileSchema.safeParse(value)
  }
  if (!result.success) reportIssues(source, value, result.error.issues)
  const agents = isRecord(value) ? value['agents'] : undefined
  if (isRecord(agents)) {
    for (const [name, entry] of Object.entries(agents)) checkAgentKeys({ source, codecs }, name, entry)
  }
  return result.data
}
