import { describe, expect, test } from 'vitest'
import {
  type BackDialect,
  type BackLink,
  type BackPorts,
  capabilities,
  type FileRequest,
  type FileResult,
  frameText,
} from '../../src/contract/index.ts'
import { type BackCalls, BackHost, type BackListener } from '../../src/engine/agent/back-host.ts'
import {
  type AgentEvent,
  type Command,
  type Fault,
  fault,
  ITEMS,
  TextRun,
  type TurnEvent,
} from '../../src/model/index.ts'
import { ALL, start } from '../kit/plain.ts'

const LOST = fault('agent-crashed', 'gone')
const END = { turn: 't', type: 'turn-end', outcome: 'completed' } as const
const TEXT = { turn: 't', type: 'text-delta', message: 'm', text: 'hi' } as const

/** A host of a link that is made of these parts, and what it says. */
function hosted(parts: (ports: BackPorts) => Partial<BackLink> = () => ({}), able = ALL) {
  const said: unknown[] = []
  const encoded: Command[] = []
  const listener: BackListener = {
    link: (event) => void said.push(event.type),
    loss: ({ kind, item }, direction) => void said.push(`${kind} ${item} of the ${direction}`),
    fault: ({ code, message }) => void said.push(`${code}: ${message}`),
    idle: () => void said.push('idle'),
  }
  const dialect: BackDialect = {
    wireVersion: '1',
    framing: 'ndjson',
    back: {
      capabilities: able,
      memory: () => 'process',
      open: (_context, ports) => ({
        encode: (command) => void encoded.push(command),
        decode: (frame) => ports.emit(JSON.parse(frameText(frame))),
        decodeEnd() {},
        ...parts(ports),
      }),
    },
  }
  const calls = { open() {}, send() {}, end() {} }
  const host = new BackHost(dialect, { options: {}, agent: 'a', env: {}, folder: '/' }, calls, listener)
  /** Runs a turn; its events as they come. */
  const run = (command = start()): TurnEvent[] => {
    const events: TurnEvent[] = []
    host.run(command).subscribe((event) => events.push(event))
    return events
  }
  const say = (event: AgentEvent): void => host.decode(JSON.stringify(event))
  return { host, said, encoded, run, say }
}

const types = (events: readonly TurnEvent[]): string[] => events.map(({ type }) => type)
const faultOf = (events: readonly TurnEvent[]): Fault | undefined => {
  const end = events.at(-1)
  return end?.type === 'turn-end' ? end.fault : undefined
}
const without = (...items: string[]) => capabilities({ full: ITEMS.filter((item) => !items.includes(item)) })

