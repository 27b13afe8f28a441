/** A client and an agent of one dialect, wired to each other in memory: its back half asks, its front half answers. */
import {
  type AnyCodec,
  asBack,
  asFront,
  type BackContext,
  type Call,
  type Dialect,
  type Frame,
  type FrontContext,
} from '../../src/contract/index.ts'
import {
  type AgentListener,
  type Exchange,
  RecordedAgent,
  RecordedClient,
} from '../../src/engine/replay/observables.ts'
import type { AgentEvent, Command, Loss, TurnEvent, TurnStart } from '../../src/model/index.ts'

/** The messages on both sides of a mirror. */
export interface MirrorEar {
  /** The front half was asked for a turn. */
  started(command: Command & TurnStart, exchange: Exchange): void
  /** The front half was told something about the turn. */
  command(command: Exclude<Command, TurnStart>): void
  /** The back half read this. */
  event(event: AgentEvent): void
  /** The front half wrote this for its client. */
  read?(frame: Frame): void
  /** The back half wrote this to its agent, or started this call. */
  wrote?(told: Frame | Call): void
  /** Lost by the back half in what it was to ask, or by the front half in what it was to show. */
  asked?(loss: Loss): void
  shown?(loss: Loss): void
}

/** Opens both halves of a dialect; options are the codec's validated ones. */
export class Mirror {
  readonly agent: RecordedAgent
  client: RecordedClient | undefined
  exchange: Exchange | undefined
  readonly #dialect: Dialect
  readonly #ear: MirrorEar
  #call: Call | undefined
  #answered = false
  #exitCode = 0
  /** The front half has shown something of its turn. */
  #answers = false

  constructor(dialect: Dialect, options: unknown, ear: MirrorEar) {
    this.#dialect = dialect
    this.#ear = ear
    const process = { command: 'agent', args: [], env: {}, cwd: '/agents' }
    const context: BackContext<unknown> = {
      options,
      agent: 'agent',
      env: {},
      folder: '/agents',
      process,
    }
    const listener: AgentListener = {
      event: (event) => ear.event(event),
      link: (event) => ear.event(event),
      loss: (loss, direction) => {
        // A prompt may have to wait for the answers of a handshake.
        if (direction === 'request' || !this.#answers) ear.asked?.(loss)
      },
    }
    this.agent = new RecordedAgent(asBack(dialect), context, listener, {
      open: (call) => {
        ear.wrote?.(call)
        this.#open(call)
      },
      send: (frame) => {
        ear.wrote?.(frame)
        this.client?.decode(frame)
      },
      end: () => this.client?.end(),
    })
  }

  /** Begins: a process that lives as long as its session is started and greeted. */
  open(): void {
    this.agent.open()
  }

  /** Has the back half ask for a turn. */
  start(command: Command & TurnStart): void {
    this.agent.start(command)
    const call = this.#call
    if (call?.kind === 'http' || (call?.kind === 'process' && call.stdin === 'end')) this.client?.end()
  }

  /** Shows the front half an event of its turn. */
  show(event: TurnEvent): void {
    this.#answers = true
    const exchange = this.exchange!
    this.client!.deliver(
      { ...event, turn: exchange.command.type === 'turn-start' ? exchange.command.turn : event.turn },
      exchange,
    )
    if (exchange.ended && !this.agent.persistent) this.agent.end({ why: 'closed', exitCode: this.#exitCode })
  }

  #open(call: Call): void {
    this.#call = call
    this.client = new RecordedClient(
      { dialect: asFront(this.#dialect), context: contextOf(call) },
      {
        command: (command, exchange) => {
          if (command.type === 'turn-start') {
            this.exchange = exchange
            this.#ear.started(command, exchange!)
          } else if (command.type === 'turn-cancel' || command.type === 'ask-reply') this.#ear.command(command)
          else exchange?.reply({})
        },
        send: (frame) => {
          this.#ear.read?.(frame)
          if (call.kind === 'http' && !this.#answered) this.agent.head({ status: 200, headers: {} })
          this.#answered = true
          this.agent.decode(frame)
        },
        loss: (loss, direction) => {
          if (direction === 'response') this.#ear.shown?.(loss)
        },
        close: (exitCode) => {
          this.#exitCode = exitCode
        },
      },
    )
    this.client.open()
    if (call.kind === 'http') this.client.decode(call.body)
  }
}

function contextOf(call: Call): FrontContext {
  const none = { method: '', path: '', query: '', headers: {}, argv: [], env: {} }
  if (call.kind === 'process') return { ...none, transport: 'stdio', argv: call.args ?? [], env: call.env ?? {} }
  const [path = '', query = ''] = (call.path ?? '').split('?')
  return { ...none, transport: 'http', method: call.method, path, query, headers: call.headers ?? {} }
}

/** Options of a codec for tests: where asking for permission is one, it is on. */
export function optionsOf({ name, options }: AnyCodec): unknown {
  const checked = options.schema['~standard'].validate(options.keys.includes('permission') ? { permission: true } : {})
  if (checked instanceof Promise || checked.issues) throw new Error(`${name} has options that are required`)
  return checked.value
}
