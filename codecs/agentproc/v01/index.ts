import type { Dialect, FrontContext, FrontLink, FrontPorts } from '../../../src/contract/index.ts'
import { backCapabilities01, frontCapabilities01 } from '../capabilities.ts'
import type { AgentProcOptions } from '../options.ts'
import { openFront as openFront04 } from '../v04/front/index.ts'
import { openBack } from './back/index.ts'
import { accepts, openFront, PEEK_MS } from './front/index.ts'
import { VARIABLES } from './front/request.ts'

/** A stand-in whose version neither the environment nor a first line shows answers as wire 0.4 does. */
function openOnStdio(context: FrontContext, ports: FrontPorts): FrontLink {
  const isUndeclared = context.transport === 'stdio' && !accepts(undefined, context)
  return (isUndeclared ? openFront04 : openFront)(context, ports)
}

/** Wire 0.1: AGENT_ variables in, sentinel lines out, a process per turn. */
export const v01: Dialect<AgentProcOptions> = {
  wireVersion: '0.1',
  framing: 'text',
  front: { capabilities: frontCapabilities01, env: VARIABLES, accepts, peekMs: PEEK_MS, open: openOnStdio },
  back: { capabilities: backCapabilities01, memory: () => 'bound', open: openBack },
}
