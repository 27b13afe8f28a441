import type { HeardBy } from '../../contract/index.ts'
import type { AgentSettings } from './settings.ts'
import { digestOf } from './startup.ts'

/** The hexadecimal digits that distinguish two places. */
const LENGTH = 16

const KNOWN = new WeakMap<AgentSettings, Required<HeardBy>>()

/** The protocol of an agent, and a digest of its command or URL: who it is, as far as its sessions are concerned. */
export function placeOf(agent: AgentSettings): Required<HeardBy> {
  const known = KNOWN.get(agent)
  if (known) return known
  const place = { back: agent.protocol, place: digestOf(JSON.stringify(agent.target)).slice(0, LENGTH) }
  KNOWN.set(agent, place)
  return place
}
