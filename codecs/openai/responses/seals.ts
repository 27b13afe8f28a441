import type { Seal } from '../../../src/model/index.ts'
import { PROTOCOL } from '../wire.ts'

const KINDS = { signature: undefined, encrypted: 'encrypted', redacted: 'redacted' } as const
const FOREIGN = /^turnpike:(?<provider>[^:]+):(?<kind>signature|encrypted|redacted):(?<data>.*)$/s

/**
 * The `encrypted_content` of a seal: that of a server of this API as it is; another provider's with its name, so that it
 * comes back to that provider through a client of this API.
 */
export function encryptedOf({ provider, kind, data }: Seal): string {
  if (provider === PROTOCOL) return data
  return `turnpike:${provider}:${kind ?? 'signature'}:${data}`
}

/** The seal that an `encrypted_content` stands for. */
export function sealOf(encrypted: string): Seal {
  const { provider, kind, data } = FOREIGN.exec(encrypted)?.groups ?? {}
  if (provider === undefined || data === undefined) return { provider: PROTOCOL, kind: 'encrypted', data: encrypted }
  const known = KINDS[kind as keyof typeof KINDS]
  return { provider, ...(known && { kind: known }), data }
}
