import * as v from 'valibot'
import { type RpcMessage, readRpc, unparsed } from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../src/contract/index.ts'
import type { Command, CommandOf, Id, Loss } from '../../../src/model/index.ts'
import { ThreadOpened } from '../schema.ts'
import { PROTOCOL } from '../wire.ts'
import { Asks } from './asks.ts'
import { linkNotice, NOTES, requestIdOf } from './notes.ts'
import { Queries } from './queries.ts'
import { AppServer } from './server.ts'
import { Thread } from './thread.ts'
import { Turns } from './turns.ts'
import { Work } from './work.ts'

type Notification = Extract<RpcMessage, { kind: 'notification' }>

/** A running `codex app-server`: one process, one thread, one turn at a time. */
export class AppServerBack implements BackLink {
  readonly #ports: BackPorts
  readonly #recorded: BackContext<unknown>['recorded']
  readonly #server: AppServer
  readonly #thread: Thread
  readonly #asks: Asks
  readonly #queries: Queries
  readonly #turns: Turns

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#ports = ports
    this.#recorded = context.recorded
    this.#server = new AppServer(context, ports)
    this.#thread = new Thread(this.#server, ports, context.process?.cwd)
    this.#asks = new Asks(ports, this.#server)
    this.#queries = new Queries(this.#server, ports)
    this.#turns = new Turns(this.#thread, ports)
  }

  open(): void {
    this.#server.open()
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#turns.current?.cancel()
    else if (command.type === 'turn-steer') this.#turns.current?.steer(command)
    else if (command.type === 'ask-reply') {
      if (this.#asks.reply(command) && this.#turns.current) this.#turns.current.decoder.cancelAsked = true
    } else if (command.type === 'query') this.#queries.ask(command)
    else if (command.type === 'session-delete') this.#queries.delete(command)
  }

  decode(frame: Frame): void {
    const line = frameText(frame)
    const message = readRpc(line)
    if (this.#server.dead || message === undefined) {
      if (message === undefined && line.trim() !== '') this.#unparsed('foreign')
      return
    }
    if (message.kind === 'notification') this.#notification(message, line)
    else if (message.kind === 'request') this.#asks.request(message, line, this.#turns.laneOf(message.params))
    else if (this.#recorded) this.#recordedAnswer(message, line)
    else if (!this.#server.answered(message, line)) this.#unparsed('command-reply')
  }

  decodeEnd(end: CallEnd): void {
    if (this.#server.dead) return
    const reason = this.#server.reasonOf(end)
    if (this.#turns.current) this.#asks.turnEnds()
    this.#turns.end(reason, end.why === 'cancelled')
    this.#queries.end(reason)
    this.#server.die(reason)
  }

  #start(start: CommandOf<'turn-start'>): void {
    const work = new Work(start, this.#server, this.#thread, this.#ports)
    this.#turns.current = work
    if (this.#recorded) work.sent = true
    else work.begin((step) => this.#turns.unasked.before(step))
  }

  #notification({ method, params }: Notification, line: string): void {
    if (method === 'turn/started') this.#turns.started(params)
    else if (method === 'turn/completed') this.#turns.completed(params, () => this.#asks.turnEnds())
    else if (method === 'serverRequest/resolved') this.#asks.resolved(requestIdOf(line))
    else {
      const note = Object.hasOwn(NOTES, method) ? NOTES[method] : undefined
      const notice = linkNotice(method, params)
      const decoder = note && this.#turns.decoderOf(params)
      if (note && decoder)
        this.#done(note.read({ decoder, lane: this.#turns.lane(decoder, params), params, line }), note.item, line)
      else if (notice) this.#ports.emit({ turn: this.#turns.current?.decoder.turn ?? null, ...notice })
      else if (!note) this.#foreign(line)
    }
  }

  /** An answer of a recorded agent was for another client; only the thread that it names is known by it. */
  #recordedAnswer(message: Extract<RpcMessage, { kind: 'result' | 'error' }>, line: string): void {
    if (message.kind === 'result' && this.#thread.id === undefined && v.is(ThreadOpened, message.result)) {
      this.#thread.adopt(message.result.thread.id)
    } else if (this.#recorded === 'agent') this.#foreign(line)
  }

  #done(reading: 'read' | 'misfit' | 'foreign', item: Loss['item'], line: string): void {
    if (reading === 'misfit') this.#unparsed(item)
    else if (reading === 'foreign') this.#foreign(line)
  }

  #foreign(line: string): void {
    const turn: Id | null = this.#turns.current?.decoder.turn ?? null
    this.#ports.emit({ turn, type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  #unparsed(item: Loss['item']): void {
    const turn = this.#turns.current?.decoder.turn
    if (turn !== undefined) this.#ports.report(unparsed(item), turn)
  }
}
