import { type Dialect, frameText } from '../../../src/contract/index.ts'
import { openBodyFront } from '../body-front.ts'
import type { AgentProcOptions } from '../options.ts'
import { wireOfTurn } from '../versions.ts'
import { openBack } from './back/index.ts'
import { backCapabilities, frontCapabilities } from './capabilities.ts'
import { openFront } from './front/index.ts'

/** Wire 0.4: a turn object in, events out, a process per turn. */
export const v04: Dialect<AgentProcOptions> = {
  wireVersion: '0.4',
  framing: 'ndjson',
  front: {
    capabilities: frontCapabilities,
    env: [],
    accepts: (first) => first !== undefined && wireOfTurn(frameText(first)) === '0.4',
    open: (context, ports) => (context.transport === 'stdio' ? openFront : openBodyFront)(context, ports),
  },
  back: { capabilities: backCapabilities, memory: () => 'bound', open: openBack },
}
