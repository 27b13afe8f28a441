import { createHash, timingSafeEqual } from 'node:crypto'
import { type Fault, fault } from '../src/model/index.ts'

/** A key of the configuration: its secret is only kept as the SHA-256 of it, in hex. */
export interface KeyRule {
  name: string
  sha256: string
  /** The agents it may use; undefined means all. */
  agents?: readonly string[]
}

/** Who a client is. `tenant` is what sessions are kept apart by. */
export interface Caller {
  tenant: string
  principal?: string
  allowed?: readonly string[]
}

/** The tenant of a gateway without keys. */
export const LOCAL_TENANT = 'local'

/**
 * Who sent the request: by `Authorization: Bearer KEY` or `X-API-Key: KEY`. Without configured keys everybody is
 * the local tenant. The comparison takes the same time whatever the key.
 */
export function authenticate(keys: readonly KeyRule[], headers: Readonly<Record<string, string>>): Caller | Fault {
  if (keys.length === 0) return { tenant: LOCAL_TENANT }
  const given = /^bearer +(\S+)$/i.exec(headers['authorization'] ?? '')?.[1] ?? headers['x-api-key']
  if (given === undefined) {
    return fault('unauthenticated', 'A key is required: send it as "Authorization: Bearer KEY".')
  }
  const digest = createHash('sha256').update(given).digest()
  let found: KeyRule | undefined
  for (const key of keys) if (timingSafeEqual(digest, Buffer.from(key.sha256, 'hex'))) found = key
  if (!found) return fault('unauthenticated', 'The key is not known here.')
  return { tenant: found.name, principal: found.name, ...(found.agents && { allowed: found.agents }) }
}
