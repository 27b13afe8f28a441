/** The agent side of a case: a back link under the laws of a turn. */
import {
  asBack,
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Dialect,
  type Frame,
  type Framing,
} from '../../src/contract/index.ts'
import { type AgentListener, RecordedAgent } from '../../src/engine/replay/observables.ts'
import type { AgentEvent, Command, Id } from '../../src/model/index.ts'
import { isRecord } from '../../src/model/index.ts'
import { must, soundEvent, soundFrame, soundNames, TurnJudge } from './checks.ts'
import type { Stage } from './play.ts'
import { noted } from './play.ts'
import type { Act, Case, Target } from './targets.ts'

/** How many turns a wire is asked for, one after the other. */
const TURNS = 3

/** An agent that says what the wire holds. */
export class AgentStage implements Stage {
  readonly said: string[] = []
  readonly #case: Case
  readonly #agent: RecordedAgent
  readonly #dialect: Dialect
  /** Turns that the link itself has ended. */
  readonly #endedByLink = new Set<Id>()
  readonly #asks: Extract<AgentEvent, { type: 'ask' }>[] = []
  #judge = new TurnJudge('t0')
  #framing: Framing
  #isHttp = false
  #turns = 0
  #frames = 0
  #calls = 0
  #faulted = false
  #acting = false
  #thrown: { error: unknown } | undefined

