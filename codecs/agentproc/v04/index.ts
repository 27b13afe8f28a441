import { TurnBack } from '../../../src/codec-kit/index.ts'
import { type Dialect, frameText } from '../../../src/contract/index.ts'
import { BodyFront } from '../body-front.ts'
import { backCapabilities04, frontCapabilities04 } from '../capabilities.ts'
import type { AgentProcOptions } from '../options.ts'
import { wireOfTurn } from '../versions.ts'
import { TypedTurn } from './back/index.ts'
import { Reply } from './back/reply.ts'
import { TypedFront } from './front/index.ts'

/** Wire 0.4: a turn object in, events out, a process per turn. */
export const v04: Dialect<AgentProcOptions> = {
  wireVersion: '0.4',
  framing: 'ndjson',
  front: {
    capabilities: frontCapabilities04,
    env: [],
    accepts: (first) => first !== undefined && wireOfTurn(frameText(first)) === '0.4',
    open: (context, ports) =>
      context.transport === 'stdio' ? new TypedFront('0.4', context, ports) : new BodyFront(context, ports),
  },
  back: {
    capabilities: backCapabilities04,
    memory: () => 'bound',
    open: (context, ports) => new TurnBack((start) => new TypedTurn(Reply, context, ports, start)),
  },
}
