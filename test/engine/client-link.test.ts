import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type AnyCodec, type FrontDialect, type FrontLink, frameText, silentHooks } from '../../src/contract/index.ts'
import { ClientLink, type ClientPeers } from '../../src/engine/client/client-link.ts'
import type { ClientOptions } from '../../src/engine/client/client-options.ts'
import type { Exchange } from '../../src/engine/client/exchange.ts'
import { Outbox } from '../../src/engine/client/outbox.ts'
import { codeOfEnd } from '../../src/engine/client/stop-signal.ts'
import { type Command, type ErrorCode, fault } from '../../src/model/index.ts'
import { settingsOf } from '../kit/engine-parts.ts'
import { ALL, ANSWER, LIMITS, start } from '../kit/plain.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Lets what was sent go out: it leaves once a tick. */
const tick = (): void => void vi.advanceTimersByTime(1)

interface Wire {
  transport?: 'stdio' | 'http'
  link?: Partial<FrontLink>
  /** False while the client does not read. */
  reads?: boolean
  /** What the link does with the first frame, instead of issuing it as a command. */
  onFrame?: (ports: Parameters<FrontDialect['front']['open']>[1]) => void
}

/** A client's wire whose frames are commands, and what came of it. */
function wired({ transport = 'stdio', link = {}, reads = true, onFrame }: Wire = {}) {
  const seen: unknown[][] = []
  const note = (...what: unknown[]): void => void seen.push(what)
  const commands: [Command, Exchange | undefined][] = []
  const dialect: FrontDialect = {
    wireVersion: '1',
    framing: 'ndjson',
    front: {
      capabilities: ALL,
      env: [],
      open: (_context, ports) => ({
        decode(frame) {
          if (onFrame) onFrame(ports)
          else ports.command(JSON.parse(frameText(frame)), ANSWER)
        },
        encode: (event) => ports.send(JSON.stringify(event.type)),
        encodeLink: (event) => ports.send(JSON.stringify(event.type)),
        encodeFault: (found, exchange) => ports.send(JSON.stringify([found.code, exchange])),
        decodeEnd: (why) => note('input ended', why),
        ...link,
      }),
    },
  }
  const codec = {
    errors: new Proxy({}, { get: (_of, code: ErrorCode) => ({ code, http: code === 'internal' ? 500 : 400 }) }),
  } as AnyCodec
  const options: ClientOptions = {
    front: { name: 'plain', codec, dialect },
    context: { transport, method: '', path: '', query: '', headers: {}, argv: [], env: {} },
    input: 'ndjson',
    sink: {
      head: (status, { 'content-type': type }) => note('head', status, type),
      write: (text) => {
        note('write', text)
        return reads
      },
      whenRead: (callback) => callback(),
      warn: (text) => note('warn', text),
      end: (exitCode, trailers) => note('end', exitCode, ...(trailers ? [trailers] : [])),
      abort: () => note('abort'),
    },
    carrier: {},
    access: { tenant: 'local', role: 'user' },
  }
  const unsent = (error: unknown): void => note('unsent', String(error))
  const peers: ClientPeers = {
    listener: {
      command: (_client, command, exchange) => void commands.push([command, exchange]),
      broken: (_client, error) => note('broken', String(error)),
      delivered: (turn) => note('delivered', turn),
    },
    outbox: new Outbox(
      () => {},
      () => {},
      unsent,
    ),
    hooks: { request: () => ({ ...silentHooks.request({} as never), end: (result) => note('over', result) }) },
    settings: { current: settingsOf([], { limits: { ...LIMITS, line: 2000, body: 2000, idle: 1000 } }) },
    keepAliveMs: 200,
    now: () => 5,
  }
  const client = new ClientLink(peers, options)
  client.open()
  const ask = (command: Command = start()): Exchange => {
    client.push(`${JSON.stringify(command)}\n`)
    return commands.at(-1)![1]!
  }
  return { client, seen, commands, ask }
}