describe('a turn of a hosted link', () => {
  test('is encoded when somebody subscribes, and has its events under the laws', () => {
    const { host, encoded, say, said } = hosted()
    const events: TurnEvent[] = []
    const turn = host.run(start())
    expect([encoded, host.running, host.working]).toEqual([[], undefined, false])
    turn.subscribe((event) => events.push(event))
    expect([encoded.map(({ type }) => type), host.running]).toEqual([['turn-start'], 't'])
    say(TEXT)
    say({ ...TEXT, turn: 'another' })
    say(END)
    say(TEXT)
    expect(types(events)).toEqual(['message-start', 'text-delta', 'message-end', 'turn-end'])
    expect([host.running, host.working, said]).toEqual([undefined, false, ['idle']])
  })

  test('loses what the protocol cannot express, in the request', () => {
    const { encoded, run, said } = hosted(undefined, without('part.image'))
    run(start({ input: [{ type: 'text', text: 'hi' }, { type: 'image', mime: 'image/png', data: '' } as never] }))
    expect(said).toEqual(['dropped part.image of the request'])
    expect(encoded).toMatchObject([{ input: [{ type: 'text', text: 'hi' }] }])
  })

  test('has the losses that its link reports with their direction, also of a command within a frame', () => {
    const loss = { kind: 'weakened', item: 'ext', why: 'no-place', count: 1 } as const
    const { host, run, said } = hosted((ports) => ({
      encode: ({ type }) => type === 'turn-steer' && ports.report(loss, 't'),
      decode: () => {
        host.send({ type: 'turn-steer', exchange: 'x', target: { turn: 't' }, input: [] })
        ports.report({ ...loss, item: 'usage' }, 't')
      },
    }))
    run()
    host.decode('{}')
    expect(said).toEqual(['weakened ext of the request', 'weakened usage of the response'])
  })

  test.each([
    ['the reason of its end', { why: 'closed', exitCode: 3 }, 'agent-crashed'],
    ['the fault of its end', { why: 'failed', fault: LOST }, 'agent-crashed'],
    ['a limit', { why: 'timeout' }, 'timeout'],
  ] as const)('that its wire leaves open fails with %s', (_which, end, code) => {
    const { host, run, said } = hosted()
    const events = run()
    host.callEnded(end)
    expect(events).toEqual([])
    host.close()
    expect([types(events), faultOf(events)?.code, said]).toEqual([['turn-end'], code, ['idle']])
    host.close()
    expect(said).toEqual(['idle'])
  })

  test('that is cancelled and fails is cancelled; one that completes is completed', () => {
    for (const [outcome, shown] of [
      ['failed', 'cancelled'],
      ['completed', 'completed'],
    ] as const) {
      const { host, run, say } = hosted()
      const events = run()
      host.cancel()
      say({ ...END, outcome })
      expect(events).toMatchObject([{ outcome: shown }])
    }
  })

  test('has one end when it is ended from outside, although its agent goes on to its own', () => {
    const { host, run, say, said } = hosted()
    expect(host.abort(END)).toBe(false)
    const events = run()
    say(TEXT)
    expect(host.abort({ ...END, outcome: 'failed', fault: LOST })).toBe(true)
    expect([host.running, host.working, host.abort(END)]).toEqual([undefined, true, false])
    say(TEXT)
    expect(said).toEqual([])
    say(END)
    expect([types(events), faultOf(events), said, host.working]).toEqual([
      ['message-start', 'text-delta', 'message-end', 'turn-end'],
      LOST,
      ['idle'],
      false,
    ])
  })

  test('is not ended by the late end of the one before', () => {
    const { host, run, say } = hosted()
    run()
    host.abort(END)
    const events = run(start({ turn: 'u' }))
    say(END)
    expect([events, host.running]).toEqual([[], 'u'])
    say({ ...END, turn: 'u' })
    expect(types(events)).toEqual(['turn-end'])
  })

  test('waits for a client while a question is open', () => {
    const { host, run, say } = hosted()
    run()
    const question = { kind: 'input', title: 'which', schema: '{}' } as never
    say({ turn: 't', type: 'ask', ask: 'a', question })
    say({ turn: 't', type: 'ask', ask: 'b', question })
    say({ turn: 't', type: 'ask-settled', ask: 'a', how: 'cancelled' })
    expect(host.asking).toBe(true)
    host.send({
      type: 'ask-reply',
      exchange: 'x',
      target: { turn: 't' },
      ask: 'b',
      reply: { kind: 'input', values: '{}' },
    })
    expect(host.asking).toBe(false)
    say({ turn: 't', type: 'ask', ask: 'c', question })
    run(start({ turn: 'u' }))
    expect(host.asking).toBe(false)
  })
})

