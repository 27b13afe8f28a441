import { isLoopback } from '../model/index.ts'
import { suggest } from './errors.ts'
import type { Environment } from './expand.ts'
import { findProtocol } from './protocol.ts'
import type { FileShape } from './schema.ts'
import type { Source } from './source.ts'
import type { CodecInfos, ServerConfig, ServerKey } from './types.ts'

/** The name of clients without a key, such as stand-ins on the Unix socket. */
const LOCAL = 'local'

/** Values that a header transports unchanged: no white space at the ends, only ASCII. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
const NO_KEY = 'remove white space at its ends (often a line end) and characters other than ASCII'

type KeyEntry = FileShape['server']['keys'][number]

/**
 * The server of a valid file, its keys read from the environment. `agents` are the names that keys may be limited to.
 */
export function resolveServer(
  source: Source,
  server: FileShape['server'],
  env: Environment,
  agents: readonly string[],
  codecs: CodecInfos,
): Omit<ServerConfig, 'socket'> {
  const keys = server.keys.map((key, index) => resolveKey(source, key, index, env))
  checkKeys(source, keys, agents)
  checkFronts(source, keys, codecs)
  if (keys.length === 0 && !isLoopback(server.host)) {
    const hint = 'add server.keys: [{ name: NAME, env: VARIABLE_WITH_THE_KEY }], or listen on 127.0.0.1'
    source.report(['server', 'host'], 'is reachable from other machines, but there are no keys', hint)
  }
  const { host, port, console, hosts, origins, limits } = server
  return { host, port, keys, console, hosts, origins, limits }
}

function resolveKey(source: Source, key: KeyEntry, index: number, env: Environment): ServerKey {
  const { name, hash, role, agents, fronts, limits } = key
  const rest = { role, agents, fronts, limits }
  if (key.env === undefined) return { name, hash, ...rest }
  const path = ['server', 'keys', index, 'env']
  const secret = Object.hasOwn(env, key.env) ? env[key.env] : undefined
  if (secret === undefined || secret.trim() === '') {
    const state = secret === undefined ? 'is not set' : 'is empty'
    const name = source.written(path)
    source.report(path, `the environment variable ${name} ${state}`, `set it to the key: export ${name}=KEY`)
  } else if (!SENDABLE.test(secret)) {
    source.report(path, `a client cannot send the value of ${source.written(path)} as a key`, NO_KEY)
  }
  return { name, secret, ...rest }
}

/**
 * Reports repeated names and keys: names identify clients in sessions and logs, and a key must belong to one client
 * only.
 */
function checkKeys(source: Source, keys: readonly ServerKey[], agents: readonly string[]): void {
  for (const [index, key] of keys.entries()) {
    const path = ['server', 'keys', index]
    if (key.name === LOCAL) {
      source.report([...path, 'name'], 'is the name of clients without a key', 'choose another name')
    }
    const before = keys.slice(0, index)
    if (before.some(({ name }) => name === key.name)) {
      source.report([...path, 'name'], 'another key has this name', 'give each client its own')
    }
    const same = before.findIndex(({ secret, hash }) =>
      key.secret === undefined ? hash !== undefined && hash === key.hash : secret === key.secret,
    )
    if (same >= 0) {
      const other = source.written(['server', 'keys', same, 'name'])
      source.report([...path, 'name'], `has the same key as "${other}"`, 'give each client its own')
    }
    for (const [position, agent] of (key.agents ?? []).entries()) {
      if (agent.includes('*') || agents.includes(agent)) continue
      const place = [...path, 'agents', position]
      source.report(place, `unknown agent "${source.written(place)}"`, suggest(agent, agents))
    }
  }
}

function checkFronts(source: Source, keys: readonly ServerKey[], codecs: CodecInfos): void {
  for (const [index, { fronts = [] }] of keys.entries()) {
    for (const [position, front] of fronts.entries()) {
      if (!front.includes('*')) findProtocol(front, codecs, source, ['server', 'keys', index, 'fronts', position])
    }
  }
}
