import { isLoopback } from '../model/index.ts'
import type { Environment } from './expand.ts'
import type { FileShape } from './schema.ts'
import type { Source } from './source.ts'
import type { ClusterConfig } from './types.ts'

/** The fewest characters of a secret. */
const SECRET_LENGTH = 16

/** The variables with the secrets of replicas: no agent inherits them. */
export function secretNames({ cluster }: FileShape): string[] {
  const { secret = [] } = cluster ?? {}
  return [secret].flat().map(({ env }) => env)
}

/**
 * The replication of a valid file. Gateways on loopback that share a database are replicas by default, because their
 * addresses are known.
 */
export function resolveCluster(source: Source, file: FileShape, env: Environment): { cluster?: ClusterConfig } {
  const { cluster, server, store } = file
  if (store.kind !== 'postgres') {
    if (cluster) source.report(['cluster'], 'needs a store that replicas share', 'set store.kind: postgres', 'key')
    return {}
  }
  const isLocal = isLoopback(server.host)
  if (!cluster && !isLocal) return {}
  const { address, lease = 8000, labels = [] } = cluster ?? {}
  if (address === undefined && !isLocal) {
    const hint = `set it to a URL by which the other replicas reach this one, such as http://\${POD_IP}:8484`
    source.report(['cluster', 'address'], 'is missing', hint)
  }
  const secrets = secretNames(file).map((name, index) => secretOf(source, name, index, env))
  return { cluster: { ...(address !== undefined && { address }), secrets, lease, labels } }
}

function secretOf(source: Source, name: string, index: number, env: Environment): string {
  const secret = Object.hasOwn(env, name) ? (env[name] ?? '') : ''
  if (secret.length >= SECRET_LENGTH) return secret
  const path = source.has(['cluster', 'secret', index])
    ? ['cluster', 'secret', index, 'env']
    : ['cluster', 'secret', 'env']
  const state = secret === '' ? 'is not set' : `has fewer than ${SECRET_LENGTH} characters`
  source.report(path, `the environment variable ${name} ${state}`, 'set it to the secret that all replicas share')
  return secret
}
