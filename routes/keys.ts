import { createHash, timingSafeEqual } from 'node:crypto'
import { type KeyRole, LOCAL_TENANT } from '../src/contract/index.ts'
import type { ClientAccess } from '../src/engine/index.ts'
import { type Fault, fault, globMatches } from '../src/model/index.ts'
import type { Rate } from './limiter.ts'

/** A key of the configuration. Of its secret only the SHA-256 is kept, in hex. */
export interface KeyRule {
  name: string
  role: KeyRole
  sha256: string
  /** The agents it may use, with `*` globs; undefined means all. */
  agents?: readonly string[]
  /** The fronts it may use, with `*` globs; undefined means all. */
  fronts?: readonly string[]
  /** Its rate limit; undefined means none. */
  rate?: Rate
}

/** The identity of a client. `tenant` separates its sessions from others; `principal` is the name of its key. */
export interface Caller {
  tenant: string
  role: KeyRole
  principal?: string
  allowed?: readonly string[]
  fronts?: readonly string[]
}

/** A client of a gateway without keys, which nobody on another machine can reach. */
const NOBODY: Caller = { tenant: LOCAL_TENANT, role: 'admin' }

/** The key that a request was sent with: `Authorization: Bearer KEY` or `X-API-Key: KEY`. */
export function givenKey(headers: Readonly<Record<string, string>>): string | undefined {
  return /^bearer +(\S+)$/i.exec(headers['authorization'] ?? '')?.[1] ?? headers['x-api-key']
}

/** The SHA-256 of a key, in hex. */
export function sha256(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The key that was given; undefined when no keys are configured. The comparison takes constant time. */
export function findKey(keys: readonly KeyRule[], given: string | undefined): KeyRule | undefined | Fault {
  if (keys.length === 0) return undefined
  if (given === undefined) {
    return fault('unauthenticated', 'A key is required: send it as "Authorization: Bearer KEY".')
  }
  const digest = createHash('sha256').update(given).digest()
  let found: KeyRule | undefined
  for (const key of keys) if (timingSafeEqual(digest, Buffer.from(key.sha256, 'hex'))) found = key
  return found ?? fault('unauthenticated', 'The key is unknown; check it, or ask the operator of the gateway for one.')
}

/** The client that a key belongs to; without one it is the local tenant. */
export function callerOf(key: KeyRule | undefined): Caller {
  if (!key) return NOBODY
  const { name, role, agents, fronts } = key
  return { tenant: name, role, principal: name, ...(agents && { allowed: agents }), ...(fronts && { fronts }) }
}

/** The rights of this client; `agent` is the agent that it names. */
export function accessOf({ tenant, role, allowed }: Caller, agent: string | undefined): ClientAccess {
  return { tenant, role, ...(allowed && { allowed }), ...(agent !== undefined && { agent }) }
}

/** The fault of a client whose key is not an operator's; undefined when it may do what operators may. */
export function roleRefusal({ role, principal }: Caller): Fault | undefined {
  if (role === 'admin') return undefined
  return fault('forbidden', `This needs a key with "role: admin", and the key "${principal}" has "role: ${role}".`)
}

/** The fault of a client that may not use a front. `front` includes the dialect when it is not the default one. */
export function frontRefusal({ fronts }: Caller, front: string): Fault | undefined {
  if (!fronts) return undefined
  const protocol = front.split('@')[0]!
  if (fronts.some((glob) => globMatches(glob, front) || globMatches(glob, protocol))) return undefined
  return fault('forbidden', `This key may not use the protocol "${protocol}".`)
}
