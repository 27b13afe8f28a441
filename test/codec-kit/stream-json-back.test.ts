import { describe, expect, test } from 'vitest'
import {
  type JsonLine,
  type Reading,
  StreamJsonBack,
  StreamJsonProcess,
  type StreamJsonProgram,
} from '../../src/codec-kit/index.ts'
import type { BackContext, BackPorts, CallEnd } from '../../src/contract/index.ts'
import { type Command, type CommandOf, type Fault, fault } from '../../src/model/index.ts'

const PROGRAM: StreamJsonProgram = { name: 'Some', check: 'its login', pinning: ['-s'], flags: [], greeting: {} }
const CLOSED: CallEnd = { why: 'closed', exitCode: 1 }

class SomeProcess extends StreamJsonProcess {
  protected began(): void {}
  protected greeted(): void {}
}

/** A turn that notes what it is told. */
class SomeTurn {
  readonly turn: string
  readonly log: unknown[]
  ended = false
  cancelAsked = false
  readonly main = { text: (text: string) => void this.log.push(`text ${text}`) }

  constructor(turn: string, log: unknown[]) {
    this.turn = turn
    this.log = log
  }

  started(): void {
    this.log.push(`started ${this.turn}`)
  }

  fail(reason: Fault): void {
    this.ended = true
    this.log.push(`failed ${this.turn} ${this.cancelAsked ? 'cancelled' : reason.code}`)
  }
}

/** A back that takes `{"say":…}` as a piece of text, `{"read":…}` as read like this, and a turn's `request` as its session. */
class SomeBack extends StreamJsonBack<SomeTurn, { decoder: SomeTurn; sent: boolean }, SomeProcess> {
  readonly log: unknown[]
  work: { decoder: SomeTurn; sent: boolean } | undefined
  protected readonly plainDelta = ({ say }: Record<string, unknown>) => (typeof say === 'string' ? say : undefined)

  constructor(process: SomeProcess, ports: BackPorts, log: unknown[]) {
    super('some', process, ports, () => new SomeTurn('', log))
    this.log = log
  }

  encode(command: Command): void {
    const { turn, session } = command as CommandOf<'turn-start'>
    this.work = { decoder: new SomeTurn(turn, this.log), sent: true }
    this.log.push(this.begin(this.work, session?.bound) ? `begins ${turn}` : `does not begin ${turn}`)
  }

  protected read(line: JsonLine, turn: SomeTurn | undefined): void {
    const { read, session, response } = line.value
    if (typeof session === 'string') this.inSession(session)
    if (response) this.process.controls.answer(line.value, line.json)
    if (turn) this.log.push(`line of ${turn.turn}`)
    if (read !== undefined) this.done(read as Reading, 'plan', line)
  }

  protected turnFails(): void {
    this.log.push(`about to fail ${this.current!.decoder.turn}`)
  }
}

function drive(context: Partial<BackContext<unknown>> = {}) {
  const log: unknown[] = []
  const ports: BackPorts = {
    emit: (event) => void log.push(event),
    report: ({ item }, turn) => void log.push(`unparsed ${item} of ${turn}`),
    open: ({ call }) => void log.push(`opens ${call ?? 'the first'}`),
    send() {},
    end() {},
    broken() {},
    newId: () => '1',
  }
  const whole = { options: {}, agent: 'a', env: {}, folder: '/', ...context }
  const back = new SomeBack(new SomeProcess(PROGRAM, whole, ports), ports, log)
  const feed = (...lines: unknown[]): void => {
    for (const line of lines) back.decode(typeof line === 'string' ? line : JSON.stringify(line))
  }
  const start = (turn: string, bound?: string): void =>
    back.encode({
      exchange: 'e',
      type: 'turn-start',
      turn,
      task: 'prompt',
      input: [],
      options: {},
      session: bound === undefined ? {} : { bound },
    })
  return { back, log, feed, start, taken: () => log.splice(0) }
}

const GREETED = { response: { request_id: 'turnpike-1', subtype: 'success', response: {} } }

describe('the link of a process with JSON lines', () => {
  test('hands text to the turn that runs, and every other line to its reader', () => {
    const { back, feed, start, taken } = drive()
    back.open()
    feed('7', { say: 'before' }, { read: 'foreign', n: 1.0 }, { read: 'misfit' })
    expect(taken()).toEqual([
      'opens the first',
      { turn: null, type: 'foreign', protocol: 'some', frame: '{"read":"foreign","n":1}' },
    ])
    start('t')
    feed(' ', '7', { say: 'a' }, { read: 'read' }, { read: 'foreign' }, { read: 'misfit' })
    expect(taken()).toEqual([
      'begins t',
      'unparsed foreign of t',
      'started t',
      'text a',
      'line of t',
      'line of t',
      { turn: 't', type: 'foreign', protocol: 'some', frame: '{"read":"foreign"}' },
      'line of t',
      'unparsed plan of t',
    ])
    back.work!.sent = false
    feed({ say: 'of nobody' })
    back.work!.decoder.ended = true
    feed('7')
    expect(taken()).toEqual([])
  })

  test('says once in which session a turn works', () => {
    const { back, feed, start, taken } = drive()
    back.open()
    start('t', 's1')
    feed({ session: 's1' }, { session: 's2' }, { session: 's2' })
    expect(taken().filter((one) => typeof one === 'object')).toEqual([
      { turn: null, type: 'session-bound', agentSession: 's2' },
    ])
  })

  test.each([
    ['closed', 'failed t agent-crashed'],
    ['cancelled', 'failed t cancelled'],
  ] as const)('fails its turn when the process is %s, and hears nothing of it any more', (why, failed) => {
    const { back, feed, start, taken } = drive()
    back.open()
    feed(GREETED)
    start('t')
    taken()
    back.decodeEnd({ ...CLOSED, why })
    feed({ say: 'late' }, { read: 'foreign' })
    back.decodeEnd(CLOSED)
    expect(taken()).toEqual(['about to fail t', failed])
  })

  test('fails one turn of a session that cannot be continued: the one that runs, or the next', () => {
    const first = drive()
    first.back.open('s')
    first.start('t', 's')
    first.back.decodeEnd(CLOSED)
    first.start('u', 's')
    expect(first.taken()).toEqual([
      'opens the first',
      'begins t',
      'opens process-2',
      'about to fail t',
      'failed t session-not-found',
      'begins u',
    ])
    const next = drive()
    next.back.open('s')
    next.back.decodeEnd(CLOSED)
    next.start('t', 's')
    next.start('u', 's')
    expect(next.taken().slice(2)).toEqual([
      'about to fail t',
      'failed t session-not-found',
      'does not begin t',
      'begins u',
    ])
  })

  test('knows no stop of a turn whose process ended', () => {
    const { back } = drive()
    expect(new SomeProcess(PROGRAM, {} as never, {} as never).stopOf(CLOSED)).toBeUndefined()
    expect(() => back.decodeEnd({ why: 'failed', fault: fault('internal', 'No.') } as CallEnd)).not.toThrow()
  })
})