describe('a hosted link', () => {
  test('says what belongs to no turn, during turns too', () => {
    const { run, say, said } = hosted()
    const notice = { turn: null, type: 'notice', severity: 'info', code: 'c', text: 'x' } as const
    say(notice)
    const events = run()
    say(notice)
    expect([said, events]).toEqual([['notice', 'notice'], []])
  })

  test('is ready after its handshake when its process lives over turns, else at once', () => {
    expect([hosted().host.ready, hosted().host.persistent]).toEqual([true, false])
    const bounds: unknown[] = []
    const { host, say } = hosted(() => ({ open: (bound) => void bounds.push(bound) }))
    host.open('its id')
    expect([host.ready, host.persistent, bounds]).toEqual([false, true, ['its id']])
    say({ turn: null, type: 'agent-ready' })
    expect(host.ready).toBe(true)
  })

  test('loses commands that its protocol does not have', () => {
    const { host, encoded, said } = hosted(undefined, without('query.models', 'turn-cancel'))
    host.send({ type: 'query', what: 'models', exchange: 'x' })
    host.send({ type: 'query', what: 'state', exchange: 'x' })
    host.send({ type: 'turn-cancel', exchange: 'x', target: 'running' })
    expect(encoded.map((command) => 'what' in command && command.what)).toEqual(['state'])
    expect(said).toEqual(['dropped query.models of the request', 'dropped turn-cancel of the request'])
  })

  test('that is broken fails its turn, takes no command and ends the next turn at once', () => {
    const { host, run, said, encoded } = hosted((ports) => ({ decode: () => ports.broken(LOST) }))
    const events = run()
    host.decode('{}')
    host.send({ type: 'query', what: 'state', exchange: 'x' })
    expect([faultOf(events), host.broken, host.dead, encoded.length]).toEqual([LOST, true, true, 1])
    expect(said).toEqual(['agent-crashed: gone', 'idle'])
    expect(faultOf(run())).toEqual(LOST)
  })

  const oops = (): never => {
    throw new Error('oops')
  }
  const WRITING = 'internal: The command for the agent could not be encoded (Error: oops).'
  const READING = 'internal: What the agent said could not be read (Error: oops).'

  test.each([
    ['open', (it) => it.host.open(), WRITING],
    ['encode', (it) => it.run(), WRITING],
    ['encode', (it) => it.host.send({ type: 'query', what: 'state', exchange: 'x' }), WRITING],
    ['decode', (it) => it.host.decode('{}'), READING],
    ['decodeHead', (it) => it.host.head({ status: 200, headers: {} }), READING],
    ['decodeEnd', (it) => it.host.callEnded({ why: 'closed' }), READING],
  ] as [string, (it: ReturnType<typeof hosted>) => void, string][])(
    'whose codec throws from %s is broken, and throws nothing itself',
    (method, step, message) => {
      const it = hosted(() => ({ [method]: oops }))
      const events = method === 'encode' ? [] : it.run()
      step(it)
      expect(it.said.filter((what) => what !== 'idle')).toEqual([message])
      expect([it.host.broken, it.host.running]).toEqual([true, undefined])
      if (method !== 'encode') expect(faultOf(events)?.code).toBe('internal')
    },
  )
})

test('files are asked for where there are some, and a codec that throws at the result breaks its wire', () => {
  const asked: unknown[] = []
  const said: string[] = []
  const results: string[] = []
  let ports: BackPorts | undefined
  const back: BackDialect['back'] = {
    capabilities: ALL,
    memory: () => 'process',
    open: (_context, given) => {
      ports = given
      return { encode() {}, decode() {}, decodeEnd() {} }
    },
  }
  const listener: BackListener = { link() {}, loss() {}, idle() {}, fault: ({ code }) => void said.push(code) }
  const calls: BackCalls = { open() {}, send() {}, end() {}, file: (request, done) => void asked.push([request, done]) }
  new BackHost(
    { wireVersion: '1', framing: 'ndjson', back },
    { options: {}, agent: 'a', env: {}, folder: '/' },
    calls,
    listener,
  )
  const request: FileRequest = { kind: 'read', path: '/a', roots: [] }
  ports!.file!(request, (result) => void results.push(JSON.stringify(result)))
  ports!.file!(request, () => {
    throw new Error('oops')
  })
  for (const [, done] of asked as [unknown, (result: FileResult) => void][]) done({ text: 'x' })
  expect([results, said]).toEqual([['{"text":"x"}'], ['internal']])
})

