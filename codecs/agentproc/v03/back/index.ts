import type { BackContext, BackLink, BackPorts } from '../../../../src/contract/index.ts'
import type { AgentProcOptions } from '../../options.ts'
import { openRunner, type Wire } from '../../v04/back/index.ts'
import { Reply } from './reply.ts'

const WIRE: Wire = { version: '0.3', reply: (turn, options, host) => new Reply(turn, options, host) }

/** Opens the back half of wire 0.3. */
export function openBack(context: BackContext<AgentProcOptions>, ports: BackPorts): BackLink {
  return openRunner(WIRE, context, ports)
}
