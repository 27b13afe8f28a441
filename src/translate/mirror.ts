import type { BackDialect, Call, CallEnd, Frame, FrontContext, FrontDialect } from '../contract/index.ts'
import { acceptedTurn, dropped, type Exchange, RecordedAgent, RecordedClient } from '../engine/replay/index.ts'
import {
  type Command,
  fault,
  type Id,
  type LinkEvent,
  type Loss,
  type TurnEvent,
  type TurnStart,
} from '../model/index.ts'
import { clientContext } from './front-context.ts'
import type { Output } from './output.ts'
import { backContext, backOf, frontOf, type Party } from './party.ts'
import type { Control, Target, TurnTarget } from './target.ts'

/** The prompt of a turn whose request was not recorded. */
export const UNKNOWN = '(not recorded)'

/** The wanted side of the other wire: the output for its client, or the input of its agent. */
export type Shown = 'client reads' | 'agent is sent'

/**
 * The other protocol's wire, mirrored: its back half writes what a gateway would send; its front half reads that as a
 * client's request and gets the events. So no protocol needs made-up requests.
 */
export class MirrorTarget implements Target {
  readonly #party: Party
  readonly #shown: Shown
  readonly #output: Output
  readonly #loops: Loop[] = []

  constructor(party: Party, shown: Shown, output: Output) {
    this.#party = party
    this.#shown = shown
    this.#output = output
  }

  start(command: Command & TurnStart): TurnTarget | undefined {
    if (this.#shown === 'agent is sent') return this.#told(command)
    // A client's output does not depend on its request, so a request that the protocol cannot express becomes a plain one.
    const { exchange, turn, session } = command
    const id = session?.id
    const input = [{ type: 'text', text: UNKNOWN } as const]
    const plain = {
      exchange,
      turn,
      type: 'turn-start',
      task: 'prompt',
      input,
      options: {},
      session: { ...(id && { id }) },
    } as const
    const loop = this.#told(command) ?? this.#told(plain)
    const { name } = this.#party.codec
    if (!loop)
      this.#output.fault(
        fault('invalid-request', `The turn cannot be expressed to a client of ${name}; it is left out.`),
      )
    return loop
  }

  /** Begins a turn on an idle loop; undefined when its front did not take the request. */
  #told(command: Command & TurnStart): Loop | undefined {
    const idle = this.#loops.find((known) => known.idle && !known.over)
    const loop = idle ?? new Loop(this.#party, this.#shown, this.#output)
    if (!idle) {
      this.#loops.push(loop)
      loop.open()
    }
    return loop.start(command) ? loop : undefined
  }

  send(command: Control): void {
    const busy = this.#loops.find((loop) => !loop.idle && loop.isMeantBy(command))
    const loop = busy ?? this.#loops[0]
    if (loop) loop.send(command)
  }

  link(event: LinkEvent): void {
    const loop = this.#loops.find((known) => known.waits(event)) ?? this.#loops[0]
    loop?.tell(event)
  }
}

/** One back half and the front half that it talks to. */
class Loop implements TurnTarget {
  readonly #party: Party
  readonly #front: FrontDialect
  readonly #back: BackDialect
  readonly #shown: Shown
  readonly #output: Output
  readonly #agent: RecordedAgent
  readonly #asks = new Map<Id, Id>()
  #client: RecordedClient | undefined
  #exchange: Exchange | undefined
  #turn: Id | undefined
  #call: Call | undefined
  /** The call has received input. */
  #told = false
  #asking: Id | undefined
  #gone = false
  #sending = false
  /** The exchange of the last command outside of a turn. */
  #control: Exchange | undefined
  /** Exchanges that wait for the reply to a command, by the exchange that it came with. */
  readonly #controls = new Map<Id, Exchange>()

