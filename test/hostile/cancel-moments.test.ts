import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'
import { inLanes, turnsAt } from './kit.ts'
import { STAND_INS, StandInClient, standIns } from './stand-in.ts'

const AGENT = join(import.meta.dirname, '../kit/agents/stopped.sh')
/** A number of seconds that no other test sleeps. */
const MARK = String(20_000_000 + process.pid)

/** When a turn is cancelled, with the protocol of an agent that can be in that moment, and how the turn ends then. */
const MOMENTS = {
  starting: { back: 'zot', ending: 'cancelled' },
  'before-text': { back: 'zot', ending: 'cancelled' },
  'in-text': { back: 'zot', ending: 'cancelled' },
  'in-a-tool': { back: 'zot', ending: 'cancelled' },
  asking: { back: 'agentproc', ending: 'cancelled' },
  queued: { back: 'zot', ending: 'cancelled' },
  // The result is the end, whatever its process does then.
  'before-exit': { back: 'agentproc', ending: 'completed' },
  // The answer line is the end: what comes later changes nothing.
  answered: { back: 'zene', ending: 'completed' },
} as const
type Moment = keyof typeof MOMENTS
const moments = Object.keys(MOMENTS) as Moment[]

const PROTOCOLS = { zot: 'zot', agentproc: 'agentproc@0.4, permission: true', zene: 'zene' } as const
const KINDS = ['good', 'deaf'] as const

/** The ends that a client is told of; there is one. */
const ENDS: Readonly<Record<string, RegExp>> = {
  zot: /"type":"done"/g,
  zene: /"type":"final"/g,
  qwen: /"finish_reason":"(stop|error)"/g,
  'qwen-code': /"type":"result"/g,
  native: /"type":"turn-end"/g,
  openharness: /"response":/g,
  agentproc: /^AGENT_ERROR:|^answered$/gm,
  'agentproc@0.4': /"type":"(result|error)"/g,
}

interface Cell {
  front: string
  moment: Moment
  kind: (typeof KINDS)[number]
  how: 'word' | 'signal' | 'leaving'
}

/** Clients that an agent's question reaches: for the others a policy answers it, and nothing waits. */
const ASKED: ReadonlySet<string> = new Set(['qwen', 'qwen-code', 'native', 'agentproc@0.4'])

const CELLS: Cell[] = standIns.flatMap((front) =>
  moments
    .filter((moment) => moment !== 'asking' || ASKED.has(front))
    .flatMap((moment) =>
      KINDS.flatMap((kind) =>
        (['word', 'signal', 'leaving'] as const)
          .filter((how) => how !== 'word' || STAND_INS[front]!.cancel)
          .map((how) => ({ front, moment, kind, how })),
      ),
    ),
)

const nameOf = ({ front, moment, kind, how }: Cell): string => `${front.replace('@0.4', '-4')}-${moment}-${kind}-${how}`

