import { type Dialect, frameText } from '../../../src/contract/index.ts'
import { openBodyFront } from '../body-front.ts'
import { backCapabilities04, frontCapabilities04 } from '../capabilities.ts'
import type { AgentProcOptions } from '../options.ts'
import { wireOfTurn } from '../versions.ts'
import { openBack } from './back/index.ts'
import { openFront } from './front/index.ts'

/** Wire 0.4: a turn object in, events out, a process per turn. */
export const v04: Dialect<AgentProcOptions> = {
  wireVersion: '0.4',
  framing: 'ndjson',
  front: {
    capabilities: frontCapabilities04,
    env: [],
    accepts: (first) => first !== undefined && wireOfTurn(frameText(first)) === '0.4',
    open: (context, ports) => (context.transport === 'stdio' ? openFront : openBodyFront)(context, ports),
  },
  back: { capabilities: backCapabilities04, memory: () => 'bound', open: openBack },
}