  constructor(party: Party, shown: Shown, output: Output) {
    this.#party = party
    this.#front = frontOf(party)
    this.#back = backOf(party)
    this.#shown = shown
    this.#output = output
    this.#agent = new RecordedAgent(this.#back, backContext(party, undefined), {
      event: (event) => this.#echo(event),
      loss: (loss, direction) => {
        if (direction === 'request' && shown === 'agent is sent') output.loss(loss)
      },
      call: (call) => this.#opened(call),
      send: (frame) => this.#ask(frame),
      endInput: () => this.#client?.end(),
    })
  }

  /** Its process has ended: the next turn needs another one. */
  get over(): boolean {
    return this.#agent.broken || this.#gone
  }

  get idle(): boolean {
    return this.#turn === undefined
  }

  open(): void {
    this.#agent.open()
  }

  /** Begins a turn; false when the other side did not take it. */
  start(command: Command & TurnStart): boolean {
    this.#exchange = undefined
    if (command.task === 'compact' && this.#back.back.capabilities['start.compact'] === 'none') {
      if (this.#shown === 'agent is sent') this.#output.loss(dropped('start.compact'))
      return false
    }
    this.#agent.start(command)
    const call = this.#call
    if (call && !this.#told) this.#tellCall(call)
    if (call?.kind === 'http' || call?.stdin === 'end') this.#client?.end()
    if (!this.#exchange) {
      // Its back half refused the turn, or waits for something: it cannot be used any more.
      this.#gone = true
      return false
    }
    this.#turn = command.turn
    this.event(acceptedTurn(command.turn, 'new', command.session?.id ?? '', command.request))
    return true
  }

  send(command: Control): void {
    this.#control = undefined
    this.#sending = true
    if (command.type !== 'ask-reply' || command.ask === undefined) this.#agent.send(command)
    else this.#agent.send({ ...command, ask: this.#asks.get(command.ask) ?? command.ask })
    this.#sending = false
    if (this.#control) this.#controls.set(command.exchange, this.#control)
  }

  /** True for the reply to a command that it was sent. */
  waits(event: LinkEvent): boolean {
    return event.type === 'command-reply' && this.#controls.has(event.exchange)
  }

  isMeantBy({ type, ...command }: Control): boolean {
    if (!('target' in command) || command.target === 'running') return true
    return type !== 'query' && 'turn' in command.target && command.target.turn === this.#turn
  }

  event(event: TurnEvent): void {
    if (!this.#exchange) return
    if (event.type === 'ask') this.#asking = event.ask
    this.#client?.deliver(event, this.#exchange)
    this.#asking = undefined
    if (event.type !== 'turn-end') return
    this.#turn = undefined
    this.#exchange = undefined
    // Its own view of the turn does not matter, only that it takes the next one.
    if (this.#agent.running !== undefined) this.#agent.abort({ outcome: 'completed' })
    if (!this.#agent.persistent) this.#agent.end({ why: 'closed', exitCode: 0 })
  }

  loss(loss: Loss): void {
    if (this.#exchange) this.#exchange.lost(loss)
    else this.#output.loss(loss)
  }

  tell(event: LinkEvent): void {
    if (event.type !== 'command-reply') {
      this.#client?.tell(event)
      return
    }
    const exchange = this.#controls.get(event.exchange)
    if (exchange) exchange.reply(event)
    // The other protocol's client has no such command, so it did not send one.
    else this.loss({ ...dropped('command-reply'), why: 'unknown' })
  }

  /** Feeds the front half's output to the back half: only the ids of its asks matter. */
  #echo(event: TurnEvent): void {
    if (event.type === 'ask' && this.#asking !== undefined) this.#asks.set(this.#asking, event.ask)
  }

  #opened(call: Call): void {
    this.#call = call
    this.#told = false
    this.#client = new RecordedClient(
      { dialect: this.#front, context: this.#contextOf(call) },
      {
        command: (command, exchange) => {
          if (command.type === 'turn-start') this.#exchange ??= exchange
          else if (this.#sending) this.#control = exchange
          // A step of the back before its turn, such as the choice of a model.
          else exchange?.reply({})
        },
        send: (frame, framing) => {
          if (this.#shown === 'client reads') this.#output.frame(frame, framing)
          this.#agent.decode(frame)
        },
        loss: (loss, direction) => {
          if (direction === 'response' && this.#shown === 'client reads') this.#output.loss(loss)
        },
        close: (exitCode) => this.#closed({ why: 'closed', exitCode }),
      },
    )
    this.#client.open()
    if (call.kind !== 'http') return
    this.#told = true
    if (this.#shown === 'agent is sent') this.#output.frame(call.body, 'body')
    this.#client.decode(call.body)
  }

  /** A front that closes its wire is finished; a process for each turn ends with it. */
  #closed(end: CallEnd): void {
    if (!this.#agent.persistent) return
    this.#gone = true
    this.#agent.end(end)
  }

  #ask(frame: Frame): void {
    this.#told = true
    if (this.#shown === 'agent is sent') this.#output.frame(frame, this.#back.framing)
    this.#client?.decode(frame)
  }

  /** The request of a process without input is its environment. */
  #tellCall(call: Call): void {
    this.#told = true
    if (this.#shown === 'agent is sent' && call.kind === 'process') this.#output.line(call.env ?? {})
  }

  #contextOf(call: Call): FrontContext {
    const { codec, dialect } = this.#party
    if (call.kind === 'process') {
      const names = this.#front.front.env
      const env = Object.fromEntries(Object.entries(call.env ?? {}).filter(([name]) => names.includes(name)))
      return clientContext({ argv: call.args ?? [], env })
    }
    const first = Object.keys(codec.dialects)[0]
    const endpoint = codec.endpoints.find((known) => (known.dialect ?? first) === dialect)
    const http = { method: call.method, path: endpoint?.path ?? '/', headers: call.headers ?? {} }
    return clientContext({ http })
  }
}
