import * as v from 'valibot'
import { dropped, RPC_CODES, type RpcMessage, readRpc, UnaskedTurn, unparsed } from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type JsonText,
  member,
  quote,
} from '../../../src/model/index.ts'
import { faultOfError } from '../errors.ts'
import type { Options } from '../options.ts'
import { SessionUpdate } from '../schema.ts'
import { PROTOCOL } from '../wire.ts'
import { Connection } from './connection.ts'
import { promptOf } from './prompt.ts'
import { AgentSession } from './session.ts'
import { TurnDecoder } from './turn.ts'

/** A turn on its way; `sent` when the agent has its prompt. */
interface Work {
  readonly decoder: TurnDecoder
  readonly start: CommandOf<'turn-start'>
  sent: boolean
}

/**
 * A running agent: one process, the session that its turns run in, one prompt at a time. Updates name their session but
 * no prompt, and the answer to the prompt is the end of its turn.
 */
export class AcpBack implements BackLink {
  readonly #ports: BackPorts
  readonly #connection: Connection
  readonly #session: AgentSession
  readonly #unasked: UnaskedTurn<TurnDecoder>
  #work: Work | undefined
  /** The system prompt that the session has been told. */
  #system: string | undefined

  constructor(context: BackContext<Options>, ports: BackPorts) {
    this.#ports = ports
    this.#connection = new Connection(context, ports, (why) => this.#die(why, false))
    this.#session = new AgentSession(this.#connection, ports)
    this.#unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, ''))
  }

  open(): void {
    this.#connection.open()
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#cancel()
    else if (command.type === 'foreign' && command.protocol === PROTOCOL) this.#connection.send(command.frame)
  }

  decode(frame: Frame): void {
    if (this.#connection.dead) return
    const line = frameText(frame)
    const message = readRpc(line)
    if (message === undefined) this.#noise(line)
    else if (message.kind === 'request') this.#request(message)
    else if (message.kind === 'notification') this.#notified(message, line)
    else if (!this.#answered(message, line)) this.#work?.decoder.out.report(unparsed('command-reply'))
  }

  decodeEnd(end: CallEnd): void {
    if (!this.#connection.dead) this.#die(this.#connection.reasonOf(end), end.why === 'cancelled')
  }

  /** A line that is no message: some programs print to their standard output. */
  #noise(line: string): void {
    if (!this.#connection.greeted && /^content-length:/i.test(line)) {
      const text = `The agent "${this.#connection.context.agent}" frames its messages by Content-Length: only lines of JSON are read.`
      this.#connection.break(fault('protocol-violation', text))
    } else this.#work?.decoder.out.report(unparsed('foreign'))
  }

  /** Nothing is left without an answer: an agent would wait for it for ever. */
  #request({ id, method }: RpcMessage & { kind: 'request' }): void {
    const { writer } = this.#connection
    this.#connection.send(writer.error(id, RPC_CODES.methodNotFound, `Method not found: ${method}`))
  }

  /** An answer of the agent; in a recording, one to the prompt by its shape. */
  #answered(message: Exclude<RpcMessage, { kind: 'request' | 'notification' }>, line: string): boolean {
    const { calls, context } = this.#connection
    if (!context.recorded) return calls.answer(message, line)
    const isEnd = message.kind === 'error' || member(member(line, 'result')!, 'stopReason') !== undefined
    return !isEnd || calls.answerTo('session/prompt', message, line)
  }

  #notified({ method, params }: RpcMessage & { kind: 'notification' }, line: string): void {
    if (method !== 'session/update') {
      this.#foreign(line)
      return
    }
    const { success, output } = v.safeParse(SessionUpdate, params)
    if (!success) {
      this.#work?.decoder.out.report(unparsed('foreign'))
      return
    }
    const isRecorded = this.#connection.context.recorded !== undefined
    if (output.sessionId !== (this.#session.loading ?? this.#session.id) && !isRecorded) {
      this.#work?.decoder.out.report(dropped('foreign', 'sessionId', 'unknown'))
      return
    }
    if (this.#session.loading === undefined) this.#update(output.update, line)
  }

  #update(update: v.InferOutput<typeof SessionUpdate>['update'], line: string): void {
    const decoder = this.#work?.sent ? this.#work.decoder : undefined
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        ;(decoder ?? this.#unasked.open()).chunk(update, rawUpdate(line))
        return
      case 'agent_thought_chunk':
        decoder?.thought(update)
        return
      case 'user_message_chunk':
        return
      default:
        this.#foreign(line)
    }
  }

  #foreign(line: string): void {
    const work = this.#work
    if (work?.sent) work.decoder.foreign(line)
    else this.#ports.emit({ turn: null, type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  #start(start: CommandOf<'turn-start'>): void {
    const work: Work = { decoder: new TurnDecoder(this.#ports, start.turn), start, sent: false }
    this.#work = work
    this.#connection.ready(() => {
      this.#open(work)
    })
  }

  #open(work: Work): void {
    const { dead, context } = this.#connection
    if (dead || context.recorded) this.#prompt(work, dead)
    else this.#session.ensure(work.start.session?.bound, (why) => this.#prompt(work, why))
  }

  #prompt(work: Work, why: Fault | undefined): void {
    if (this.#work !== work) return
    if (why) {
      this.#end(work, () => work.decoder.fail(why))
      return
    }
    this.#unasked.before(() => this.#send(work))
  }

  #send(work: Work): void {
    const { decoder, start } = work
    if (start.ext && start.ext.protocol !== PROTOCOL) {
      decoder.out.report(dropped('ext', start.ext.protocol))
    }
    const wished = start.options.systemPrompt
    const system = wished === this.#system ? undefined : wished
    this.#system = wished ?? this.#system
    const prompt = promptOf(start, system, this.#connection.kinds, (loss) => decoder.out.report(loss))
    const params = `{"sessionId":${quote(this.#session.id ?? '')},"prompt":${prompt}}`
    work.sent = true
    this.#connection.call('session/prompt', params, (answer) => {
      if (!answer || this.#work !== work) return
      this.#end(work, () => {
        if (answer.kind === 'result') decoder.prompted(answer.result)
        else decoder.fail(faultOfError(answer.error))
      })
    })
  }

  /** The turn ends with the answer to its prompt, also when it is cancelled (Cancellation). */
  #cancel(): void {
    const work = this.#work
    if (!work) return
    work.decoder.cancelAsked = true
    if (work.sent) {
      const params = `{"sessionId":${quote(this.#session.id ?? '')}}`
      this.#connection.send(this.#connection.writer.notification('session/cancel', params))
    } else this.#end(work, () => work.decoder.fail(fault('cancelled', 'The turn was cancelled.')))
  }

  #end(_: Work, how: () => void): void {
    this.#work = undefined
    how()
  }

  #die(why: Fault, cancelled: boolean): void {
    const work = this.#work
    this.#unasked.end()
    if (work) {
      work.decoder.cancelAsked ||= cancelled
      this.#end(work, () => work.decoder.fail(why))
    }
    this.#connection.die(why)
  }
}

/** The update of a notification, raw. */
function rawUpdate(line: string): JsonText {
  return member(member(line, 'params')!, 'update')!
}
