import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Loss } from '../../src/model/index.ts'
import { inLanes, turnsAt } from '../hostile/kit.ts'
import { ASKING, type AskingClient, type Shown } from '../kit/asking-clients.ts'
import { type AskingEngine, startAskingEngine } from '../kit/asking-engine.ts'
import {
  ARGS,
  BACKS,
  CASES,
  type Case,
  type Choices,
  choicesOf,
  EDITED,
  FRONTS,
  type Front,
  GO_ON,
  type Json,
  lostBetween,
  optionsOf,
} from '../kit/asking-table.ts'
import { askHttp, type ClientName } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const AGENT = join(import.meta.dirname, '../kit/agents/asker.sh')
interface Cell {
  front: string
  back: string
  what: Case
}

const CELLS: Cell[] = Object.keys(FRONTS)
  .flatMap((front) => Object.keys(BACKS).flatMap((back) => CASES.map((what) => ({ front, back, what }))))
  .filter(({ front, back, what }) => what !== 'ever' || (BACKS[back]!.rich && FRONTS[front]!.shows === 'options'))

/** What a cell has come to. */
interface Outcome {
  shown: Shown
  ending: string
  text: string
  told: unknown[]
  raw: string
  refusals: unknown[]
  losses: Loss[]
  audit: Json
}

