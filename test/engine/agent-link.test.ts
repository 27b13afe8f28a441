import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { httpBackend } from '../../src/backends/index.ts'
import { type BackDialect, type CallEnd, frameText } from '../../src/contract/index.ts'
import { AgentLink, type LinkOwner, type LinkRun } from '../../src/engine/agent/agent-link.ts'
import { SILENT_SCOPE } from '../../src/engine/agent/silent-scope.ts'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import type { Command, Fault, LinkEvent, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { ALL, DONE, LIMITS, type PlainBack, plainAgent, say, serving, start } from '../kit/plain.ts'

/** An owner that notes what it hears; `heard` resolves with the next event between turns. */
class Owner implements LinkOwner {
  readonly ends: CallEnd[] = []
  readonly #idle: LinkEvent[] = []
  #waiting: ((event: LinkEvent) => void) | undefined

  idleEvent(event: LinkEvent): void {
    if (this.#waiting) this.#waiting(event)
    else this.#idle.push(event)
    this.#waiting = undefined
  }

  callFailed(end: CallEnd): void {
    this.ends.push(end)
  }

  heard(): Promise<LinkEvent> {
    const known = this.#idle.shift()
    if (known) return Promise.resolve(known)
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }
}

/** The link of an agent. */
function linked(agent: AgentSettings) {
  const owner = new Owner()
  return { link: new AgentLink(agent, SILENT_SCOPE, owner), owner }
}

const script = (text: string, back: PlainBack = {}, more: Partial<AgentSettings> = {}) =>
  linked(plainAgent(text, more, back))

const runOf = (command: Command & TurnStart): LinkRun => ({
  command,
  scope: SILENT_SCOPE,
  graceMs: 50,
  answerLimit: LIMITS.answer,
  loss() {},
  progress() {},
})

/** All events of one turn. */
async function turnOf(link: AgentLink, command = start()): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  await link.run(runOf(command)).forEach((event) => {
    events.push(event)
  })
  return events
}

/** The fault of a turn's end. */
const faultOf = (events: readonly TurnEvent[]): Fault | undefined => {
  const end = events.at(-1)
  return end?.type === 'turn-end' ? end.fault : undefined
}

const types = (events: readonly TurnEvent[]): string[] => events.map(({ type }) => type)
const TEXT = say({ turn: 't', type: 'text-delta', message: 'm', text: 'hi' })

describe('an agent of one process a turn', () => {
  test('gets the command, answers, and leaves a link for the next turn', async () => {
    const { link, owner } = script(`read -r line; ${TEXT}; echo "$line" | grep -q turn-start && ${DONE}`)
    expect([link.persistent, link.ready, link.process]).toEqual([false, true, undefined])
    for (let turn = 0; turn < 2; turn += 1) {
      expect(types(await turnOf(link))).toEqual(['message-start', 'text-delta', 'message-end', 'turn-end'])
      await link.settled()
    }
    expect([link.dead, owner.ends]).toEqual([false, []])
  })

  test('that exits without an end fails the turn with the reason', async () => {
    const { link, owner } = script(`echo oops >&2; ${TEXT}; exit 3`)
    const events = await turnOf(link)
    expect(types(events)).toEqual(['message-start', 'text-delta', 'message-end', 'turn-end'])
    await link.settled()
    expect(faultOf(events)).toEqual(link.missingEnd)
    expect(link.missingEnd).toMatchObject({
      code: 'agent-crashed',
      message: expect.stringContaining('exited with code 3'),
    })
    expect(owner.ends).toMatchObject([{ why: 'closed', exitCode: 3, stderr: 'oops\n' }])
  })

  test('whose program is not there ends its turn as unavailable', async () => {
    const { link, owner } = linked(plainAgent('', { dialect: starting('/no/such/program') }))
    expect([faultOf(await turnOf(link))?.code, owner.ends.length]).toEqual(['agent-unavailable', 1])
  })

  test('that is stopped is no failure of its own', async () => {
    const { link, owner } = script('read -r never; read -r never')
    const events = turnOf(link)
    await link.stop('cancelled', 50)
    expect([faultOf(await events)?.code, owner.ends]).toEqual(['cancelled', []])
  })

  test('whose line is longer than its limit has broken the protocol', async () => {
    const limits = { ...LIMITS, line: 64 }
    const { link } = script(`read -r line; printf '%0100d\\n' 1; ${DONE}`, {}, { limits })
    expect(faultOf(await turnOf(link))?.code).toBe('protocol-violation')
    await link.settled()
  })

  test('that writes more than it may is stopped, in each of its turns', async () => {
    const { link } = script(`read -r line; while :; do ${TEXT}; done`)
    const most = TEXT.match(/\{.*\}/)![0].length * 3
    for (let turn = 0; turn < 2; turn += 1) {
      const events: TurnEvent[] = []
      await link.run({ ...runOf(start()), answerLimit: most }).forEach((event) => void events.push(event))
      expect(types(events)).toEqual([
        ...['message-start', 'text-delta', 'text-delta', 'text-delta', 'text-delta', 'message-end', 'turn-end'],
      ])
      expect(faultOf(events)).toEqual({
        code: 'protocol-violation',
        message: `The agent "plain" wrote more than ${most} characters in one turn (limit "answer"), and was stopped; ask it for less, or raise limits.answer.`,
        retryable: false,
      })
      await link.settled()
    }
  })

  test('whose codec throws ends its own turn alone', async () => {
    const { link, owner } = script('read -r line; echo not json')
    expect(faultOf(await turnOf(link))).toMatchObject({
      code: 'internal',
      message: expect.stringContaining('could not be read'),
    })
    expect([link.dead, owner.ends[0]?.fault?.code]).toEqual([true, 'internal'])
    await link.settled()
  })

  test('that is out of time has what it said read to its end', async () => {
    const half = say({ turn: 't', type: 'text-delta', message: 'm', text: 'half' })
    // One write, so that both lines come in one chunk.
    const both = `printf '%s\\n%s' ${[TEXT, half].map((line) => line.replace('echo ', '')).join(' ')}`
    const { link } = script(`${both}; read -r line; read -r never`)
    const late = { code: 'timeout', message: 'x', retryable: true } as const
    const events: TurnEvent[] = []
    await link.run(runOf(start())).forEach((event) => {
      events.push(event)
      // Its last line has no end yet; what came with this chunk is in hand when the time is over.
      if (event.type === 'text-delta' && event.text === 'hi') setImmediate(() => link.expire(late))
    })
    expect(events.map((event) => (event.type === 'text-delta' ? event.text : event.type))).toEqual([
      'message-start',
      'hi',
      'half',
      'message-end',
      'turn-end',
    ])
    expect(faultOf(events)).toEqual(late)
    await link.settled()
  })
})

/** The plain protocol of a program that the codec names. */
function starting(command: string): BackDialect {
  const { dialect } = plainAgent('')
  return {
    ...dialect,
    back: {
      ...dialect.back,
      open: (_context, ports) => ({
        encode: () => ports.open({ kind: 'process', command, stdin: 'end' }),
        decode() {},
        decodeEnd() {},
      }),
    },
  }
}

describe('an agent whose process lives over turns', () => {
  const persistent = { persistent: true }

  test('is ready when it says so, and serves turn after turn in one process', async () => {
    const { link, owner } = script(serving(DONE), persistent)
    expect([link.persistent, link.ready]).toEqual([true, false])
    expect((await owner.heard()).type).toBe('agent-ready')
    expect([link.ready, link.model]).toEqual([true, 'm1'])
    const { pid } = link.process!
    expect(types(await turnOf(link))).toEqual(['turn-end'])
    link.rest()
    expect(types(await turnOf(link))).toEqual(['turn-end'])
    expect(link.process!.pid).toBe(pid)
    await link.stop('closed', 50)
    expect([link.dead, link.process, owner.ends]).toEqual([true, undefined, []])
  })

  test('whose link is dead ends a turn at once', async () => {
    const { link } = script(serving(DONE), persistent)
    const stopped = link.stop('closed', 50)
    expect(link.dead).toBe(true)
    expect(faultOf(await turnOf(link))?.code).toBe('agent-crashed')
    await stopped
  })

  test('that exits between turns is dead, and its owner hears how', async () => {
    const { link, owner } = script('exit 4', persistent)
    await link.quiet()
    expect([link.dead, owner.ends.map(({ exitCode }) => exitCode)]).toEqual([true, [4]])
  })

  test('is read no further while it is paused', async () => {
    const { link, owner } = script(serving(DONE), persistent)
    await owner.heard()
    link.pause(true)
    link.pause(true)
    const events = turnOf(link)
    link.pause(false)
    expect(types(await events)).toEqual(['turn-end'])
    await link.stop('closed', 50)
  })

  const question = { type: 'query', what: 'models', exchange: 'q' } as const

  test('answers what it is asked between turns; what is not asked goes to its owner', async () => {
    const other = say({ turn: null, type: 'command-reply', exchange: 'other' })
    const { link, owner } = script(
      serving(`${other}; ${say({ turn: null, type: 'command-reply', exchange: 'q', data: '1' })}`),
      persistent,
    )
    await owner.heard()
    expect(await link.ask(question)).toMatchObject({ exchange: 'q', data: '1' })
    expect(await owner.heard()).toMatchObject({ exchange: 'other' })
    await link.stop('closed', 50)
  })

  test('tells of its refusals and its notices without the secrets in them', async () => {
    const why = { code: 'internal', message: 'no key', retryable: false, ext: { protocol: 'p', json: '{"key":1}' } }
    const refusal = say({ turn: null, type: 'command-reply', exchange: 'q', fault: why } as LinkEvent)
    const notice = say({ turn: null, type: 'notice', severity: 'info', code: 'c', text: 'a key' })
    const { link, owner } = script(serving(`${notice}; ${refusal}`), persistent, {
      redact: (text) => text.replace('key', '***'),
    })
    await owner.heard()
    const clean = { ...why, message: 'no ***', ext: { protocol: 'p', json: '{"***":1}' } }
    expect(await link.ask(question)).toMatchObject({ fault: clean })
    expect(await owner.heard()).toMatchObject({ type: 'notice', text: 'a ***' })
    await link.stop('closed', 50)
  })

  test('has no answer when it goes, or is gone', async () => {
    const { link, owner } = script(serving('exit 0'), persistent)
    await owner.heard()
    expect([await link.ask(question), link.dead]).toEqual([undefined, true])
    expect(await link.ask(question)).toBeUndefined()
    await link.quiet()
  })

  test('has its questions between turns answered under their own exchange', async () => {
    const { link, owner } = script(
      serving(say({ turn: null, type: 'command-reply', exchange: 'e', data: '1' })),
      persistent,
    )
    await owner.heard()
    link.send({ type: 'query', what: 'models', exchange: 'e' })
    expect(await owner.heard()).toEqual({ turn: null, type: 'command-reply', exchange: 'e', data: '1' })
    await link.stop('closed', 50)
  })
})

describe('an agent behind a URL', () => {
  /** A dialect that posts each turn, whose answer is events a line or as a stream. */
  const dialect: BackDialect = {
    wireVersion: '1',
    framing: 'ndjson',
    back: {
      capabilities: ALL,
      memory: () => 'named',
      open: (_context, ports) => ({
        encode: (command) =>
          ports.open({ kind: 'http', method: 'POST', body: JSON.stringify(command), answer: 'ndjson' }),
        decode: (frame) => ports.emit(JSON.parse(frameText(frame))),
        decodeEnd() {},
      }),
    },
  }

  async function served(answer: Parameters<typeof createServer>[1]) {
    const server: Server = createServer(answer as never)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const backend = httpBackend({ url, headers: {} })
    const { link, owner } = linked(plainAgent('', { dialect, backend, target: { kind: 'http', url } }))
    const close = async (): Promise<void> => {
      await backend.close(0)
      await new Promise((resolve) => server.close(resolve))
    }
    return { link, owner, close }
  }

  const event = JSON.stringify({ turn: 't', type: 'turn-end', outcome: 'completed' })

  test.each([
    ['application/x-ndjson', `${event}\n`, []],
    ['text/event-stream', `data: ${event}\n\n`, ['head', 'frame']],
  ])('answers as %s', async (type, body, streamed) => {
    const { link, close } = await served((_request, response) => {
      response.setHeader('content-type', type)
      response.end(body)
    })
    const streams: string[] = []
    const events: TurnEvent[] = []
    const run: LinkRun = { ...runOf(start()), progress: (what) => streams.push(what) }
    await link.run(run).forEach((each) => {
      events.push(each)
    })
    expect([types(events), streams]).toEqual([['turn-end'], streamed])
    await link.quiet()
    await close()
  })

  test('that breaks off is not available', async () => {
    const { link, owner, close } = await served((request) => request.socket.destroy())
    expect(faultOf(await turnOf(link))?.code).toBe('agent-unavailable')
    expect(owner.ends.map(({ why }) => why)).toEqual(['failed'])
    await close()
  })
})
