import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import type { AnyCodec, Dialect } from '../../src/contract/index.ts'
import { predictPair } from '../../src/engine/carry/predict.ts'
import { LiveView } from '../../src/engine/events/view.ts'
import { namedDialects } from '../../src/matrix/index.ts'
import {
  type AgentEvent,
  type Command,
  type Item,
  type Loss,
  LossLedger,
  type TurnEvent,
  type TurnStart,
} from '../../src/model/index.ts'
import { Mirror, optionsOf } from '../kit/mirror.ts'
import { CASES, type Case } from './cases.ts'
import { FrontClient, OWN_CLIENTS, type Read } from './pairs.clients.ts'

/**
 * Every dialect that clients speak in front of every one that agents speak, in memory. An agent of the one protocol is its own front half showing a
 * canonical turn, a client of the other is its own back half asking for one: so all that is said goes over both wires,
 * there and back, whatever the protocols, and a new one is tested without a line here. Dialects without agents have
 * clients of their own in pairs.clients.ts.
 */

const codecs = await loadCodecs()
const dialects = namedDialects(Object.values(codecs))
const fronts = dialects.filter(({ dialect }) => dialect.front)
/** The dialects that agents speak; each of them has clients too. */
const backs = dialects.filter(({ dialect }) => dialect.front && dialect.back)
const ACCEPT = process.env['ACCEPT'] === '1'

test('every dialect that only clients speak has one here', () => {
  const alone = fronts.filter(({ dialect }) => !dialect.back).map(({ name }) => name)
  expect(alone.sort()).toEqual(Object.keys(OWN_CLIENTS).sort())
  expect(dialects.filter(({ dialect }) => !dialect.front).map(({ name }) => name)).toEqual([
    'claude-code',
    'codex',
    'codex@exec',
  ])
})

function dialectOf(name: string): Dialect {
  return dialects.find((known) => known.name === name)!.dialect
}

/** What came of one turn of one pair. */
interface Played extends Read {
  /** What the gateway between them read of the agent. */
  between: AgentEvent[]
  input: string
  losses: readonly Loss[]
}

function codecOf(name: string): AnyCodec {
  return codecs[name.split('@')[0]!]!
}

/** Plays a case from an agent of the one dialect to a client of the other, and back. */
function play(client: string, agent: string, { input, told, outcome }: Case): Played {
  const losses = new LossLedger()
  const between: AgentEvent[] = []
  const read: TurnEvent[] = []
  const left = [...told]
  const cancelled = outcome === 'cancelled'
  let inner = ''
  let heard = false
  const lose = (loss: Loss): void => losses.add(loss)
  const goOn = (): void => {
    for (let next = left.shift(); next; next = left.shift()) {
      agentSide.show({ ...next, turn: '' } as TurnEvent)
      if (queue.length > 0) return
    }
  }
  const agentSide = new Mirror(dialectOf(agent), optionsOf(codecOf(agent)), {
    started: (command) => {
      inner = textIn(command)
    },
    command: (command) => {
      if (command.type === 'ask-reply') goOn()
    },
    event: (event) => {
      between.push(event)
      if (event.turn === null) clientSide.client?.tell(event)
      else clientSide.show(event)
      // Who is not asked, or answers with a request of its own, is answered for.
      const asks = clientSide instanceof Mirror && clientSide.exchange?.asksInline
      if (event.turn !== null && event.type === 'ask' && !asks) answer(agentSide, event)
    },
    asked: lose,
  })
  const start: Command & TurnStart = {
    exchange: 'x1',
    session: { id: 's1' },
    type: 'turn-start',
    turn: 'turn-1',
    task: 'prompt',
    input: input ?? [{ type: 'text', text: 'What is it?' }],
    options: { streaming: true },
  }
  const mirrored = (dialect: Dialect): Mirror =>
    new Mirror(dialect, optionsOf(codecOf(client)), {
      started: (command) => agentSide.start(command),
      command: (command) => {
        heard = true
        agentSide.agent.send(command)
      },
      event: (event) => {
        if (event.turn === null) return
        read.push(event)
        if (event.type === 'ask') answer(mirror!, event)
      },
      shown: lose,
    })
  const front = dialectOf(client)
  const mirror = front.back && mirrored(front)
  const own = (): FrontClient =>
    new FrontClient(front, client, (command) => agentSide.start(command.type === 'turn-start' ? command : start), lose)
  const clientSide = mirror ?? own()
  agentSide.open()
  mirror?.open()
  clientSide.start(start)
  clientSide.show({ type: 'turn-accepted', turn: '', how: 'new', session: 's1' })
  agentSide.show({ type: 'turn-accepted', turn: '', how: 'new', session: 's1' })
  agentSide.show({ type: 'turn-started', turn: '' })
  if (cancelled) {
    const cancel = { exchange: 'x3', type: 'turn-cancel', target: { turn: 'turn-1' } } as const
    mirror?.agent.send(cancel)
    // A client whose protocol has no word for it goes away.
    if (!heard) agentSide.agent.send(cancel)
  }
  goOn()
  for (let next = queue.shift(); next; next = queue.shift()) next()
  const made = clientSide instanceof FrontClient ? clientSide.result() : resultOf(read)
  return { ...made, between, input: inner, losses: losses.list }
}

