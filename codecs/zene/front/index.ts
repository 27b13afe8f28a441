import type { FrontContext, FrontLink, FrontPorts } from '../../../src/contract/index.ts'
import { readArgs } from './args.ts'
import { HostFront } from './host.ts'
import { SelfTest } from './self-test.ts'

/** Names of the environment variables that a stand-in for `zene` reads. */
export const frontEnv = [
  'ZENE_STDIN_TIMEOUT_MS',
  'ZENE_MAX_CONCURRENCY',
  'ZENE_IDEMPOTENCY_TTL_SEC',
  'ZENE_IDEMPOTENCY_MAX_KEYS',
  'ZENE_IDEMPOTENCY_REPLAY_MARKER',
]

/** Opens the client side: `zene host` or `zene self-test` on stdio, `POST /v1/zene` over HTTP. */
export function openFront(context: FrontContext, ports: FrontPorts): FrontLink {
  const mode = readArgs(context.transport === 'http' ? [] : context.argv)
  return mode.kind === 'self-test' ? new SelfTest(ports) : new HostFront(context, ports, mode)
}
