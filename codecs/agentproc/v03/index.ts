import { TurnBack } from '../../../src/codec-kit/index.ts'
import { type Dialect, frameText } from '../../../src/contract/index.ts'
import { backCapabilities03, frontCapabilities03 } from '../capabilities.ts'
import type { AgentProcOptions } from '../options.ts'
import { TypedTurn } from '../v04/back/index.ts'
import { TypedFront } from '../v04/front/index.ts'
import { wireOfTurn } from '../versions.ts'
import { Reply } from './back/reply.ts'

/** Wire 0.3: a turn object in, events out, a process per turn; the session and the reply's body are events of their own. */
export const v03: Dialect<AgentProcOptions> = {
  wireVersion: '0.3',
  framing: 'ndjson',
  front: {
    capabilities: frontCapabilities03,
    env: [],
    accepts: (first) => first !== undefined && wireOfTurn(frameText(first)) === '0.3',
    open: (context, ports) => new TypedFront('0.3', context, ports),
  },
  back: {
    capabilities: backCapabilities03,
    memory: () => 'bound',
    open: (context, ports) => new TurnBack((start) => new TypedTurn(Reply, context, ports, start)),
  },
}
