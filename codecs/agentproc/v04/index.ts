import { type Dialect, frameText } from '../../../src/contract/index.ts'
import { openBodyFront } from '../body-front.ts'
import type { AgentProcOptions } from '../options.ts'
import { isTurnOf04 } from '../v01/schema.ts'
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
    accepts: (first) => first !== undefined && isTurnOf04(frameText(first)),
    open: (context, ports) => (context.transport === 'stdio' ? openFront : openBodyFront)(context, ports),
  },
  back: { capabilities: backCapabilities, open: openBack },
}
