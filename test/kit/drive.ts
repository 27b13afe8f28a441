/** Drives one link of a codec without an engine: records what it pushes through its ports, in order. */
import type {
  Answer,
  AnyCodec,
  BackContext,
  BackLink,
  Call,
  Carrier,
  Dialect,
  FileRequest,
  FileResult,
  Frame,
  Framing,
  FrontContext,
  FrontLink,
} from '../../src/contract/index.ts'
import { carryEvent } from '../../src/engine/carry/carry-event.ts'
import { LiveView } from '../../src/engine/events/view.ts'
import { frameDecoder } from '../../src/framing/index.ts'
import {
  type AgentEvent,
  type Command,
  type Fault,
  type Id,
  type Loss,
  LossLedger,
  type TurnEvent,
} from '../../src/model/index.ts'

function dialectOf(codec: AnyCodec, name: string | undefined): Dialect {
  const dialect = codec.dialects[name ?? Object.keys(codec.dialects)[0]!]
  if (!dialect) throw new Error(`${codec.name} has no dialect ${name}`)
  return dialect
}

/** The output of a back link. `sent` and `ended` are in wire order within themselves. */
export interface BackDrive {
  link: BackLink
  events: AgentEvent[]
  calls: Call[]
  sent: Frame[]
  /** Calls whose input was ended. */
  ended: (string | undefined)[]
  /** Calls of which nothing more is expected. */
  left: (string | undefined)[]
  /** The files that were asked for, each with what takes its result. */
  files: [FileRequest, (result: FileResult) => void][]
  faults: Fault[]
  losses: Loss[]
  /** A prompt turn `t1` with this text; `more` overrides any field. */
  start(text: string, more?: Partial<Extract<Command, { type: 'turn-start' }>>): void
  /** Feeds frames. */
  feed(...frames: Frame[]): void
  /** Feeds text of the wire. Returns the number of pieces of text that were read together. */
  read(framing: Framing, text: string): number
}

/** Opens a back link with the codec's options validated from `options`. */
export function driveBack(
  codec: AnyCodec,
  {
    dialect,
    options = {},
    trace,
    ...context
  }: { dialect?: string; options?: unknown; trace?: Carrier } & Partial<BackContext<unknown>> = {},
): BackDrive {
  const half = dialectOf(codec, dialect).back
  if (!half) throw new Error('no back half')
  const checked = codec.options.schema['~standard'].validate(options)
  if (checked instanceof Promise || checked.issues) throw new Error(`bad options: ${JSON.stringify(checked)}`)
  let ids = 0
  const drive: Omit<BackDrive, 'link'> = {
    events: [],
    calls: [],
    sent: [],
    ended: [],
    left: [],
    files: [],
    faults: [],
    losses: [],
    start(text, more) {
      link.encode({
        exchange: 'x1',
        type: 'turn-start',
        turn: 't1',
        task: 'prompt',
        input: [{ type: 'text', text }],
        options: {},
        session: { id: 's1' },
        ...more,
      })
    },
    feed(...frames) {
      for (const frame of frames) link.decode(frame)
    },
    read(framing, text) {
      let together = 0
      const decoder = frameDecoder(framing, 1_000_000, {
        frame: (frame) => link.decode(frame),
        texts(wire) {
          const run = link.decodeTexts?.(wire)
          if (run) drive.events.push(...run.events)
          together += run?.length ?? 0
        },
        fault: (fault) => drive.faults.push(fault),
      })
      decoder.push(text)
      decoder.end()
      return together
    },
  }
  const link = half.open(
    { agent: 'agent', env: {}, folder: '/agents', ...context, options: checked.value },
    {
      emit: (event) => drive.events.push(event),
      open: (call) => drive.calls.push(call),
      send: (frame) => drive.sent.push(frame),
      end: (call) => drive.ended.push(call),
      leave: (call) => drive.left.push(call),
      ...(trace && { trace: () => trace }),
      file: (request, done) => drive.files.push([request, done]),
      broken: (fault) => drive.faults.push(fault),
      report: (loss) => drive.losses.push(loss),
      newId: () => `b${++ids}`,
    },
  )
  return Object.assign(drive, { link })
}

