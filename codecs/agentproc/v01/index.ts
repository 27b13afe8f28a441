import { TurnBack } from '../../../src/codec-kit/index.ts'
import type { Dialect, FrontContext, FrontLink, FrontPorts } from '../../../src/contract/index.ts'
import { backCapabilities01, frontCapabilities01 } from '../capabilities.ts'
import type { AgentProcOptions } from '../options.ts'
import { TypedFront } from '../v04/front/index.ts'
import { V01Turn } from './back/index.ts'
import { accepts, PEEK_MS, V01Front } from './front/index.ts'
import { VARIABLES } from './front/request.ts'

/** A stand-in whose version neither the environment nor a first line shows answers as wire 0.4 does. */
function openFront(context: FrontContext, ports: FrontPorts): FrontLink {
  const isUndeclared = context.transport === 'stdio' && !accepts(undefined, context)
  return isUndeclared ? new TypedFront('0.4', context, ports) : new V01Front(context, ports)
}

/** Wire 0.1: AGENT_ variables in, sentinel lines out, a process per turn. */
export const v01: Dialect<AgentProcOptions> = {
  wireVersion: '0.1',
  framing: 'text',
  front: { capabilities: frontCapabilities01, env: VARIABLES, accepts, peekMs: PEEK_MS, open: openFront },
  back: {
    capabilities: backCapabilities01,
    memory: () => 'bound',
    open: (context, ports) => new TurnBack((start) => new V01Turn(context, ports, start)),
  },
}
