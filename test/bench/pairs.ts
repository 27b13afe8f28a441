/**
 * Every pair of protocols: a turn of text as an agent of the one would write it, made by that protocol's own front, then
 * read by its back half, all in one read, and written for a client of the other. Framing, both halves, the laws of a turn and its view
 * take part; the limit parses and writes the JSON of the same lines.
 */
import { loadCodecs } from '../../codecs/index.ts'
import { type AnyCodec, asBack, asFront, type Dialect, type FrontContext } from '../../src/contract/index.ts'
import { acceptedTurn, type Exchange, RecordedAgent, RecordedClient } from '../../src/engine/replay/observables.ts'
import { encodeFrame, encodeRun, frameDecoder } from '../../src/framing/index.ts'
import type { Command, TextRun, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { CLIENTS, type ClientName } from '../kit/clients.ts'
import { EVENTS } from './gateway.ts'

/** The longest that one pair is timed for, in milliseconds. */
export const MOST = 40

/** A pair's processor time for one event and that of its limit, in microseconds. */
export interface Pair {
  from: string
  to: string
  micros: number
  baseline: number
}

/** A protocol, as it is measured. */
export interface Side {
  name: string
  codec: AnyCodec
  dialect: Dialect
}

const TURN = 't'
const START: Command & TurnStart = {
  type: 'turn-start',
  exchange: 'x',
  turn: TURN,
  request: 'r1',
  task: 'prompt',
  input: [{ type: 'text', text: 'go' }],
  options: { streaming: true },
  session: { id: 's' },
}

/** A turn that streams its answer. */
function turn(id: string): TurnEvent[] {
  const of = { turn: id }
  const pieces = Array.from({ length: EVENTS }, (_, at) => ` a few words of an answer ${at}`)
  return [
    acceptedTurn(id, 'new', 's', undefined),
    { ...of, type: 'turn-started' },
    { ...of, type: 'message-start', message: 'm', role: 'assistant' },
    ...pieces.map((text) => ({ ...of, type: 'text-delta' as const, message: 'm', text })),
    { ...of, type: 'message-end', message: 'm', parts: [{ type: 'text', text: pieces.join('') }] },
    { ...of, type: 'usage', scope: 'turn', usage: { input: 1, output: 2 } },
    { ...of, type: 'turn-end', outcome: 'completed', stop: 'end' },
  ]
}

/** What opens a streamed exchange of each protocol. */
const OPENING: Readonly<
  Record<string, { argv: readonly string[]; client: ClientName; frame?: string; options?: object }>
> = {
  native: { argv: [], client: 'native' },
  openharness: { argv: [], client: 'openharness' },
  zene: {
    argv: ['host', '--protocol', 'v1', '--single-request', 'false'],
    client: 'zene',
    frame: '{"protocol_version":1,"type":"run","request_id":"r1","session_id":"s","prompt":"go","idempotency_key":"k"}',
    options: { mode: 'stream' },
  },
  zot: { argv: ['rpc'], client: 'zot' },
  'agentproc@0.4': { argv: [], client: 'agentproc@0.4', options: { streaming: true } },
}

/** A client that reads a turn. */
interface Reader {
  turn: string
  deliver(event: TurnEvent): void
  texts(run: TextRun): void
}

function client(side: Side, send: (text: string) => void): Reader {
  const opening = OPENING[side.name]!
  const http = side.name === 'openharness'
  const context: FrontContext = {
    transport: http ? 'http' : 'stdio',
    method: http ? 'POST' : '',
    path: opening.argv[0] ?? '',
    query: '',
    headers: http ? { accept: 'text/event-stream', 'content-type': 'application/json' } : {},
    argv: opening.argv,
    env: {},
  }
  let exchange: Exchange | undefined
  const recorded = new RecordedClient(
    { dialect: asFront(side.dialect), context },
    {
      command: (_command, opened) => {
        exchange = opened ?? exchange
      },
      send: (frame, framing) => send(encodeFrame(framing, frame)),
    },
  )
  recorded.onRun = (run, framing) => send(encodeRun(framing, run))
  recorded.open()
  const asked = CLIENTS[opening.client].write({ text: 'go', session: 's' })
  recorded.decode(
    http ? asked.replace('{', '{"capabilities":{"openharness.streaming":true},') : (opening.frame ?? asked).trimEnd(),
  )
  if (!exchange) throw new Error(`${side.name} opens no exchange`)
  const { command } = exchange
  const id = command.type === 'turn-start' ? command.turn : TURN
  return {
    turn: id,
    deliver: (event) => recorded.deliver(event, exchange!),
    texts: (run) => recorded.deliverTexts(run, exchange!),
  }
}

/** What an agent of this protocol writes for the turn. */
export function wireOf(side: Side): string {
  let text = ''
  const reader = client(side, (piece) => {
    text += piece
  })
  for (const event of turn(reader.turn)) reader.deliver(event)
  return text
}

function framingOf({ name, dialect }: Side): 'sse' | 'ndjson' | 'text' | 'body' {
  return name === 'openharness' ? 'sse' : dialect.framing
}

/**
 * The wire of `from` into a wire of `to`, whose pieces `send` gets; gives how many pieces of text were translated. The wire
 * comes in one read, whose pieces of text are taken together as in a gateway unless `together` is false.
 */
export function translateOnce(
  from: Side,
  wire: string,
  to: Side,
  send: (text: string) => void,
  together = true,
): number {
  let events = 0
  const reader = client(to, send)
  reader.deliver(acceptedTurn(reader.turn, 'new', 's', undefined))
  const context = {
    options: OPENING[from.name]!.options ?? {},
    agent: 'agent',
    env: {},
    folder: '/',
    recorded: 'agent' as const,
  }
  const agent = new RecordedAgent(
    asBack(from.dialect),
    { ...context, process: { command: 'x', env: {}, cwd: '/' } },
    {
      event: (event) => {
        if (event.type === 'text-delta') events += 1
        reader.deliver(event)
      },
      ...(together && {
        texts: (run: TextRun) => {
          events += run.length
          reader.texts(run)
        },
      }),
    },
  )
  agent.open()
  agent.start({ ...START, turn: reader.turn })
  if (from.name === 'openharness') agent.head({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  const decoder = frameDecoder(framingOf(from), 1 << 24, {
    frame: (frame) => agent.decode(frame),
    texts: (run) => agent.decodeTexts(run),
    fault() {},
  })
  agent.read(() => decoder.push(wire))
  decoder.end()
  agent.end({ why: 'closed', exitCode: 0 })
  return events
}

/** The JSON of a wire's lines. */
function jsonOf(wire: string): string[] {
  return wire.split('\n').flatMap((line) => /^(?:data: |[A-Z_]+:)?([{"[].*)$/.exec(line)?.[1] ?? [])
}

/** How long one of two that are compared runs before it is the other's turn, in milliseconds. */
const SLICE = 5

/** Lets the compiler see what runs: a gateway does it for hours. */
function warmUp(ms: number, run: () => void): void {
  const begin = performance.now()
  do run()
  while (performance.now() - begin < ms)
}

/**
 * Runs two things in turn for about so many milliseconds each after a warm-up, so that whatever else the machine does
 * befalls both; microseconds of processor time for one run of each.
 */
function compare(ms: number, runs: readonly [() => void, () => void]): [number, number] {
  for (const run of runs) warmUp(ms / 2, run)
  const taken: [number, number] = [0, 0]
  const times: [number, number] = [0, 0]
  for (let spent = 0; spent < ms; spent += SLICE) {
    for (const which of [0, 1] as const) {
      const begin = performance.now()
      const before = process.cpuUsage()
      do {
        runs[which]()
        times[which] += 1
      } while (performance.now() - begin < SLICE)
      const { user, system } = process.cpuUsage(before)
      taken[which] += user + system
    }
  }
  return [taken[0] / times[0], taken[1] / times[1]]
}

/** The protocols of which every pair is measured. */
export async function everySide(): Promise<Side[]> {
  const codecs = await loadCodecs()
  return Object.keys(OPENING).map((name): Side => {
    const [protocol = '', dialect] = name.split('@')
    const codec = codecs[protocol]!
    return { name, codec, dialect: codec.dialects[dialect ?? Object.keys(codec.dialects)[0]!]! }
  })
}

/** Times every pair and its limit for about `ms` milliseconds each. */
export async function pairs(ms: number): Promise<Pair[]> {
  const sides = await everySide()
  return sides.flatMap((from) => {
    const wire = wireOf(from)
    const lines = jsonOf(wire)
    let written = 0
    const count = (text: string): void => {
      written += text.length
    }
    const events = translateOnce(from, wire, from, count)
    if (events < EVENTS || written < EVENTS) throw new Error(`${from.name} gave ${events} events back`)
    const limit = (): unknown => lines.map((line) => JSON.stringify(JSON.parse(line)))
    return sides.map((to): Pair => {
      const [micros, baseline] = compare(ms, [() => translateOnce(from, wire, to, count), limit])
      return { from: from.name, to: to.name, micros: micros / EVENTS, baseline: baseline / EVENTS }
    })
  })
}