/** The output of a front link. */
export interface FrontDrive {
  link: FrontLink
  commands: Command[]
  /** The answer that each command opened, by exchange. */
  answers: Map<Id, Answer>
  sent: Frame[]
  faults: { fault: Fault; exchange?: Id; http?: number }[]
  warned: string[]
  /** The losses that the link reported. */
  losses: Loss[]
  /** The losses of events that the engine removed before the link saw them. */
  dropped: Loss[]
  exitCode: number | undefined
  /** Feeds frames. */
  feed(...frames: Frame[]): void
  /**
   * Plays events of a turn to one exchange (default: the last command's) as the engine would: view, form, capabilities.
   */
  play(events: readonly TurnEvent[], exchange?: Id): void
}

/** Opens a front link; the context defaults to stdio without arguments. `now` is the time on its clock, if it has one. */
export function driveFront(
  codec: AnyCodec,
  { dialect, now, ...context }: { dialect?: string; now?: number } & Partial<FrontContext> = {},
): FrontDrive {
  const half = dialectOf(codec, dialect).front
  if (!half) throw new Error('no front half')
  let ids = 0
  const ledgers = new Map<Id, LossLedger>()
  const views = new Map<Id, LiveView>()
  const ledger = (exchange: Id): LossLedger => {
    const known = ledgers.get(exchange) ?? new LossLedger()
    ledgers.set(exchange, known)
    return known
  }
  const drive: Omit<FrontDrive, 'link'> = {
    commands: [],
    answers: new Map(),
    sent: [],
    faults: [],
    warned: [],
    losses: [],
    dropped: [],
    exitCode: undefined,
    feed(...frames) {
      for (const frame of frames) if (result.exitCode === undefined && !inputEnded) link.decode(frame)
    },
    play(events, exchange = result.commands.at(-1)!.exchange) {
      const view = views.get(exchange) ?? new LiveView({ turn: 't1', session: 's1', agent: 'agent', at: 1000 })
      views.set(exchange, view)
      for (const event of events) {
        view.apply(event, 1250)
        const whole = result.answers.get(exchange)?.form === 'whole'
        const carried = carryEvent(half.capabilities, event, whole, view, (loss) => {
          result.dropped.push(loss)
          ledger(exchange).add(loss)
        })
        if (carried) link.encode(carried, exchange, view)
      }
    },
  }
  const result = drive as FrontDrive
  let inputEnded = false
  const link = half.open(
    { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {}, ...context },
    {
      command(command, answer) {
        result.commands.push(command)
        if (answer) result.answers.set(command.exchange, answer)
      },
      sendRun() {},
      send: (frame) => result.sent.push(frame),
      warn: (text) => result.warned.push(text),
      fault(fault, input, exchange, http) {
        result.faults.push({ fault, ...(exchange !== undefined && { exchange }), ...(http !== undefined && { http }) })
        link.encodeFault(fault, exchange, input)
        if (input === 'continues' || inputEnded || result.exitCode !== undefined) return
        inputEnded = true
        link.decodeEnd?.('eof')
      },
      report(loss, exchange) {
        // The engine knows no exchange before its command: the loss would be lost.
        if (!result.answers.has(exchange)) throw new Error(`a loss of ${exchange}, which has no command yet`)
        result.losses.push(loss)
        ledger(exchange).add(loss)
      },
      losses: (exchange) => ledger(exchange).list,
      newId: () => `f${++ids}`,
      ...(now !== undefined && { now: () => now }),
      close(exitCode) {
        result.exitCode ??= exitCode
      },
    },
  )
  result.link = link
  link.open?.()
  return result
}

/** A whole plain turn as a back would emit it. */
export function plainTurn(text: string, turn = 't1'): TurnEvent[] {
  return [
    { type: 'turn-accepted', turn, how: 'new', session: 's1' },
    { type: 'turn-started', turn },
    { type: 'message-start', turn, message: 'm1', role: 'assistant' },
    { type: 'text-delta', turn, message: 'm1', text },
    { type: 'message-end', turn, message: 'm1' },
    { type: 'usage', turn, scope: 'turn', usage: { input: 3, output: 4, total: 7 } },
    { type: 'turn-end', turn, outcome: 'completed', stop: 'end' },
  ]
}
