import { resolve } from 'node:path'
import { resolveAgent } from './agents.ts'
import { CHOICES } from './choices.ts'
import { resolveCluster, secretNames } from './cluster.ts'
import type { Environment } from './expand.ts'
import { DEFAULT_LIMITS, overlayLimits } from './limits.ts'
import type { Profile } from './profile.ts'
import { createRedactor } from './redact.ts'
import { resolveRoutes } from './routes.ts'
import type { FileShape } from './schema.ts'
import { resolveServer } from './server.ts'
import type { Source } from './source.ts'
import type { AgentConfig, CodecInfo, CodecInfos, Config } from './types.ts'

/** The words of closed lists. */
const CHOSEN = Object.values(CHOICES).flat()

/** The context for resolving a valid file. */
export interface ResolveContext {
  /** Absolute folder that relative paths start from. */
  folder: string
  env: Environment
  codecs: CodecInfos
  /** Reads the profile at an absolute path, which messages show as `file`. */
  readProfile(path: string, file: string, codec: CodecInfo): Profile
}

/** The configuration of a file with a valid shape; other problems are reported to `source`. */
export function resolveConfig(source: Source, file: FileShape, context: ResolveContext): Config {
  const { folder, env, codecs } = context
  const limits = overlayLimits(DEFAULT_LIMITS, file.limits)
  const warnings: string[] = []
  const secrets = secretNames(file)
  const withheld = [...file.server.keys.flatMap((key) => key.env ?? []), ...secrets]
  const agents = new Map<string, AgentConfig>()
  for (const [name, entry] of Object.entries(file.agents)) {
    const agent = resolveAgent({ ...context, source, withheld, limits, warnings }, name, entry)
    if (agent) agents.set(name, agent)
  }
  const keys = withheld.map((name) => ({ name, value: env[name] ?? '' }))
  const names = Object.keys(file.agents)
  const server = resolveServer(source, file.server, env, names, codecs)
  const routes = resolveRoutes(source, file, names, codecs)
  const { socket } = file.server
  return {
    server: { ...server, socket: typeof socket === 'string' ? resolve(folder, socket) : socket },
    default: file.default,
    agents,
    limits,
    routes,
    store: resolveStore(file.store, folder),
    ...resolveCluster(source, file, env),
    telemetry: file.telemetry,
    log: file.log,
    warnings,
    withheld,
    redact: createRedactor(source.insertedAt([]), new Set([...names, ...protocolWords(codecs), ...CHOSEN]), keys),
  }
}

/** The schema has made sure that PostgreSQL has a URL. */
function resolveStore(store: FileShape['store'], folder: string): Config['store'] {
  const { url, schema, path, retention } = store
  if (url !== undefined) return { kind: 'postgres', url: databaseUrl(url, store, folder), schema, retention }
  return { kind: 'sqlite', path: path === ':memory:' ? path : resolve(folder, path), retention }
}

/** The URL of a database with its password, and with the certificates that its server is checked against. */
function databaseUrl(url: string, { password, ca }: FileShape['store'], folder: string): string {
  if (password === undefined && ca === undefined) return url
  const whole = new URL(url)
  // A URL of a Unix socket has no other place for it.
  if (password !== undefined) whole.searchParams.set('password', password)
  if (ca !== undefined) {
    whole.searchParams.set('sslrootcert', resolve(folder, ca))
    if (!whole.searchParams.has('sslmode')) whole.searchParams.set('sslmode', 'verify-full')
  }
  return whole.href
}

/** The names of protocols in messages. */
function protocolWords(codecs: CodecInfos): string[] {
  return Object.entries(codecs).flatMap(([name, { dialects }]) => [
    name,
    ...dialects.flatMap((dialect) => [dialect, `${name}@${dialect}`]),
  ])
}
