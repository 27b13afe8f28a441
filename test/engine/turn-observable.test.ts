import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { from } from 'rxjs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import {
  asBack,
  type BackContext,
  type BackDialect,
  type Call,
  type Frame,
  type Framing,
} from '../../src/contract/index.ts'
import { AgentLink, type LinkRun } from '../../src/engine/agent/agent-link.ts'
import { LINGER_MS } from '../../src/engine/agent/live-call.ts'
import { SILENT_SCOPE } from '../../src/engine/agent/silent-scope.ts'
import { failedTurn } from '../../src/engine/events/index.ts'
import { decode$ } from '../../src/engine/replay/observables.ts'
import { frameDecoder } from '../../src/framing/index.ts'
import { fault, type TurnEvent, type TurnStart } from '../../src/model/index.ts'
import { plainAgent, plainBack, start } from '../kit/plain.ts'
import { ScriptedBackend } from '../kit/scripted-backend.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const ROOT = join(import.meta.dirname, '../../codecs')
const GRACE = 50

/** What an agent wrote in one turn, and the dialect that reads it. */
interface Wire {
  dialect: BackDialect
  context: BackContext<unknown>
  start: Partial<TurnStart>
  text: string
}

/** The samples of every back half, by their file. */
async function recordedWires(): Promise<Map<string, Wire>> {
  const wires = new Map<string, Wire>()
  for (const [folder, codec] of Object.entries(await loadCodecs())) {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((name) => name.endsWith('.wire'))) {
      const base = join(ROOT, folder, file.slice(0, -'.wire'.length))
      const setup = existsSync(`${base}.setup.json`) ? JSON.parse(readFileSync(`${base}.setup.json`, 'utf8')) : {}
      if (setup.half === 'front') continue
      const checked = codec.options.schema['~standard'].validate(setup.options ?? {})
      if (checked instanceof Promise || checked.issues) throw new Error(`bad options of ${base}`)
      const own = { agent: 'agent', env: {}, folder: '/agents', recorded: 'agent', ...setup } as const
      wires.set(`${folder}/${file}`, {
        dialect: asBack(codec.dialects[setup.dialect ?? Object.keys(codec.dialects)[0]!]),
        context: { ...own, options: checked.value },
        start: { turn: 't1', ...setup.start },
        text: readFileSync(`${base}.wire`, 'utf8'),
      })
    }
  }
  return wires
}

const WIRES = await recordedWires()

/** A link on a backend that a test plays, and the events of its turn. */
function linked(dialect: BackDialect, context: BackContext<unknown>, more: Partial<TurnStart> = {}) {
  const backend = new ScriptedBackend()
  const link = new AgentLink(plainAgent('', { backend, dialect, context }), SILENT_SCOPE, {
    idleEvent() {},
    callFailed() {},
  })
  const run: LinkRun = {
    command: start(more),
    scope: SILENT_SCOPE,
    graceMs: GRACE,
    answerLimit: 1e6,
    loss() {},
    progress() {},
  }
  const events: TurnEvent[] = []
  const subscribe = () => link.run(run).subscribe((event) => events.push(event))
  return { backend, link, run, events, subscribe }
}

const ends = (events: readonly TurnEvent[]): TurnEvent[] => events.filter(({ type }) => type === 'turn-end')
const HOW = ['unsubscribe', 'cancel', 'abort', 'expire', 'crash', 'nothing'] as const

