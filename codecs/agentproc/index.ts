import { ownOptions } from '../../src/codec-kit/index.ts'
import type { Codec } from '../../src/contract/index.ts'
import { errors } from './errors.ts'
import { type AgentProcOptions, optionsSchema } from './options.ts'
import { profile } from './profile.ts'
import { v01 } from './v01/index.ts'
import { v03 } from './v03/index.ts'
import { v04 } from './v04/index.ts'

/** AgentProc, the "AGENT_" protocol. Its endpoint takes bodies of all wires. */
export const codec: Codec<AgentProcOptions> = {
  name: 'agentproc',
  dialects: { '0.1': v01, '0.3': v03, '0.4': v04 },
  errors,
  profile,
  endpoints: [{ method: 'POST', path: '/v1/agentproc', input: 'body', dialect: '0.4' }],
  silent: true,
  options: ownOptions(optionsSchema),
}
