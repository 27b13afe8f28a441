import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { type Answered, MODELS, type Said } from '../kit/models/index.ts'
import { until } from '../kit/processes.ts'
import { ANSWER, inLanes, turnsOf } from './kit.ts'
import { type OddModel, startOddModel } from './odd-model.ts'
import { MODEL_BEHAVIOURS } from './odd-model-answers.ts'
import { keepOutcomes, keptOutcomes, type Outcomes, wordsFor } from './outcomes.ts'

/**
 * Every way of a server of a model to misbehave × the three protocols of models, behind a gateway whose client speaks
 * Chat Completions and has a tool: a turn has the named outcome of `model-outcomes.json`, one end where it has one, and the
 * session goes on. `ACCEPT=1` rewrites the file.
 */
const ACCEPT = process.env['ACCEPT'] === '1'
const KEPT = keptOutcomes('model-outcomes')
const PROTOCOLS = Object.keys(MODELS)
const CELLS = Object.keys(MODEL_BEHAVIOURS).flatMap((behaviour) => PROTOCOLS.map((name) => [behaviour, name] as const))
const client = MODELS['chat']!

/** Nothing but a limit ends its turn. */
const ENDLESS: readonly string[] = [
  'never-headers',
  'headers-then-nothing',
  'half-then-nothing',
  'comments-for-ever',
  'pings-for-ever',
  'no-last-chunk-and-open',
  'length-too-long-and-open',
  'open-after-the-end',
  'open-after-the-text',
  'switches-protocols',
]
const agentOf = (behaviour: string, name: string): string => `${name}.${behaviour}`
const sessionOf = (behaviour: string, name: string): string => `${name}-${behaviour}`

interface Told {
  answered: Answered
  turn: string
}

describe('a server of a model that misbehaves', { timeout: 120_000 }, () => {
  let gateway: TestGateway
  const servers = new Map<string, OddModel>()
  const results = new Map<string, Promise<[Told, Told]>>()
  const seen: Outcomes = {}

  beforeAll(async () => {
    for (const name of PROTOCOLS) servers.set(name, await startOddModel(MODELS[name]!))
    const lines = CELLS.map(([behaviour, name]) => {
      const limits = ENDLESS.includes(behaviour) ? 'limits: { firstEvent: 1s, idle: 1s, total: 3s }, ' : ''
      const agent = MODELS[name]!.agent(servers.get(name)!.url(behaviour))
      return `  ${agentOf(behaviour, name)}: { ${agent}, ${limits}headers: { Authorization: "Bearer canary" }, breaker: { failures: 1000 } }\n`
    })
    gateway = await startGateway(`
limits: { firstEvent: 60s, idle: 60s, total: 60s, grace: 200ms }
agents:
${lines.join('')}`)
    const waiting = inLanes(
      8,
      CELLS.map(
        ([behaviour, name]) =>
          () =>
            converse(behaviour, name),
      ),
    )
    for (const [at, [behaviour, name]] of CELLS.entries()) results.set(agentOf(behaviour, name), waiting[at]!)
  })
  afterAll(async () => {
    await gateway.close()
    for (const server of servers.values()) server.close()
    if (ACCEPT) keepOutcomes(seen, 'model-outcomes')
  })

  async function ask(behaviour: string, name: string, messages: Said[]): Promise<Told> {
    const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
    const asked = { model: agentOf(behaviour, name), messages, tools, stream: true }
    const answer = await fetch(gateway.url + client.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'turnpike-session': sessionOf(behaviour, name) },
      body: JSON.stringify(client.write(asked)),
    })
    return { answered: client.read(await answer.text()), turn: answer.headers.get('turnpike-turn')! }
  }

  /** A turn with the server that misbehaves, and one behind it that is answered well. */
  async function converse(behaviour: string, name: string): Promise<[Told, Told]> {
    const go: Said = { role: 'user', text: 'go' }
    const behave: Said = { role: 'user', text: 'behave' }
    const first = await ask(behaviour, name, [go])
    const { calls, text } = first.answered
    // A request without the results of calls gives up the turn that waits for them.
    const said: Said[] = calls.length === 0 ? [] : [go, { role: 'assistant', text, calls }]
    return [first, await ask(behaviour, name, [...said, behave])]
  }

  test.each(CELLS)('%s, %s', async (behaviour, name) => {
    const [first, next] = await results.get(agentOf(behaviour, name))!
    const { answered, turn } = first
    const store = join(gateway.folder, 'turnpike.db')
    const kept = () => turnsOf(store, sessionOf(behaviour, name)).find((one) => one.turn === turn)!
    await until(() => kept().outcome !== null)
    const { outcome, code, ends, endsLast } = kept()
    const unparsed = (answered.losses ?? []).filter(({ kind }) => kind === 'unparsed').length
    const words =
      answered.stop === 'tools' ? callWords(answered) : wordsFor({ outcome, code, text: answered.text, unparsed })
    seen[behaviour] = { ...seen[behaviour], [name]: words }
    expect({ words, ends, endsLast }).toEqual({
      words: ACCEPT ? words : KEPT[behaviour]?.[name],
      ends: 1,
      endsLast: true,
    })
    // What the client reads is never better than the record.
    expect(answered.error === undefined).toBe(outcome === 'completed' || answered.stop === 'tools')
    expect(JSON.stringify(first)).not.toContain('canary')
    expect(next.answered).toMatchObject({ text: ANSWER, stop: 'end' })
  })

  test('has no outcome that nothing is tried for', () => {
    const named = Object.entries(KEPT).flatMap(([behaviour, by]) =>
      Object.keys(by).map((name) => `${behaviour} ${name}`),
    )
    const tried = CELLS.map(([behaviour, name]) => `${behaviour} ${name}`)
    expect(ACCEPT ? [] : named.sort()).toEqual(ACCEPT ? [] : tried.sort())
  })

  test('is never followed to where it points', async () => {
    await Promise.allSettled(results.values())
    expect([...servers.values()].map((server) => server.strays())).toEqual([0, 0, 0])
    expect([...gateway.engine.turns]).toEqual([])
  })
})

/** The calls that the client is to run. */
function callWords({ calls, text }: Answered): string {
  const said = calls.map(({ name, args }) => `${name}(${args.length > 60 ? `${args.length} characters` : args})`)
  return `${text === '' ? '' : `${JSON.stringify(text)} and `}calls ${said.join(', ')}`
}
