import type { Dialect } from '../../../src/contract/index.ts'
import { openBodyFront } from '../body-front.ts'
import type { AgentProcOptions } from '../options.ts'
import { openBack } from './back.ts'
import { backCapabilities, frontCapabilities } from './capabilities.ts'
import { openFront } from './front.ts'

/** Wire 0.4: a turn object in, events out, a process per turn. */
export const v04: Dialect<AgentProcOptions> = {
  wireVersion: '0.4',
  framing: 'ndjson',
  front: {
    capabilities: frontCapabilities,
    env: [],
    // Whoever is not an agent of wire 0.1 by its environment is told on its first line what is missing.
    accepts: (first) => first !== undefined,
    open: (context, ports) => (context.transport === 'stdio' ? openFront : openBodyFront)(context, ports),
  },
  back: { capabilities: backCapabilities, open: openBack },
}