test('law: however and whenever a turn is ended, it has one end, and its agent is stopped once', async () => {
  const moments = fc.record({
    wire: fc.constantFrom(...WIRES.keys()),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    how: fc.constantFrom(...HOW),
    goesOn: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(moments, async ({ wire: file, cuts, at, how, goesOn }) => {
      const wire = WIRES.get(file)!
      const { backend, link, run, events, subscribe } = linked(wire.dialect, wire.context, wire.start)
      const places = [0, ...cuts.map((cut) => Math.floor(cut * wire.text.length)), wire.text.length].sort(
        (a, b) => a - b,
      )
      const chunks = places.slice(1).map((to, index) => wire.text.slice(places[index], to))
      const first = Math.floor(at * (chunks.length + 1))
      const feed = (pieces: readonly string[]): void => {
        for (const piece of pieces) if (backend.calls.length > 0) backend.call.say(piece)
      }

      const subscription = subscribe()
      if (backend.calls.at(-1)?.call.kind === 'http') {
        backend.call.head(wire.dialect.framing === 'sse' ? 'text/event-stream' : 'application/json')
      }
      feed(chunks.slice(0, first))
      const seen = events.length
      const endedBefore = ends(events).length === 1
      if (how === 'unsubscribe') subscription.unsubscribe()
      else if (how === 'cancel') link.cancel(run)
      else if (how === 'abort') link.abort(failedTurn('t1', fault('timeout', 'late')), 'timeout')
      else if (how === 'expire') link.expire(fault('timeout', 'late'))
      else if (how === 'crash') for (const call of backend.calls) call.end({ why: 'closed', exitCode: 1 })
      if (goesOn || how === 'nothing') feed(chunks.slice(first))
      if (how === 'nothing') for (const call of backend.calls) call.end()
      vi.advanceTimersByTime(10 * GRACE + LINGER_MS)
      // An agent without a call waits for the answer to its question, which starts the next one.
      if (how !== 'unsubscribe' && ends(events).length === 0) {
        expect(events.map(({ type }) => type)).toContain('ask')
        link.cancel(run)
        vi.advanceTimersByTime(2 * GRACE)
      }
      await link.settled()

      if (how === 'unsubscribe') expect(events.length).toBe(seen)
      else expect(ends(events)).toHaveLength(1)
      expect(ends(events).length).toBeLessThanOrEqual(1)
      if (ends(events).length === 1) expect(events.at(-1)?.type).toBe('turn-end')
      if (endedBefore) expect(events.length).toBe(seen)
      // One that lives over turns goes on when it has ended its turn itself; any other has exited or was stopped, once.
      for (const call of backend.calls) {
        if (call.ended) expect(call.stops.length).toBeLessThanOrEqual(1)
        else expect([link.persistent, link.dead, call.stops]).toEqual([true, false, []])
      }
      expect(vi.getTimerCount()).toBe(0)
      await link.stop('closed', 0)
    }),
    { numRuns: 400 },
  )
})

test.each([...WIRES.keys()])('a live agent and decode$ give the same events for %s', async (file) => {
  const { dialect, context, start: more, text } = WIRES.get(file)!
  const { backend, link, events, subscribe } = linked(dialect, context, more)
  subscribe()
  const { kind } = backend.call.call
  if (kind === 'http') backend.call.head('text/plain')
  const frames: Frame[] = []
  const decoder = frameDecoder(framingOf(backend.call.call, dialect), 1 << 24, {
    frame: (frame) => frames.push(frame),
    fault() {},
  })
  decoder.push(text)
  decoder.end()
  const decoded: TurnEvent[] = []
  decode$(dialect, from(frames), { context, start: start(more) }).subscribe((event) => decoded.push(event))
  backend.call.say(text)
  backend.call.end()
  // A question that is open waits for its answer on a live link, and is over with a recording.
  if (ends(events).length === 0) decoded.length = events.length
  expect(events).toEqual(decoded)
  await link.stop('closed', 0)
})

function framingOf(call: Call, { framing }: BackDialect): Framing {
  return call.kind === 'http' ? call.answer : framing
}

describe('unsubscribing from a turn', () => {
  const context = { options: {}, agent: 'plain', env: {}, folder: '/' }
  const TEXT = `${JSON.stringify({ turn: 't', type: 'text-delta', message: 'm', text: 'hi' })}\n`
  const END = `${JSON.stringify({ turn: 't', type: 'turn-end', outcome: 'completed' })}\n`
  const READY = `${JSON.stringify({ turn: null, type: 'agent-ready' })}\n`
  const plain = () => linked(plainBack(), context)
  const persistent = () => {
    const it = linked(plainBack({ persistent: true }), context)
    it.backend.call.say(READY)
    return it
  }
  const words = ({ backend }: ReturnType<typeof linked>): string[] =>
    backend.call.written.map((line) => (JSON.parse(line) as { type: string }).type)

  test('ends the process of one turn at once', async () => {
    const { backend, link, events, subscribe } = plain()
    const subscription = subscribe()
    backend.call.say(TEXT)
    subscription.unsubscribe()
    expect([backend.call.stops, events.length]).toEqual([['cancelled'], 2])
    await link.settled()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('asks an agent that goes on, and leaves it alive when it heeds', async () => {
    const it = persistent()
    const subscription = it.subscribe()
    it.backend.call.say(TEXT)
    subscription.unsubscribe()
    expect([words(it), it.backend.call.stops]).toEqual([['turn-start', 'turn-cancel'], []])
    let settled = false
    const done = it.link.settled()!.then(() => {
      settled = true
    })
    await Promise.resolve()
    expect(settled).toBe(false)
    it.backend.call.say(END)
    await done
    expect([it.events.length, it.link.dead, vi.getTimerCount()]).toEqual([2, false, 0])
    it.subscribe()
    it.backend.call.say(END)
    expect(it.events.length).toBe(3)
  })

  test('ends an agent that does not heed after the grace', async () => {
    const it = persistent()
    it.subscribe().unsubscribe()
    vi.advanceTimersByTime(GRACE - 1)
    expect(it.backend.call.stops).toEqual([])
    vi.advanceTimersByTime(1)
    await it.link.settled()
    expect([it.backend.call.stops, it.link.dead]).toEqual([['cancelled'], true])
  })

  test('after the end does nothing to an agent that goes on, and lets one of one turn exit', async () => {
    const it = persistent()
    const subscription = it.subscribe()
    it.backend.call.say(END)
    subscription.unsubscribe()
    expect([words(it), it.backend.call.stops, vi.getTimerCount()]).toEqual([['turn-start'], [], 0])
    const one = plain()
    one.subscribe()
    one.backend.call.say(END)
    vi.advanceTimersByTime(LINGER_MS - 1)
    expect(one.backend.call.stops).toEqual([])
    vi.advanceTimersByTime(1)
    await one.link.settled()
    expect(one.backend.call.stops).toEqual(['closed'])
  })
})

describe('a turn that its client cancels', () => {
  const context = { options: {}, agent: 'plain', env: {}, folder: '/' }

  test('has its events until its agent ends it, and the agent stays', () => {
    const { backend, link, run, events, subscribe } = linked(plainBack({ persistent: true }), context)
    backend.call.say(`${JSON.stringify({ turn: null, type: 'agent-ready' })}\n`)
    subscribe()
    link.cancel(run)
    backend.call.say(`${JSON.stringify({ turn: 't', type: 'usage', scope: 'turn', usage: { input: 1 } })}\n`)
    backend.call.say(`${JSON.stringify({ turn: 't', type: 'turn-end', outcome: 'failed' })}\n`)
    expect(events).toMatchObject([{ type: 'usage' }, { type: 'turn-end', outcome: 'cancelled' }])
    expect([backend.call.stops, link.dead, vi.getTimerCount()]).toEqual([[], false, 0])
  })

  test.each([
    ['lives over turns', true, GRACE, ['cancelled']],
    ['serves one turn and cannot be killed', false, 2 * GRACE, ['cancelled', 'cancelled']],
  ])('is ended after the grace for an agent that %s', (_which, persistent, ms, stops) => {
    const { backend, link, run, events, subscribe } = linked(plainBack({ persistent }), context)
    if (persistent) backend.call.say(`${JSON.stringify({ turn: null, type: 'agent-ready' })}\n`)
    subscribe()
    backend.call.stubborn = true
    link.cancel(run)
    vi.advanceTimersByTime(ms - 1)
    expect(events).toEqual([])
    vi.advanceTimersByTime(1)
    expect(events).toMatchObject([{ type: 'turn-end', outcome: 'cancelled' }])
    expect(backend.call.stops).toEqual(stops)
  })

  test('is ended at once when its agent is not ready yet', () => {
    const { backend, link, run, events, subscribe } = linked(plainBack({ persistent: true }), context)
    subscribe()
    link.cancel(run)
    expect([backend.call.stops, events.length, link.dead]).toEqual([['cancelled'], 1, true])
  })
})

test('a turn goes on after the end of its call while its question is open, and ends with that of the next call', () => {
  const { backend, link, events, subscribe } = linked(answering(plainBack()), {
    options: {},
    agent: 'plain',
    env: {},
    folder: '/',
  })
  subscribe()
  const question = { kind: 'input', title: 'which', schema: '{}' }
  backend.call.say(`${JSON.stringify({ turn: 't', type: 'ask', ask: 'a', question })}\n`)
  backend.call.end()
  expect(ends(events)).toEqual([])
  link.send({ type: 'ask-reply', exchange: 'x', target: 'running', ask: 'a', reply: { kind: 'input', values: '{}' } })
  expect(backend.calls.length).toBe(2)
  backend.call.end({ why: 'closed', exitCode: 3 })
  expect(ends(events)).toMatchObject([{ outcome: 'failed', fault: { code: 'agent-crashed' } }])
})

/** The dialect of agents that are started again with the answer to a question. */
function answering(dialect: BackDialect): BackDialect {
  return {
    ...dialect,
    back: {
      ...dialect.back,
      open: (context, ports) => {
        const link = dialect.back.open(context, ports)
        return {
          ...link,
          encode: (command) => {
            if (command.type === 'ask-reply') ports.open({ kind: 'process', stdin: 'open' })
            link.encode(command)
          },
        }
      },
    },
  }
}
