/** The client side of a case: a front link whose commands are answered. */
import { asFront, type Frame, type Framing, type FrontContext } from '../../src/contract/index.ts'
import { acceptedTurn, type Exchange, RecordedClient } from '../../src/engine/replay/observables.ts'
import { type Command, fault, type QueryWhat, type TurnEvent } from '../../src/model/index.ts'
import { must, soundCommand, soundFrame, soundNames } from './checks.ts'
import { noted, type Stage } from './play.ts'
import type { Case, Target } from './targets.ts'

const INFO = { agent: 'agent', session: 's1', busy: false }
const LISTED = { id: 'i1', agent: 'agent', session: 's1', conversation: '', createdAt: 1, usedAt: 2, busy: false }
const TOLD = { turn: 't1', state: 'completed', agent: 'agent', front: 'zot', session: 's1', startedAt: 1, endedAt: 2 }
const SAID = { role: 'assistant', parts: [{ type: 'text', text: 'One' }], at: 1 }

/** What a gateway answers. */
const DATA: Partial<Record<QueryWhat, object>> = {
  state: { ...INFO, messageCount: 2 },
  messages: { messages: [SAID] },
  models: { models: [{ id: 'm1' }] },
  agents: { agents: [{ name: 'agent', protocol: 'zot' }] },
  sessions: { sessions: [LISTED] },
  session: { ...LISTED, messages: [SAID] },
  turns: { turns: [TOLD] },
  turn: { ...TOLD, seq: 3, text: 'One' },
  health: { ok: true },
}

/** The turn that a client is shown when the case has none. */
const PLAIN: readonly TurnEvent[] = [
  { type: 'turn-started', turn: '' },
  { type: 'message-start', turn: '', message: 'm1', role: 'assistant' },
  { type: 'text-delta', turn: '', message: 'm1', text: 'One' },
  { type: 'message-end', turn: '', message: 'm1' },
  { type: 'usage', turn: '', scope: 'turn', usage: { input: 3, output: 4 } },
  { type: 'turn-end', turn: '', outcome: 'completed', stop: 'end' },
]

/** A client that says what the wire holds. */
export class ClientStage implements Stage {
  readonly framing: Framing
  readonly said: string[] = []
  readonly #client: RecordedClient
  readonly #turn: readonly TurnEvent[]
  readonly #isBody: boolean
  /** Exchanges that wait for their answer: a front may issue the next command while it is shown the end of the last. */
  readonly #waiting: { command: Command; exchange: Exchange }[] = []
  #answering = false
  #sent = 0

  constructor({ codec, dialect }: Target, { context, turn = [...PLAIN] }: Case) {
    this.#turn = turn
    const [first] = Object.keys(codec.dialects)
    const endpoint = codec.endpoints.find(
      (one) =>
        context?.transport === 'http' && one.path === context.path && codec.dialects[one.dialect ?? first!] === dialect,
    )
    this.framing = endpoint?.input ?? dialect.framing
    this.#isBody = endpoint !== undefined && this.framing === 'body'
    const whole: FrontContext = {
      transport: 'stdio',
      method: '',
      path: '',
      query: '',
      headers: {},
      argv: [],
      env: {},
      ...context,
    }
    this.#client = new RecordedClient(
      { dialect: asFront(dialect), context: whole },
      {
        command: (command, exchange) => {
          soundCommand(command)
          this.#note('command', { command, answer: exchange?.answer })
          if (exchange) this.#waiting.push({ command, exchange })
        },
        send: (frame, framing) => this.#send(frame, framing),
        loss: ({ item, ...loss }) => {
          soundNames({ item })
          this.#note('loss', { item, ...loss })
        },
        fault: (found) => {
          soundNames({ code: found.code })
          this.#note('fault', found)
        },
        close: (exitCode) => this.#note('close', exitCode),
      },
    )
  }

  open(): void {
    this.#client.open()
    this.#answer()
  }

  frame(frame: Frame): void {
    this.#client.decode(frame)
    this.#answer()
  }

  end(_lost: boolean): void {
    this.#client.end()
    this.#answer()
    if (this.#isBody) must('a request over HTTP has an answer', this.#sent > 0, () => this.said.join('\n'))
  }

  #send(frame: Frame, framing: Framing): void {
    this.#sent += 1
    soundFrame(frame, framing)
    this.said.push(`send ${noted(frame)}`)
  }

  #answer(): void {
    if (this.#answering) return
    this.#answering = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      if (!this.#client.closed && !next.exchange.ended) this.#answerOne(next.command, next.exchange)
    }
    this.#answering = false
  }

  #answerOne(command: Command, exchange: Exchange): void {
    if (command.type === 'turn-start' || command.type === 'turn-follow') {
      this.#show(command.type === 'turn-start' ? command.turn : 't1', exchange)
    } else if (command.type === 'ask-reply' && exchange.answer.asks === 'next-request') this.#show('t1', exchange)
    else if (command.type === 'query' && DATA[command.what])
      exchange.reply({ data: JSON.stringify(DATA[command.what]) })
    else if (command.type === 'query') exchange.reply({ fault: fault('invalid-request', 'The agent has no answer.') })
    else exchange.reply({})
    must('an exchange that has its end is over', exchange.ended, () => JSON.stringify(command))
  }

  #show(turn: string, exchange: Exchange): void {
    const request = exchange.command.type === 'turn-start' ? exchange.command.request : undefined
    const told = this.#turn.filter(({ type }) => type !== 'turn-accepted' && type !== 'turn-parked')
    const events: TurnEvent[] = [acceptedTurn(turn, 'new', 's1', request), ...told]
    if (told.at(-1)?.type !== 'turn-end')
      events.push({
        type: 'turn-end',
        turn,
        outcome: 'failed',
        stop: 'error',
        fault: fault('agent-crashed', 'It crashed.'),
      })
    for (const event of events) if (!exchange.ended) this.#client.deliver({ ...event, turn }, exchange)
  }

  #note(what: string, value: unknown): void {
    this.said.push(`${what} ${JSON.stringify(value)}`)
  }
}