  constructor({ codec, dialect }: Target, one: Case) {
    this.#case = one
    this.#framing = dialect.framing
    this.#dialect = {
      ...dialect,
      back: { ...dialect.back!, open: (context, ports) => this.#link(dialect, context, ports) },
    }
    const { options = {}, ...context } = one.context ?? {}
    const checked = codec.options.schema['~standard'].validate(options)
    must('the options of a case are valid', !(checked instanceof Promise) && !checked.issues, () =>
      JSON.stringify(options),
    )
    const process = { command: 'agent', args: [], env: {}, cwd: '/agents' }
    const whole: BackContext<unknown> = {
      agent: 'agent',
      env: {},
      folder: '/agents',
      process,
      ...context,
      options: (checked as { value: unknown }).value,
    }
    const listener: AgentListener = {
      event: (event) =>
        this.#keeping(() => {
          soundEvent(event)
          this.#judge.event(event)
          this.#note('event', event)
        }),
      link: (event) => {
        soundEvent(event)
        this.#note('link', event)
      },
      loss: (loss) => {
        soundNames({ item: loss.item })
        this.#note('loss', loss)
      },
      fault: (fault) => {
        soundNames({ code: fault.code })
        this.#faulted = true
        this.#note('fault', fault)
      },
    }
    this.#agent = new RecordedAgent(asBack(this.#dialect), whole, listener, {
      open: (call) => {
        this.#calls += 1
        this.#isHttp = call.kind === 'http'
        if (call.kind === 'http') this.#framing = call.answer
        this.#note('call', call)
      },
      send: (frame) => {
        soundFrame(frame, dialect.framing)
        this.said.push(`send ${noted(frame)}`)
      },
    })
  }

  get framing(): Framing {
    return this.#case.head?.headers['content-type']?.startsWith('text/event-stream') ? 'sse' : this.#framing
  }

  open(): void {
    this.#agent.open()
    this.#start()
    if (this.#isHttp)
      this.#agent.head(this.#case.head ?? { status: 200, headers: { 'content-type': 'application/json' } })
    this.#act()
    this.#rethrow()
  }

  frame(frame: Frame): void {
    if (this.#agent.broken) return
    if (this.#agent.running === undefined && this.#agent.persistent && this.#turns < TURNS) this.#start()
    this.#agent.decode(frame)
    this.#frames += 1
    this.#act()
    this.#rethrow()
  }

  end(lost: boolean): void {
    const usual: CallEnd = this.#case.end ?? { why: 'closed', exitCode: 0 }
    const fault = { code: 'protocol-violation', message: 'too long', retryable: false } as const
    const { running } = this.#agent
    const calls = this.#calls
    this.#agent.end(lost ? { why: 'failed', fault } : usual)
    this.#rethrow()
    must('a turn has its end when the wire has', this.#judge.ended, () => `turn ${this.#turns}`)
    if (running === undefined || this.#faulted || this.#asks.length > 0) return
    // The answer to its next call would come on another wire.
    if (this.#calls > calls) return
    must('the link itself ends the turn that its wire leaves open', this.#endedByLink.has(running), () => running)
  }

  /** What is thrown below an Observable would come to nobody's ears: the first is kept, and thrown when the step is done. */
  #keeping(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#thrown ??= { error }
    }
  }

  #rethrow(): void {
    if (this.#thrown) throw this.#thrown.error
  }

  /** The dialect's own link, watched. */
  #link(dialect: Dialect, context: BackContext<unknown>, ports: BackPorts): BackLink {
    const link = dialect.back!.open(context, {
      ...ports,
      emit: (event) => {
        if (event.type === 'turn-end') this.#endedByLink.add(event.turn)
        if (event.type === 'ask') this.#asks.push(event)
        ports.emit(event)
      },
    })
    // What a codec throws would only end its wire: here it is a finding.
    return {
      ...(link.open && { open: (bound) => this.#keeping(() => link.open?.(bound)) }),
      encode: (command) => this.#keeping(() => link.encode(command)),
      decodeHead: (head) => this.#keeping(() => link.decodeHead?.(head)),
      decode: (frame) => this.#keeping(() => link.decode(frame)),
      decodeEnd: (end) => this.#keeping(() => link.decodeEnd(end)),
    }
  }

  #start(): void {
    this.#turns += 1
    this.#judge = new TurnJudge(`t${this.#turns}`)
    const { start } = this.#case
    this.#agent.start({
      type: 'turn-start',
      task: 'prompt',
      input: [{ type: 'text', text: 'hi' }],
      options: {},
      session: { id: 's1' },
      ...start,
      exchange: `x${this.#turns}`,
      turn: `t${this.#turns}`,
    })
  }

  #act(): void {
    if (this.#acting) return
    this.#acting = true
    for (const { at, act } of this.#case.acts ?? []) if (at === this.#frames && !this.#agent.broken) this.#do(act)
    this.#acting = false
  }

  #do(act: Act): void {
    const turn = this.#agent.running
    const exchange = `${act}-${this.#frames}`
    const send = (command: Exclude<Command, { type: 'turn-start' }>): void => this.#agent.send(command)
    const asked = act === 'reply' ? this.#asks.shift() : undefined
    if (act === 'query') send({ type: 'query', exchange, what: 'messages' })
    if (act === 'foreign') send({ type: 'foreign', exchange, protocol: 'zot', frame: '{"id":"9","type":"get_state"}' })
    if (turn === undefined) return
    const target = { turn }
    if (act === 'cancel') send({ type: 'turn-cancel', exchange, target })
    if (act === 'steer') send({ type: 'turn-steer', exchange, target, input: [{ type: 'text', text: 'and' }] })
    if (asked) send({ type: 'ask-reply', exchange, target, ask: asked.ask, reply: replyTo(asked.question) })
  }

  #note(what: string, value: unknown): void {
    this.said.push(`${what} ${JSON.stringify(value)}`)
  }
}

type Question = Extract<AgentEvent, { type: 'ask' }>['question']
type Reply = Extract<Command, { type: 'ask-reply' }>['reply']

function replyTo(question: Question): Reply {
  must('a question is an object', isRecord(question), () => JSON.stringify(question))
  switch (question.kind) {
    case 'approval':
      return { kind: 'approval', option: question.options[0]?.id ?? 'deny' }
    case 'input':
      return { kind: 'input', values: '{}' }
    case 'client':
      return { kind: 'client', result: '{}' }
    case 'tool':
      return { kind: 'tool', status: 'ok', parts: [] }
  }
}