describe('an approval', { timeout: 60_000 }, () => {
  let gateway: TestGateway
  let engine: AskingEngine
  let folder: string
  const played = new Map<Cell, Promise<Outcome>>()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-asked-'))
    engine = await startAskingEngine(folder)
    const agents = Object.entries(BACKS).flatMap(([back, { config }]) => {
      const program = `command: ${AGENT}, args: ["${back}", "${folder}"], pool: { max: 100 }`
      const reached = back === 'openharness' ? `url: "${engine.url}"` : program
      const name = nameOf(back)
      return [
        `  ${name}: { ${config}, ${reached} }`,
        `  ${name}.hasty: { ${config}, ${reached}, limits: { ask: 150ms } }`,
      ]
    })
    gateway = await startGateway(`
default: qwen
limits: { grace: 300ms, ask: 60s }
agents:
${agents.join('\n')}
routes:
  - { when: { session: "yes-*" }, agent: qwen, approvals: allow }
`)
    const all = inLanes(
      8,
      CELLS.map((cell) => () => play(cell)),
    )
    for (const [at, cell] of CELLS.entries()) played.set(cell, all[at]!)
  })
  afterAll(async () => {
    await gateway.close()
    engine.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const nameOf = (...words: string[]): string => words.join('-').replace('@0.4', '-4').replace('@0.4', '-4')
  const linesOf = (name: string): string[] => {
    try {
      return readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')
    } catch {
      return []
    }
  }
  const toldOf = (back: string, name: string): unknown[] =>
    linesOf(name).map((line) => BACKS[back]!.told(JSON.parse(line) as Json))
  const lossesOf = async (turn: string): Promise<Loss[]> => {
    const response = await fetch(`${gateway.url}/v1/turns/${turn}`)
    const { losses = [] } = (await response.json()) as { losses?: Loss[] }
    return losses.filter(({ item }) => item.startsWith('ask'))
  }
  const auditOf = (turn: string): Json => {
    const start = 'a question of an agent was settled '
    const found = gateway.logged.filter((line) => line.startsWith(start) && line.includes(`"${turn}"`))
    expect(found).toHaveLength(1)
    return JSON.parse(found[0]!.slice(start.length)) as Json
  }

  const ACTS: Readonly<Record<Case, (client: AskingClient, choices: Choices, front: Front) => Promise<void>>> = {
    async allow(client, { allow, deny }, front) {
      await client.answer(allow, 'unknown')
      await until(() => client.refusals().length === 1)
      await client.answer(allow)
      await client.ended()
      if (front.second === undefined) return
      await client.answer(deny)
      await until(() => client.refusals().length === 2)
    },
    deny: (client, { deny }) => client.answer(deny),
    ever: (client) => client.answer({ option: 'ever', kind: 'allow' }),
    edited: (client, { allow }) => client.answer({ ...allow, edited: EDITED }),
    async timeout() {},
    async cancel(client, { allow }, front) {
      await client.cancel()
      // The wire is closed by then where no second answer can be given.
      if (front.second !== undefined) await client.ended().then(() => client.answer(allow))
    },
  }

  async function play({ front, back, what }: Cell): Promise<Outcome> {
    const name = nameOf(front, back, what)
    const agent = what === 'timeout' ? `${nameOf(back)}.hasty` : nameOf(back)
    const client = ASKING[front]!({ url: gateway.url, agent, name })
    const shown = await client.asked()
    const choices = choicesOf(BACKS[back]!)
    await ACTS[what](client, choices, FRONTS[front]!)
    const over = async (): Promise<boolean> => (await turnsAt(gateway, name)).every(({ outcome }) => outcome !== null)
    await until(over)
    if (what === 'timeout' && GO_ON.includes(front)) await client.answer(choices.deny)
    if (what === 'cancel' && !GO_ON.includes(front) && FRONTS[front]!.second !== undefined) {
      await until(() => client.refusals().length === 1)
    }
    const { ending, text } = await client.ended()
    await client.close()
    await until(() => what === 'cancel' || linesOf(name).length > 0)
    const [turn, ...more] = await turnsAt(gateway, name)
    expect(more).toEqual([])
    expect(turn).toMatchObject({ ends: 1, endsLast: true, outcome: what === 'cancel' ? 'cancelled' : 'completed' })
    return {
      shown,
      ending,
      text,
      told: toldOf(back, name),
      raw: linesOf(name).join('\n'),
      refusals: client.refusals(),
      losses: await lossesOf(turn!.turn),
      audit: auditOf(turn!.turn),
    }
  }

  test.each(CELLS.map((cell) => [cell.front, cell.back, cell.what, cell] as const))(
    'of %s by %s: %s',
    async (frontName, backName, what, cell) => {
      const front = FRONTS[frontName]!
      const back = BACKS[backName]!
      const { shown, ending, text, told, raw, refusals, losses, audit } = await played.get(cell)!
      expect(shown).toMatchObject({ tool: 'rm', args: ARGS })
      expect(shown.options).toEqual(optionsOf(front, back))
      expect(losses).toMatchObject(lostBetween(front, back, what))
      if (what === 'cancel') {
        expect(ending).toBe('cancelled')
        expect(told).toEqual(back.cancelled === undefined ? [] : [expect.objectContaining(back.cancelled)])
        expect(refusals).toMatchObject(front.second === undefined || GO_ON.includes(frontName) ? [] : [front.second])
        expect(audit).toMatchObject({ about: 'approval of rm', how: 'cancelled' })
        return
      }
      expect({ ending, text }).toEqual({ ending: 'completed', text: 'told' })
      const refused = what === 'deny' || what === 'timeout' || (what === 'edited' && !back.edited)
      const says =
        what === 'edited' && back.edited
          ? back.edited
          : back.says[what === 'ever' ? 'ever' : refused ? 'deny' : 'allow']
      expect(told).toEqual([says])
      // Digits are not rounded on the way.
      if (what === 'edited' && back.edited) expect(raw).toContain(EDITED)
      expect(audit).toMatchObject(
        what === 'timeout'
          ? { about: 'approval of rm', how: 'timeout', by: 'policy' }
          : { about: 'approval of rm', how: 'answered', by: 'client local' },
      )
      const expected =
        what !== 'allow' ? [] : front.second === undefined ? [front.unknown] : [front.unknown, front.second]
      expect(refusals).toMatchObject(expected)
    },
  )

  test('leaves no agent behind', async () => {
    await Promise.allSettled(played.values())
    expect([...gateway.engine.turns]).toEqual([])
    await until(() => pidsOf(`asker.sh\u0000agentproc@0.4\u0000${folder}`).length === 0)
  })

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  /** A turn of the native API that goes on by itself; what it asks waits for somebody. */
  const begin = async (agent: string, name: string): Promise<string> => {
    const body = { input: name, session: { id: name } }
    const response = await post(`/v1/turns/${agent}`, body, { prefer: 'respond-async' })
    return ((await response.json()) as { id: string }).id
  }
  /** Follows a turn, and answers what is asked of it when `option` says how. Gives what it saw and the answers' statuses. */
  async function watch(
    turn: string,
    query: string,
    option?: string,
    follows = () => {},
  ): Promise<{ seen: Json[]; statuses: number[] }> {
    const headers = { accept: 'application/x-ndjson' }
    const response = await fetch(`${gateway.url}/v1/turns/${turn}/events${query}`, { headers })
    const statuses: number[] = []
    const seen: Json[] = []
    let rest = ''
    for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const event = JSON.parse(line) as Json
        if (seen.push(event) === 1) follows()
        if (event['type'] !== 'ask' || option === undefined) continue
        statuses.push((await post(`/v1/turns/${turn}/approvals/${event['ask']}`, { option })).status)
      }
    }
    return { seen, statuses }
  }
  const settledIn = (seen: Json[]): Json[] => seen.filter(({ type }) => type === 'ask-settled')

  test.each(Object.keys(BACKS))('of two watchers by %s: the first answer counts, the second is told', async (back) => {
    const name = nameOf('watched', back)
    const { allow } = choicesOf(BACKS[back]!)
    const turn = await begin(nameOf(back), name)
    const watchers = await Promise.all([1, 2].map(() => watch(turn, '?asks=now', allow.option)))
    expect(watchers.flatMap(({ statuses }) => statuses).sort()).toEqual([200, 400])
    const settled = { how: 'answered', by: 'client local', option: allow.option }
    for (const { seen } of watchers) expect(settledIn(seen)).toMatchObject([settled])
    expect(toldOf(back, name)).toEqual([BACKS[back]!.says.allow])
  })

  test('is put to a watcher only where it says that it answers', async () => {
    const name = 'looked-on'
    let following = 0
    const follows = (): void => {
      following += 1
    }
    const first = await begin('native', name)
    const ask = (id: string): Promise<unknown> =>
      askHttp(gateway.url, 'zene', { text: name, session: name, agent: 'native', id })
    const behind = [ask('second')]
    const waiting = (count: number) => until(async () => (await turnsAt(gateway, name)).length === count)
    await waiting(2)
    const looking = watch((await turnsAt(gateway, name))[1]!.turn, '', undefined, follows)
    behind.push(ask('third'))
    await waiting(3)
    const answering = watch((await turnsAt(gateway, name))[2]!.turn, '?asks=now', 'ever', follows)
    await until(() => following === 2)
    await post(`/v1/turns/${first}/approvals/p1`, { option: 'no' })
    const looked = (await looking).seen
    expect(settledIn(looked)).toEqual([])
    expect(looked).toContainEqual(expect.objectContaining({ type: 'notice', code: 'ask-policy' }))
    expect(settledIn((await answering).seen)).toMatchObject([{ how: 'answered', option: 'ever' }])
    await Promise.all(behind)
    const { deny, ever } = BACKS['native']!.says
    expect(toldOf('native', name)).toEqual([deny, deny, ever])
  })

  const UNASKED: readonly ClientName[] = ['zene', 'zot', 'agentproc']
  test.each(UNASKED.flatMap((front) => Object.keys(BACKS).flatMap((back) => [[front, back] as const])))(
    'is answered by the route’s policy where %s cannot be asked by %s, and the answer says so',
    async (front, back) => {
      for (const policy of ['no', 'yes'] as const) {
        const session = nameOf(policy, 'policy', front, back)
        const shown = await askHttp(gateway.url, front, { text: session, session, agent: nameOf(back), id: session })
        expect(shown).toMatchObject({ ok: true, text: 'told' })
        if (front === 'zot') expect(shown.raw).toContain("the route's policy answered")
        expect(toldOf(back, session)).toEqual([BACKS[back]!.says[policy === 'yes' ? 'allow' : 'deny']])
        await until(async () => (await turnsAt(gateway, session))[0]?.outcome === 'completed')
        const [turn] = await turnsAt(gateway, session)
        expect(await lossesOf(turn!.turn)).toMatchObject([{ kind: 'dropped', item: 'ask', why: 'policy', count: 1 }])
        expect(auditOf(turn!.turn)).toMatchObject({ about: 'approval of rm', how: 'answered', by: 'policy' })
      }
    },
  )
})