describe('a turn that is cancelled', { timeout: 120_000 }, () => {
  let gateway: TestGateway
  const played = new Map<Cell, Promise<Outcome>>()

  /** What a cell has come to. */
  interface Outcome {
    /** What the client was told, which has not gone by then. */
    told: { ending: string | undefined; ends: number } | undefined
    next: { ok: boolean; text: string }
    turns: [string | null, number, boolean][]
  }

  beforeAll(async () => {
    const agents = CELLS.map((cell) => {
      const { back } = MOMENTS[cell.moment]
      const args = [back, cell.moment, cell.kind, `\${TEST_FOLDER}`, nameOf(cell), MARK]
      const more = 'pool: { max: 100 }, breaker: { failures: 1000 }'
      return `  ${nameOf(cell)}: { protocol: ${PROTOCOLS[back]}, command: ${AGENT}, args: ${JSON.stringify(args)}, ${more} }`
    })
    gateway = await startGateway(`
default: ${nameOf(CELLS[0]!)}
limits: { start: 60s, firstEvent: 60s, idle: 60s, total: 120s, grace: 100ms, ask: 60s }
agents:
${agents.join('\n')}
`)
    const all = inLanes(
      8,
      CELLS.map((cell) => () => play(cell)),
    )
    for (const [at, cell] of CELLS.entries()) played.set(cell, all[at]!)
  })
  afterAll(() => gateway.close())

  /** How many turns of the session run or wait: looked up in memory, because it is asked often. */
  const open = (session: string): number =>
    gateway.engine.turns.filter(({ command }) => command.session?.id === session).length
  const recorded = async (session: string): Promise<boolean> =>
    (await turnsAt(gateway, session)).every(({ outcome }) => outcome !== null)
  const stop = (client: StandInClient, how: Cell['how']): void => {
    if (how === 'word') client.cancel()
    else if (how === 'signal') client.signal()
    else client.disconnect()
  }

  async function play(cell: Cell): Promise<Outcome> {
    const { front, moment, how } = cell
    const name = nameOf(cell)
    const asked = { text: name, session: name, asks: true } as const
    const first = new StandInClient(gateway.url, moment === 'queued' ? 'zot' : front, name, asked)
    await until(() => existsSync(join(gateway.folder, `${name}.reached`)))
    const client = moment === 'queued' ? new StandInClient(gateway.url, front, name, asked) : first
    if (moment === 'queued') await until(() => open(name) === 2)
    if (moment === 'answered' || moment === 'before-exit') await until(() => open(name) === 0)
    stop(client, how)
    // The end of the wire is the end of a success in AgentProc 0.1.
    let closed = false
    void client.ended.then(() => {
      closed = true
    })
    if (how !== 'leaving') await until(() => client.ending !== undefined || closed)
    writeFileSync(join(gateway.folder, `${name}.again`), '')
    // The one in front of it was not cancelled with it.
    if (moment === 'queued') {
      await until(() => open(name) === 1)
      expect(first.ending).toBeUndefined()
      first.cancel()
    }
    const { ok, text } = await askHttp(gateway.url, 'zot', { text: 'next', session: name, agent: name, id: 'next' })
    await until(() => open(name) === 0)
    await until(() => recorded(name))
    for (const one of new Set([first, client])) if (one.ending === undefined || one === first) one.signal()
    client.signal()
    if (how !== 'leaving') await client.ended
    const ending = client.ending ?? (closed && /^answered$/m.test(client.read) ? 'completed' : undefined)
    const told = { ending, ends: client.read.match(ENDS[front]!)?.length ?? 0 }
    const turns = (await turnsAt(gateway, name)).map((turn): Outcome['turns'][number] => [
      turn.outcome,
      turn.ends,
      turn.endsLast,
    ])
    // A process of a session that lives on is not what was stopped.
    const { back } = MOMENTS[moment]
    const kept = back === 'zot' ? 1 : 0
    await until(() => pidsOf(`\0${name}\0`).length <= kept)
    return { told: how === 'leaving' ? undefined : told, next: { ok, text }, turns }
  }

  test.each(CELLS.map((cell) => [cell.front, cell.moment, cell.kind, cell.how, cell] as const))(
    '%s, %s, an agent that is %s, by %s',
    async (_front, moment, _kind, how, cell) => {
      const { told, next, turns } = await played.get(cell)!
      const { ending } = MOMENTS[moment]
      if (how !== 'leaving') expect(told).toEqual({ ending, ends: 1 })
      expect(next).toEqual({ ok: true, text: 'well' })
      const first: Outcome['turns'] = moment === 'queued' ? [['cancelled', 1, true]] : []
      expect(turns).toEqual([...first, [ending, 1, true], ['completed', 1, true]])
    },
  )

  test('leaves nothing of its agents', async () => {
    await Promise.allSettled(played.values())
    expect([...gateway.engine.turns]).toEqual([])
    await until(() => pidsOf(`sleep\0${MARK}`).length === 0)
  })
})
