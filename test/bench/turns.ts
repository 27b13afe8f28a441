/** What the lines of turns share: a load on a server, and the numbers that are held against each other. */
import { MARK } from './answers.ts'
import type { Bench, Server } from './bench.ts'
import { type LoadJob, load, type Measured } from './load.ts'
import type { LineInfo } from './table.ts'

/** What a turn is asked for, and where. */
export type Shape = Pick<LoadJob, 'path' | 'kind' | 'headers'>

/** The header of a client that wants its answer streamed. */
export const SSE = { accept: 'text/event-stream' } as const

/** A whole turn: Zene over HTTP to a warm zot process that says one thing; and the same of the bridge. */
export const SHORT: Shape = { path: '/v1/zene/short', kind: 'zene' }
export const BARE: Shape = { path: '/', kind: 'zene' }

/** Runs a load of a shape on a server, `width` turns at once. */
export function run(bench: Bench, server: Server, shape: Shape, width: number): Promise<Measured> {
  const sessions = sessionsOf(shape)
  const job = {
    ...shape,
    port: server.port,
    width,
    ...bench.lengthFor(server, sessions, width),
    text: 'go',
    mark: MARK,
  }
  return load(server.pid, { ...job, sessions })
}

/** The beginning of the names of the sessions that loads of a shape have. */
export function sessionsOf({ kind, path }: Shape): string {
  return `${kind}-${path.replaceAll('/', '')}`
}

/** Runs whole turns on the bridge and on a gateway. */
export async function runWhole(bench: Bench, width: number): Promise<{ limit: Measured; figure: Measured }> {
  const limit = await run(bench, await shortBridge(bench), BARE, width)
  return { limit, figure: await run(bench, await bench.gateway('main'), SHORT, width) }
}

/** The bridge in front of that process. */
export function shortBridge(bench: Bench): Promise<Server> {
  return bench.server('short bridge', 'limits/bridge.ts', ['/bin/sh', ...bench.workshop.short])
}

/** Turns a second. */
export const perSecond = ({ turns, seconds }: Measured): number => turns / seconds
/** Microseconds of the server's processor time for a turn. */
export const cpuPerTurn = ({ cpu, turns }: Measured): number => cpu / turns

/** A line that is a ratio to the bridge, unless it says otherwise. */
export function line(of: Pick<LineInfo, 'name' | 'what' | 'unit' | 'budget' | 'bound'> & Partial<LineInfo>): LineInfo {
  return { against: 'bridge', by: 'ratio', ...of }
}
