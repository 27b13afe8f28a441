import { codec } from '../../../codecs/acp/index.ts'
import type { CommandOf, Fault, TurnEvent } from '../../../src/model/index.ts'
import { driveFront, type FrontDrive } from '../../kit/drive.ts'

/** A message that the client reads. */
export interface Read {
  id?: unknown
  method?: string
  params?: { sessionId?: string; update?: Record<string, unknown>; [name: string]: unknown }
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

/** What the gateway answers to commands, by type or `query.WHAT`: data, or a fault. */
export type Answers = Readonly<Record<string, object | Fault>>

const isFault = (answer: object): answer is Fault => 'retryable' in answer

/** A client of the protocol on a front link; the gateway's answers are those of a table, `{}` where it has none. */
export class Editor {
  readonly drive: FrontDrive = driveFront(codec)
  readonly answers: Record<string, object | Fault>
  #handled = 0
  #ids = 0

  constructor(answers: Answers = {}) {
    this.answers = { ...answers }
  }

  /** A greeted client with a session; what it announces and what it was sent so far is not looked at. */
  static open(answers: Answers = {}, clientCapabilities: object = {}): { editor: Editor; session: string } {
    const editor = new Editor(answers)
    editor.ask('initialize', { protocolVersion: 1, clientCapabilities })
    const opened = editor.ask('session/new', WORK)
    editor.drive.sent.length = editor.drive.commands.length = editor.#handled = 0
    return { editor, session: String(opened?.result?.['sessionId']) }
  }

  /** Sends a request, and returns its answer if there is one yet. */
  ask(method: string, params?: unknown, id: unknown = ++this.#ids): Read | undefined {
    this.feed({ jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) })
    return this.read.findLast((message) => message.method === undefined && message.id === id)
  }

  /** Sends a notification. */
  tell(method: string, params: object): void {
    this.feed({ jsonrpc: '2.0', method, params })
  }

  /** Sends a line, and has the gateway answer what it asks of it. */
  feed(line: object | string): void {
    this.drive.feed(typeof line === 'string' ? line : JSON.stringify(line))
    this.settle()
  }

  /** The gateway answers the commands that have no answer yet. */
  settle(): void {
    for (; this.#handled < this.drive.commands.length; this.#handled += 1) {
      const command = this.drive.commands[this.#handled]!
      if (!this.drive.answers.has(command.exchange) || command.type === 'turn-start') continue
      const answer = this.answers[command.type === 'query' ? `query.${command.what}` : command.type] ?? {}
      const reply = isFault(answer) ? { fault: answer } : { data: JSON.stringify(answer) }
      this.drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: command.exchange, ...reply })
    }
  }

  /** Sends a prompt, and returns the turn that it began. */
  prompt(session: string, text = 'Hi', id: unknown = ++this.#ids): CommandOf<'turn-start'> {
    this.ask('session/prompt', { sessionId: session, prompt: [{ type: 'text', text }] }, id)
    return this.turns.at(-1)!
  }

  /** The turns that were asked for. */
  get turns(): CommandOf<'turn-start'>[] {
    return this.drive.commands.filter((command): command is CommandOf<'turn-start'> => command.type === 'turn-start')
  }

  /** Plays events of a turn; a turn is accepted by itself. */
  play({ exchange, turn }: CommandOf<'turn-start'>, ...events: readonly object[]): void {
    this.drive.play(
      events.map((event) => ({ turn, ...event }) as TurnEvent),
      exchange,
    )
    this.settle()
  }

  /** All messages that were read. */
  get read(): Read[] {
    return this.drive.sent.map((frame) => JSON.parse(String(frame)) as Read)
  }

  /** The updates that were read. */
  get updates(): unknown[] {
    return this.read.filter(({ method }) => method === 'session/update').map(({ params }) => params!.update)
  }

  /** The newest message that is no update. */
  get last(): Read | undefined {
    return this.read.findLast(({ method }) => method !== 'session/update')
  }
}

/** Where a session works. */
export const WORK = { cwd: '/work', mcpServers: [] }
/** The end of a turn. */
export const DONE = { type: 'turn-end', outcome: 'completed', stop: 'end' }
/** An answer of one message. */
export const SAID = [
  { type: 'message-start', message: 'm', role: 'assistant' },
  { type: 'text-delta', message: 'm', text: 'Hello.' },
  { type: 'message-end', message: 'm' },
] as const