describe('pieces of text of one read', () => {
  const text = (piece: string, more = {}): AgentEvent => ({ ...TEXT, text: piece, ...more })

  /** A turn that takes such pieces at once: what it got, in order. */
  function taking(parts?: (ports: BackPorts) => Partial<BackLink>) {
    const it = hosted(parts)
    const got: unknown[] = []
    const note = (event: TurnEvent): void => void got.push(event.type === 'text-delta' ? event.text : event.type)
    const take = ({ message, texts, text }: TextRun): void => {
      got.push([message, ...texts])
      expect(text).toBe(texts.join(''))
    }
    it.host.run(start(), take).subscribe(note)
    return { ...it, got }
  }

  test('come together, at its end or before another event', () => {
    const { host, say, got } = taking()
    host.readBegins()
    for (const piece of ['a', 'b']) say(text(piece))
    expect(got).toEqual([])
    say({ turn: 't', type: 'notice', severity: 'info', code: 'x', text: 'x' })
    for (const piece of ['c', 'd']) say(text(piece))
    for (const piece of ['e', 'f']) say(text(piece, { message: 'n' }))
    host.readEnds()
    expect(got).toEqual(['message-start', ['m', 'a', 'b'], 'notice', ['m', 'c', 'd'], 'message-start', ['n', 'e', 'f']])
  })

  test('are events where there is one alone, or one says more', () => {
    const { host, say, got } = taking()
    host.readBegins()
    say(text('a'))
    say(text('b', { lane: 'sub' }))
    say(text('c', { ext: { protocol: 'x', json: '{}' } }))
    say(text(''))
    host.readEnds()
    say(text('d'))
    say(text('e'))
    const all = ['message-start', 'a', 'message-start', 'b', 'c', '', 'd', 'e']
    expect(got).toEqual(all)
  })

  test('are no part of another turn, and none comes after the end', () => {
    const { host, say, got } = taking()
    host.readBegins()
    for (const piece of ['a', 'b']) say(text(piece, { turn: 'another' }))
    for (const piece of ['c', 'd']) say(text(piece))
    host.abort(END)
    for (const piece of ['e', 'f']) say(text(piece))
    host.close()
    host.readEnds()
    expect(got).toEqual(['message-start', ['m', 'c', 'd'], 'message-end', 'turn-end'])
  })

  test('may be read from the wire together, and are of one step with those around them', () => {
    const lengths: number[] = []
    const { host, run, got, said, say } = taking(() => ({
      decodeTexts(wire) {
        if (wire.text === '') return undefined
        if (wire.text === 'odd') throw new Error('no')
        wire.at = wire.text.length
        const run = TextRun.from('t', wire.text.slice(0, 1), ['b', 'c'])
        lengths.push(run.text.length)
        return run
      },
    }))
    const read = (text: string): boolean => host.decodeTexts({ text, at: 0, before: '<', after: '>' })
    expect([read('m<b><c>'), host.written]).toEqual([true, 3])
    host.readBegins()
    say(text('a'))
    const { written } = host
    expect([read('m<b><c>'), read('n<b><c>'), read('')]).toEqual([true, true, false])
    expect(host.written - written).toBe(6)
    say(text('d', { message: 'n' }))
    host.readEnds()
    expect(got).toEqual([...['message-start', 'b', 'c'], ['m', 'a', 'b', 'c'], 'message-start', ['n', 'b', 'c', 'd']])
    expect(read('odd')).toBe(false)
    expect(said).toEqual(['internal: What the agent said could not be read (Error: no).', 'idle'])
    expect(read('m')).toBe(true)
    expect([run().at(-1)?.type, lengths]).toEqual(['turn-end', [2, 2, 2, 2]])
  })

  test('are of the message that the agent means, where it gives an id again', () => {
    const { host, say, got } = taking()
    say({ turn: 't', type: 'message-start', message: 'm', role: 'assistant' })
    say({ turn: 't', type: 'message-end', message: 'm' })
    say({ turn: 't', type: 'message-start', message: 'm', role: 'assistant' })
    host.readBegins()
    for (const piece of ['a', 'b']) say(text(piece))
    host.readEnds()
    const [id] = got.at(-1) as [string]
    expect(id).not.toBe('m')
    expect(got.at(-1)).toEqual([id, 'a', 'b'])
  })
})
