import type { Call, Frame } from '../contract/index.ts'
import {
  type AgentListener,
  acceptedTurn,
  dropped,
  type Exchange,
  RecordedAgent,
  RecordedClient,
} from '../engine/replay/index.ts'
import type { Command, Id, LinkEvent, Loss, TurnEvent, TurnStart } from '../model/index.ts'
import { AskIds } from './ask-ids.ts'
import { callContext } from './front-context.ts'
import type { Written } from './output.ts'
import { backContext, backOf, frontOf, type Party } from './party.ts'
import type { Control, TurnTarget } from './target.ts'

/** One back half and the front half that it talks to. */
export class MirrorLoop implements TurnTarget {
  readonly #party: Party
  readonly #sent: Written
  readonly #read: Written
  readonly #agent: RecordedAgent
  readonly #asks = new AskIds()
  /** Exchanges that wait for the reply to a command, by the exchange that it came with. */
  readonly #controls = new Map<Id, Exchange>()
  #client: RecordedClient | undefined
  #turn: { id: Id; exchange: Exchange } | undefined
  /** A turn that begins, and its exchange once its front has taken the request. */
  #starting: { exchange: Exchange | undefined } | undefined
  /** The command outside of a turn that is being sent. */
  #sending: Control | undefined
  /** The newest call of its back half, and whether it has received input. */
  #call: { of: Call; told: boolean } | undefined
  #gone = false

  /** `sent` takes what the agent is sent, `read` what the client reads. */
  constructor(party: Party, sent: Written, read: Written) {
    this.#party = party
    this.#sent = sent
    this.#read = read
    const listener: AgentListener = {
      // The back half reads what its front half wrote: only the ids of its asks matter.
      event: (event) => this.#asks.read(event),
      loss: (loss, direction) => {
        if (direction === 'request') sent.loss(loss)
      },
    }
    this.#agent = new RecordedAgent(backOf(party), backContext(party, undefined), listener, {
      open: (call) => this.#opened(call),
      send: (frame) => this.#ask(frame),
      end: () => this.#client?.end(),
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
    if (command.task === 'compact' && backOf(this.#party).back.capabilities['start.compact'] === 'none') {
      this.#sent.loss(dropped('start.compact'))
      return false
    }
    const exchange = this.#request(command)
    if (!exchange) {
      // Its back half refused the turn, or waits for something: it cannot be used any more.
      this.#gone = true
      return false
    }
    this.#turn = { id: command.turn, exchange }
    this.event(acceptedTurn(command.turn, 'new', command.session?.id ?? '', command.request))
    return true
  }

  send(command: Control): void {
    this.#sending = command
    this.#agent.send(this.#asks.translated(command))
    this.#sending = undefined
  }

  /** True for the reply to a command that it was sent. */
  waits(event: LinkEvent): boolean {
    return event.type === 'command-reply' && this.#controls.has(event.exchange)
  }

  isMeantBy({ type, ...command }: Control): boolean {
    if (!('target' in command) || command.target === 'running') return true
    return type !== 'query' && 'turn' in command.target && command.target.turn === this.#turn?.id
  }

  event(event: TurnEvent): void {
    const turn = this.#turn
    if (!turn) return
    this.#asks.show(event)
    this.#client?.deliver(event, turn.exchange)
    if (event.type !== 'turn-end') return
    this.#turn = undefined
    // Its own view of the turn does not matter, only that it takes the next one.
    if (this.#agent.running !== undefined) this.#agent.abort({ outcome: 'completed' })
    if (!this.#agent.persistent) this.#agent.end({ why: 'closed', exitCode: 0 })
  }

  loss(loss: Loss): void {
    if (this.#turn) this.#turn.exchange.lost(loss)
    else this.#read.loss(loss)
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

  /** Has the back half ask for a turn; the exchange in which the front half takes it. */
  #request(command: Command & TurnStart): Exchange | undefined {
    const starting: { exchange: Exchange | undefined } = { exchange: undefined }
    this.#starting = starting
    this.#agent.start(command)
    const call = this.#call
    if (call && !call.told) this.#tellEnvironment(call)
    if (call?.of.kind === 'http' || call?.of.stdin === 'end') this.#client?.end()
    this.#starting = undefined
    return starting.exchange
  }

  /** The request of a process without input is its environment. */
  #tellEnvironment(call: { of: Call; told: boolean }): void {
    call.told = true
    if (call.of.kind === 'process') this.#sent.line(call.of.env ?? {})
  }

  #opened(call: Call): void {
    this.#call = { of: call, told: call.kind === 'http' }
    const client = new RecordedClient(
      { dialect: frontOf(this.#party), context: callContext(this.#party, call) },
      {
        command: (command, exchange) => this.#command(command, exchange),
        send: (frame, framing) => {
          this.#read.frame(frame, framing)
          this.#agent.decode(frame)
        },
        loss: (loss, direction) => {
          if (direction === 'response') this.#read.loss(loss)
        },
        close: (exitCode) => this.#closed(exitCode),
      },
    )
    this.#client = client
    client.open()
    if (call.kind !== 'http') return
    this.#sent.frame(call.body, 'body')
    client.decode(call.body)
  }

  #command(command: Command, exchange: Exchange | undefined): void {
    if (command.type === 'turn-start') {
      if (this.#starting) this.#starting.exchange ??= exchange
    } else if (!this.#sending) {
      // A step of the back before its turn, such as the choice of a model.
      exchange?.reply({})
    } else if (exchange) this.#controls.set(this.#sending.exchange, exchange)
  }

  /** A front that closes its wire is finished; a process for each turn ends with it. */
  #closed(exitCode: number): void {
    if (!this.#agent.persistent) return
    this.#gone = true
    this.#agent.end({ why: 'closed', exitCode })
  }

  #ask(frame: Frame): void {
    if (this.#call) this.#call.told = true
    this.#sent.frame(frame, backOf(this.#party).framing)
    this.#client?.decode(frame)
  }
}
