import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { isRecord } from '../model/index.ts'
import { checkAgentKeys, resolveAgent } from './agents.ts'
import { SourceDocument } from './document.ts'
import { ConfigError } from './errors.ts'
import type { Environment } from './expand.ts'
import { reportIssues } from './issues.ts'
import { DEFAULT_LIMITS, overlayLimits } from './limits.ts'
import { createRedactor } from './redact.ts'
import { resolveRoutes } from './routes.ts'
import { type FileShape, fileSchema } from './schema.ts'
import { resolveServer } from './server.ts'
import type { AgentConfig, CodecInfos, Config } from './types.ts'

/** The name of the file that is looked for in the working folder. */
export const CONFIG_FILE = 'turnpike.yaml'

/** Where a configuration comes from. */
export interface LoadOptions {
  /** The file, from `cwd`. Absent: the variable TURNPIKE_CONFIG, else `turnpike.yaml` where there is one. */
  file?: string
  /** The text itself instead of a file; its relative paths begin at `cwd`. */
  text?: string
  env: Environment
  /** Absolute. */
  cwd: string
  codecs: CodecInfos
}

/**
 * Finds, reads and resolves the configuration; undefined when none was named and there is none.
 * Throws a `ConfigError` with every problem that was found.
 */
export function loadConfig({ file, text, env, cwd, codecs }: LoadOptions): Config | undefined {
  if (text !== undefined) return parseConfig(text, { file: file ?? CONFIG_FILE, folder: cwd, env, codecs })
  const named = file ?? (env['TURNPIKE_CONFIG'] || undefined)
  const path = resolve(cwd, named ?? CONFIG_FILE)
  if (named === undefined && !existsSync(path)) return undefined
  const fromHere = relative(cwd, path)
  const shown = fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere
  return parseConfig(readConfig(path, shown), { file: shown, folder: dirname(path), env, codecs })
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

/** What is needed beside the text of a configuration. */
export interface ParseOptions {
  /** How the file is shown in messages. */
  file: string
  /** Absolute; where relative paths begin. */
  folder: string
  env: Environment
  codecs: CodecInfos
}

/** Resolves the text of a configuration. Throws a `ConfigError` with every problem that was found. */
export function parseConfig(text: string, options: ParseOptions): Config {
  const source = new SourceDocument(text, options.file)
  throwProblems(source)
  source.expand(options.env)
  const shape = validate(source, options.codecs)
  throwProblems(source)
  const config = resolveConfig(source, shape!, options)
  throwProblems(source)
  return config
}

function throwProblems({ problems }: SourceDocument): void {
  if (problems.length > 0) throw new ConfigError(problems.toSorted((a, b) => a.line - b.line || a.column - b.column))
}

/** The keys of agents are checked even when the shape is wrong elsewhere, so that one run shows as much as it can. */
function validate(source: SourceDocument, codecs: CodecInfos): FileShape | undefined {
  const value = source.value() ?? {}
  const result = fileSchema.safeParse(value)
  if (!result.success) reportIssues(source, value, result.error.issues)
  const agents = isRecord(value) ? value['agents'] : undefined
  if (isRecord(agents)) {
    for (const [name, entry] of Object.entries(agents)) checkAgentKeys({ source, codecs }, name, entry)
  }
  return result.data
}

function resolveConfig(source: SourceDocument, file: FileShape, { folder, env, codecs }: ParseOptions): Config {
  const limits = overlayLimits(DEFAULT_LIMITS, file.limits)
  const warnings: string[] = []
  const withheld = file.server.keys.flatMap((key) => key.env ?? [])
  const context = { source, folder, codecs, env, withheld, limits, warnings }
  const agents = new Map<string, AgentConfig>()
  for (const [name, entry] of Object.entries(file.agents)) {
    const agent = resolveAgent(context, name, entry)
    if (agent) agents.set(name, agent)
  }
  const names = Object.keys(file.agents)
  const server = resolveServer(source, file.server, env, names, codecs)
  const routes = resolveRoutes(source, file, names, codecs)
  const { socket } = file.server
  const { kind, path, retention } = file.store
  return {
    server: { ...server, socket: typeof socket === 'string' ? resolve(folder, socket) : socket },
    default: file.default,
    agents,
    limits,
    routes,
    store: { kind, path: path === ':memory:' ? path : resolve(folder, path), retention },
    telemetry: file.telemetry,
    log: file.log,
    warnings,
    withheld,
    redact: createRedactor([...source.insertedAt([]), ...withheld.map((name) => ({ name, value: env[name] ?? '' }))]),
  }
}
