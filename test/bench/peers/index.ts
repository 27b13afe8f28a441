/** Lines against other gateways (`--peers`), asked by the same load, of agents and servers that cost the same. */
import type { Bench, Group, Server } from '../bench.ts'
import { EVENTS } from '../gateway.ts'
import { cpuPerTurn, line } from '../turns.ts'
import { LITELLM, LLMS, PORTKEY } from './models.ts'
import type { Peer, Per } from './peer.ts'
import { SANDBOX_AGENT } from './sandbox-agent.ts'

/** Every peer. A new one is a row. */
const PEERS: readonly Peer[] = [SANDBOX_AGENT, PORTKEY, LLMS, LITELLM]

/** Installs and starts those whose name is wanted. Returns their lines, and why others cannot be measured. */
export async function startPeers(
  bench: Bench,
  isWanted: (name: string) => boolean,
): Promise<{ groups: readonly Group[]; missing: readonly string[] }> {
  const groups: Group[] = []
  const missing: string[] = []
  for (const peer of PEERS.filter(({ name }) => isWanted(name))) {
    try {
      const installed = peer.install(bench)
      const kinds = Object.keys(peer.budgets) as Per[]
      for (const per of kinds) groups.push(against(peer, await peer.start(bench, installed, per), per))
    } catch (error) {
      const [why = ''] = String(error instanceof Error ? error.message : error).split('\n')
      missing.push(`${peer.name} ${peer.version} could not be started: ${why}`)
    }
  }
  return { groups, missing }
}

/** A line against a peer: what a turn, or an event of one, costs here and there. */
function against(peer: Peer, server: Server, per: Per): Group {
  const name = `${peer.name}-${per}`
  const events = per === 'turn' ? 1 : EVENTS
  const what = per === 'turn' ? 'whole turn' : `streamed turn of ${EVENTS} events`
  return {
    name,
    lines: [
      line({
        name,
        what: `${what}, ${peer.what}: CPU per ${per}`,
        unit: 'µs',
        against: `${peer.name} ${peer.version}`,
        budget: peer.budgets[per]!,
        bound: 'most',
        limitedBy: peer.limitedBy,
      }),
    ],
    async round(bench) {
      const limit = await peer.load(bench, server, per)
      const figure = await peer.own(bench, per)
      return { [name]: { figure: cpuPerTurn(figure) / events, limit: cpuPerTurn(limit) / events } }
    },
  }
}