describe('a wire', () => {
  test('closes with code 0 when its input has ended and nothing is open', () => {
    const { client, seen, ask } = wired()
    const exchange = ask()
    client.end('eof')
    tick()
    expect(seen).toEqual([['input ended', 'eof']])
    exchange.reply({})
    tick()
    expect(seen.slice(1)).toEqual([
      ['head', 200, 'application/x-ndjson; charset=utf-8'],
      ['over', { status: 200, exitCode: 0 }],
      ['write', '"command-reply"\n'],
      ['end', 0],
    ])
  })

  test('takes a last line without its end', () => {
    const { client, commands } = wired()
    client.push(JSON.stringify(start()))
    expect(commands).toEqual([])
    client.end('eof')
    expect(commands.map(([{ type }]) => type)).toEqual(['turn-start'])
  })

  test('answers nothing over HTTP with 204', () => {
    const { client, seen } = wired({ transport: 'http' })
    client.end('eof')
    tick()
    expect(seen).toEqual([
      ['input ended', 'eof'],
      ['head', 204, undefined],
      ['over', { status: 204, exitCode: 0 }],
      ['end', 0],
    ])
  })

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('that is stopped by %s cancels what runs and ends with %i', (signal, code) => {
    const { client, seen, ask } = wired()
    const exchange = ask()
    client.end('signal', signal)
    expect(exchange.unwanted).toBe(true)
    exchange.fail(fault('cancelled', 'x'))
    tick()
    expect(seen.at(-1)).toEqual(['end', code])
    expect([codeOfEnd(143, signal), codeOfEnd(2, signal)]).toEqual([code, 2])
  })

  test('without a frame in time hears that it is idle; one in time ends the wait', () => {
    const idle = wired({ link: { idleMs: 50 } })
    vi.advanceTimersByTime(50)
    expect(idle.seen[0]).toEqual(['input ended', 'idle'])
    const busy = wired({ link: { idleMs: 50 } })
    busy.ask()
    vi.advanceTimersByTime(500)
    expect(busy.seen).not.toContainEqual(['input ended', 'idle'])
  })

  test('whose frames cannot be told apart any more is told so once, and read no further', () => {
    const { client, seen, commands } = wired()
    client.push('x'.repeat(3000))
    client.push(`\n${JSON.stringify(start())}\n`)
    tick()
    expect(commands).toEqual([])
    expect(seen.filter(([what]) => what === 'write')).toEqual([['write', '["payload-too-large",null]\n']])
    expect(seen).toContainEqual(['input ended', 'eof'])
  })

  test('whose codec throws is cut, and only that', () => {
    const { client, seen } = wired({
      onFrame() {
        throw new Error('a mistake')
      },
    })
    client.push('{}\n')
    tick()
    expect([seen, client.gone]).toEqual([
      [['broken', 'Error: a mistake'], ['abort'], ['over', { status: 200, exitCode: 1 }]],
      true,
    ])
  })

  test('that is refused is answered with the status of its fault, or another', () => {
    for (const [http, status] of [
      [undefined, 400],
      [503, 503],
    ] as const) {
      const { client, seen } = wired({ transport: 'http' })
      client.refuse(fault('overloaded', 'x'), http)
      tick()
      expect(seen.filter(([what]) => what !== 'over')).toEqual([
        ['head', status, 'application/x-ndjson; charset=utf-8'],
        ['write', '["overloaded",null]\n'],
        ['end', 1],
      ])
    }
  })

  test('that its link closes drops what is open', () => {
    const { client, seen } = wired({ onFrame: (ports) => ports.close(7) })
    client.push('{}\n')
    tick()
    expect(seen.at(-1)).toEqual(['end', 7])
    client.push('{}\n')
    client.end('eof')
    client.disconnect()
    tick()
    expect(seen.filter(([what]) => what === 'end')).toHaveLength(1)
  })

  test('gives its link ids that begin with its own, and the time', () => {
    const given: unknown[] = []
    const { client } = wired({ onFrame: (ports) => given.push(ports.newId(), ports.newId(), ports.now?.()) })
    client.push('{}\n')
    expect(given).toEqual([`${client.id}-1`, `${client.id}-2`, 5])
    expect(client.id).toMatch(/^[\w-]{10,}$/)
  })
})

