import { dropped, nonTextLosses, wellFormed } from '../../../src/codec-kit/index.ts'
import {
  type Answer,
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../src/contract/index.ts'
import type { Fault, Id, MessageView, TurnEnd, TurnEvent, TurnView } from '../../../src/model/index.ts'
import { frontCapabilities } from '../capabilities.ts'
import { type Arguments, readArguments } from './args.ts'
import { type Prompt, startTurn } from './start.ts'
import { TurnWriter } from './turn.ts'
import { UsageWriter } from './usage.ts'

/** The exit code of a program that SIGTERM ended, as the shell has it. */
const TERMINATED = 143

const EVENTS: Answer = { form: 'stream', framing: 'ndjson', onDisconnect: 'cancel', asks: 'never' }
const TEXT: Answer = { form: 'whole', framing: 'text', onDisconnect: 'cancel', asks: 'never' }

/**
 * A run of `zot -p` or `zot --json`: one prompt, from the arguments or else all of stdin. It prints the text of the last
 * message, or the events as the loop has them. A failure is a line on stderr and exit code 1.
 */
export class PrintSession implements FrontLink {
  readonly #ports: FrontPorts
  readonly #arguments: Arguments
  /** Writes the events of the prompt; absent where only its text is printed. */
  #writer: TurnWriter | undefined
  #turn: Id | undefined
  #over = false

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#ports = ports
    this.#arguments = readArguments(context.argv)
  }

  open(): void {
    const { warnings, refused, prompt } = this.#arguments
    for (const text of warnings) this.#ports.warn(`turnpike as zot: ${text}`)
    if (refused !== undefined) this.#fail(refused)
    else if (prompt !== '') this.#start(prompt)
  }

  decode(frame: Frame): void {
    const prompt = frameText(frame).trim()
    if (prompt !== '' && this.#turn === undefined && !this.#over) this.#start(prompt)
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    if (this.#over) return
    if (why === 'signal') this.#stop()
    else if (this.#turn === undefined) this.#fail(`${this.#arguments.mode} mode requires a prompt (arg or stdin)`)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    this.#writer?.encode(event, view)
    if (event.type !== 'turn-end') return
    if (!this.#writer) this.#reportUnprinted(event, exchange, view)
    if (event.outcome === 'cancelled') this.#close(TERMINATED)
    else if (event.outcome === 'failed') this.#fail(event.fault?.message ?? 'the turn failed')
    else {
      if (!this.#writer) this.#print(view, exchange)
      this.#close(0)
    }
  }

  encodeFault(found: Fault): void {
    this.#fail(found.message)
  }

  #start(prompt: string): void {
    const { options, session = this.#ports.newId(), mode, appended } = this.#arguments
    const exchange = this.#ports.newId()
    const turn = this.#ports.newId()
    const asked: Prompt = { command: 'prompt', input: [{ type: 'text', text: prompt }] }
    this.#turn = turn
    if (mode === 'json') this.#writer = new TurnWriter(this.#ports, exchange, asked, new UsageWriter(), 'alone')
    startTurn(this.#ports, { ...asked, exchange, turn, session, options }, appended, this.#writer ? EVENTS : TEXT)
  }

  #stop(): void {
    if (this.#turn === undefined) this.#close(TERMINATED)
    else {
      const target = { turn: this.#turn }
      this.#ports.command({ exchange: this.#ports.newId(), type: 'turn-cancel', target })
    }
  }

  /** The last message of the agent that has a text; an empty answer prints nothing. */
  #print(view: TurnView, exchange: Id): void {
    const text = spokenIn(view).at(-1)?.text.replace(/\n$/, '')
    if (text !== undefined) this.#ports.send(wellFormed(text, (loss) => this.#ports.report(loss, exchange)))
  }

  /** Reports what is not printed: all but a text, the messages before the last, and that too where the turn failed. */
  #reportUnprinted({ outcome }: TurnEnd, exchange: Id, view: TurnView): void {
    const messages = spokenIn(view).length
    const count = outcome === 'completed' ? messages - 1 : messages
    const texts = count > 0 ? [{ ...dropped('text-delta', 'message'), count }] : []
    // What this protocol never carries is reported already.
    const others = nonTextLosses(view).filter(({ item }) => frontCapabilities[item] !== 'none')
    for (const loss of [...texts, ...others]) this.#ports.report(loss, exchange)
  }

  #fail(why: string): void {
    if (this.#over) return
    this.#ports.warn(`zot: ${why}`)
    this.#close(1)
  }

  #close(exitCode: number): void {
    this.#over = true
    this.#ports.close(exitCode)
  }
}

/** The agent's own messages that have a text. */
function spokenIn({ messages }: TurnView): MessageView[] {
  return messages.filter(({ role, lane, text }) => role === 'assistant' && lane === undefined && text.trim() !== '')
}