function resultOf(read: readonly TurnEvent[]): Read {
  const view = new LiveView({ turn: 'turn-1', session: 's1', agent: 'agent', at: 0 })
  for (const event of read) view.apply(event, 0)
  const ends = read.filter(({ type }) => type === 'turn-end').length
  return { text: view.text, outcome: view.end?.outcome, ends }
}

function answer({ agent }: Mirror, event: TurnEvent): void {
  if (event.type !== 'ask' || event.question.kind !== 'approval') return
  const option = event.question.options.find(({ kind }) => kind === 'allow')!.id
  queue.push(() =>
    agent.send({
      exchange: 'x2',
      type: 'ask-reply',
      target: { turn: event.turn },
      ask: event.ask,
      reply: { kind: 'approval', option },
    }),
  )
}

/** Answers wait until the frame in hand is read, as they do in a gateway. */
const queue: (() => void)[] = []

function textIn({ input }: Pick<TurnStart, 'input'>): string {
  return input.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** What the pair lost, in words, each once. */
function lost(losses: readonly Loss[]): string {
  return [...new Set(losses.map(({ kind, item, field }) => `${kind} ${item}${field ? `(${field})` : ''}`))]
    .sort()
    .join(', ')
}

/** Where the losses of every cell are written down; `ACCEPT=1` rewrites it. */
const EXPECTED = join(import.meta.dirname, 'pairs.losses.json')
const expected = JSON.parse(readFileSync(EXPECTED, 'utf8')) as Record<string, Record<string, string>>
const seen: Record<string, Record<string, string>> = {}

const pairs = fronts.flatMap((client) => backs.map((agent) => ({ client: client.name, agent: agent.name })))

describe.each(pairs)('$client → $agent', (of) => {
  const { client, agent } = of
  const [front, back] = [dialectOf(client).front!, dialectOf(agent).back!]
  const pair = predictPair(front.capabilities, back.capabilities, client === agent)
  const cells: Record<string, string> = {}
  seen[`${client} → ${agent}`] = cells

  test.each(Object.keys(CASES))('%s', (name) => {
    const one = CASES[name]!
    const played = play(client, agent, one)
    expect(played.outcome).toBe(one.outcome ?? 'completed')
    expect(played.ends).toBe(1)
    expect(played.text).toBe(one.text)
    expect(played.input).toBe(textIn({ input: one.input ?? [{ type: 'text', text: 'What is it?' }] }))
    expect(
      played.losses.filter((loss) => !isForeseen(loss, pair)).map((loss) => ({ ...loss, way: pair[loss.item] })),
    ).toEqual([])
    const dropped = new Set(played.losses.filter(({ kind }) => kind === 'dropped').map(({ item }) => item))
    const gone = played.between.flatMap(itemsOf).filter((item) => pair[item] === 'lost' && !isTold(item, dropped))
    expect(gone).toEqual([])
    cells[name] = lost(played.losses)
    if (!ACCEPT) expect(cells[name]).toBe(expected[`${client} → ${agent}`]?.[name])
  })
})

afterAll(() => {
  if (ACCEPT) writeFileSync(EXPECTED, `${JSON.stringify(seen, undefined, 2)}\n`)
  const cases = Object.keys(CASES)
  const rows = Object.entries(seen).map(([pair, cells]) => [pair, ...cases.map((name) => mark(cells[name]))])
  const widths = ['pair', ...cases].map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]!.length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  process.stdout.write(`\n${[['pair', ...cases], ...rows].map(line).join('\n')}\n\n`)
  expect(rows.flat()).not.toContain('')
})

/** A cell of the matrix: passed, passed with so many things lost as expected, or not passed. */
function mark(cell: string | undefined): string {
  if (cell === undefined) return 'FAILED'
  return cell === '' ? 'passed' : `${cell.split(', ').length} lost`
}

function isForeseen({ kind, item, why, field }: Loss, pair: ReturnType<typeof predictPair>): boolean {
  // What a front must make up, or keeps back of a failed turn, is none of what two protocols have no place for.
  if (kind === 'invented' || why === 'policy' || field === 'lane') return true
  if (pair[item] === 'served') return true
  return pair[item] === 'weakened' || (kind === 'dropped' && pair[item] === 'lost')
}

function itemsOf(event: AgentEvent): Item[] {
  if (event.turn === null) return []
  if (event.type !== 'usage') return [event.type]
  return ['usage', ...Object.keys(event.usage).map((field) => `usage.${field}` as Item)]
}

/** Lost on its own, or with the event that it is in. */
function isTold(item: Item, dropped: ReadonlySet<Item>): boolean {
  if (item === 'ask-settled' || item === 'foreign') return true
  return dropped.has(item) || dropped.has(item.split('.')[0] as Item)
}