describe('an exchange of a wire', () => {
  test('that its link fails ends with the fault', () => {
    const { client, seen, commands } = wired({
      onFrame: (ports) => {
        ports.command(start(), ANSWER)
        ports.report({ kind: 'dropped', item: 'plan', why: 'no-place', count: 1 }, 'x')
        ports.warn(`${ports.losses('x').length} ${ports.losses('other').length}`)
        ports.fault(fault('invalid-request', 'x'), 'continues', 'x')
      },
    })
    client.push('{}\n')
    tick()
    expect(commands[0]![1]!.ended).toBe(true)
    expect(seen).toContainEqual(['warn', '1 0'])
    expect(seen).toContainEqual(['write', '["invalid-request","x"]\n'])
  })

  test.each(['continues', 'ends'] as const)('has its answer when the input %s after a fault of the link', (input) => {
    let frames = 0
    const { client, seen, commands } = wired({
      onFrame: (ports) => {
        frames += 1
        if (frames === 1) ports.command(start(), ANSWER)
        else ports.fault(fault('invalid-request', 'x'), input)
      },
    })
    client.push('{}\n{}\n{}\n')
    client.push('{}\n')
    client.end('eof')
    commands[0]![1]!.fail(fault('timeout', 'Late.'))
    tick()
    expect(frames).toBe(input === 'ends' ? 2 : 4)
    expect(seen.filter(([what]) => what === 'input ended')).toEqual([['input ended', 'eof']])
    const faults = Array(frames - 1).fill('["invalid-request",null]\n')
    const written = seen.filter(([what]) => what === 'write').map(([, text]) => text)
    expect(written.join('')).toBe([...faults, '["timeout","x"]\n'].join(''))
    expect(seen.at(-1)).toEqual(['end', 0])
  })

  test('is found by what its client calls its turn', () => {
    const { client, ask } = wired()
    const exchange = ask(start({ request: 'r' }))
    for (const target of ['running', { turn: 't' }, { request: 'r' }] as const)
      expect(client.exchangeOf(target)).toBe(exchange)
    expect(client.exchangeOf({ request: 'other' })).toBeUndefined()
    expect(client.exchangeOf({ continuation: 't.1' })).toBeUndefined()
  })

  test('is cancelled when its client goes', () => {
    const { client, ask, seen } = wired()
    const exchange = ask()
    const left: Exchange[] = []
    exchange.turn = { leave: (one: Exchange) => left.push(one) } as never
    client.disconnect()
    client.disconnect()
    expect([left, exchange.ended, seen]).toEqual([
      [exchange],
      true,
      [['abort'], ['over', { status: 200, exitCode: 1 }]],
    ])
  })

  test('that is answered from the record counts as delivered once its client has read it', () => {
    const { ask, seen } = wired()
    const exchange = ask()
    exchange.past = { turn: 'old', agent: 'a' }
    exchange.host.encode({ type: 'turn-end', turn: 't', outcome: 'completed' }, exchange, undefined as never)
    exchange.drop()
    tick()
    expect(seen.at(-1)).toEqual(['delivered', 'old'])
  })
})

describe('the output', () => {
  test('is one write a tick', () => {
    const { ask, seen } = wired()
    const exchange = ask()
    for (let event = 0; event < 3; event += 1)
      exchange.host.encode({ type: 'turn-started', turn: 't' }, exchange, undefined as never)
    expect(seen.map(([what]) => what)).toEqual(['head'])
    tick()
    expect(seen.at(-1)).toEqual(['write', '"turn-started"\n'.repeat(3)])
  })

  test('that nobody reads clogs its turn, and is cut after the limit', () => {
    const { client, ask, seen } = wired({ reads: false })
    const exchange = ask()
    let valves = 0
    exchange.turn = {
      id: 't',
      agent: { name: 'a' },
      leave() {},
      valve() {
        valves += 1
      },
    } as never
    exchange.host.encodeLink({ turn: null, type: 'agent-ready' }, exchange)
    tick()
    expect([exchange.host.client.clogged, valves]).toEqual([true, 1])
    client.drained()
    expect([exchange.host.client.clogged, valves]).toEqual([false, 2])
    exchange.host.encodeLink({ turn: null, type: 'agent-ready' }, exchange)
    tick()
    vi.advanceTimersByTime(1000)
    expect([client.gone, seen.at(-1)?.[0]]).toEqual([true, 'over'])
  })

  test('that is silent is kept alive, and only then', () => {
    let beats = 0
    const { client, ask } = wired({
      link: {
        keepAlive() {
          beats += 1
        },
      },
    })
    const exchange = ask()
    vi.advanceTimersByTime(100)
    expect(beats).toBe(1)
    exchange.host.encode({ type: 'turn-started', turn: 't' }, exchange, undefined as never)
    vi.advanceTimersByTime(100)
    expect(beats).toBe(1)
    vi.advanceTimersByTime(100)
    expect(beats).toBe(2)
    client.disconnect()
    vi.advanceTimersByTime(1000)
    expect(beats).toBe(2)
  })
})
