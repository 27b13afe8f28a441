import * as v from 'valibot'
import {
  dropped,
  type KnownMembers,
  reportFurther,
  UnaskedTurn,
  unparsed,
  withDefaultFlags,
} from '../../../src/codec-kit/index.ts'
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
  type Item,
  isRecord,
  type JsonText,
  member,
  parseObject,
} from '../../../src/model/index.ts'
import { faultOfError } from '../error-object.ts'
import type { Options } from '../options.ts'
import { ControlRequest, StatusResult } from '../schema.ts'
import { NEW_SESSION, PROTOCOL, promptId } from '../wire.ts'
import { NOTES, TERMINAL } from './annotations.ts'
import { BackAsks } from './asks.ts'
import { CHUNK, COMPLETION, plainText } from './completions.ts'
import { EndedTurns, isLastChunk } from './late.ts'
import { endFault, isShipped, type Reader, sessionOf, shippedFault } from './lines.ts'
import { BackQueries } from './queries.ts'
import { cancelLine, requestLine, type Where } from './request.ts'
import { COMMAND_RESULT, isEnd, noticeOf, SESSION_EVENT } from './session-events.ts'
import { TurnDecoder } from './turn.ts'

/** Readers of the lines of a turn by their `object` or `type`. */
const READERS: ReadonlyMap<unknown, Reader> = new Map<unknown, Reader>([
  ['chat.completion', COMPLETION],
  ['chat.completion.chunk', CHUNK],
  ...NOTES,
  ['x-qwen-terminal', TERMINAL],
  ['x-qwen-session-event', SESSION_EVENT],
  ['result/command', COMMAND_RESULT],
])

/** The members of a line with a fatal error. */
const FATAL: KnownMembers = { error: true, session_id: true, prompt_id: true }

/**
 * An agent of the RFC: one process for a session, or one for every turn. It has no handshake: it reads its input in its
 * own time, and its first completion describes it.
 */
export class QwenBack implements BackLink {
  /** Starts the process before any command; absent when every turn has its own. */
  readonly open?: () => void
  readonly #context: BackContext<Options>
  readonly #ports: BackPorts
  readonly #asks: BackAsks
  readonly #queries: BackQueries
  readonly #past = new EndedTurns()
  #work: { decoder: TurnDecoder; where: Where } | undefined
  readonly #unasked: UnaskedTurn<TurnDecoder>
  /** The agent's own id of the session. */
  #session: string | undefined
  /** The system prompt that the agent knows already. */
  #system: string | undefined
  #turns = 0
  #dead: Fault | undefined

  constructor(context: BackContext<Options>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
    this.#unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, '', 'prompt'))
    this.#asks = new BackAsks(ports)
    this.#queries = new BackQueries(ports)
    if (context.options.lifetime !== 'turn') this.open = this.#open.bind(this)
  }

  #open(): void {
    this.#start('open')
    this.#ports.emit({ turn: null, type: 'agent-ready' })
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#run(command)
    else if (command.type === 'turn-cancel') this.#cancel()
    else if (command.type === 'ask-reply') this.#asks.reply(command)
    else if (command.type === 'foreign') {
      if (command.protocol === PROTOCOL && !this.#dead) this.#ports.send(command.frame)
    } else this.#queries.ask(command, this.#sessionFor(command), this.#dead)
  }

  decode(frame: Frame): void {
    if (this.#dead) return
    const line = frameText(frame)
    const value = parseObject(line)
    if (!value) {
      this.#unparsed('foreign')
      return
    }
    const decoder = this.#work?.decoder
    const text = decoder && plainText(value)
    if (text !== undefined && value['session_id'] === this.#session && !this.#past.isLate(value, decoder!.begun)) {
      decoder!.text(text, undefined)
    } else this.#decodeOther(value, line)
  }

  decodeEnd(end: CallEnd): void {
    const decoder = this.#work?.decoder
    const reason = endFault(end, this.#context.agent)
    // An agent whose input is closed may end without an event that says so, as long as it ends well.
    const done = !this.open && end.why === 'closed' && end.exitCode === 0 && decoder?.mayBeOver === true
    if (done) decoder.finish(undefined)
    else if (end.why === 'cancelled') decoder?.finish('aborted')
    else decoder?.fail(reason)
    this.#ended()
    if (this.open) this.#die(reason)
  }

  #decodeOther(value: Record<string, unknown>, line: JsonText): void {
    if (isShipped(value)) {
      this.#break(shippedFault(this.#context.agent))
      return
    }
    const session = sessionOf(value)
    if (session !== undefined && session !== this.#session && session !== NEW_SESSION) {
      this.#session = session
      this.#ports.emit({ turn: null, type: 'session-bound', agentSession: session })
    }
    const { type } = value
    if (isRecord(value['error']) && type === undefined && value['object'] === undefined) {
      reportFurther(value, FATAL, (loss) => this.#work?.decoder.report(loss))
      this.#break(faultOfError(member(line, 'error')!))
    } else if (type === 'control_request') this.#ask(value, line)
    else if (typeof type === 'string' && type.startsWith('result/') && type !== 'result/command') {
      this.#status(value, line)
    } else if (type !== 'control_response') this.#decodeOfTurn(value, line)
  }

  #decodeOfTurn(value: Record<string, unknown>, line: JsonText): void {
    const reader = READERS.get(value['object'] ?? value['type'])
    const decoder = this.#work?.decoder
    if (!decoder) {
      if (!reader) this.#ports.emit({ turn: null, type: 'foreign', protocol: PROTOCOL, frame: line })
      else if (!this.#decodeUnasked(reader, value, line)) this.#decodeTail(value, line)
      return
    }
    if (this.#past.isLate(value, decoder.begun)) return
    const outcome = reader?.read(decoder, value, line) ?? 'stray'
    if (outcome === 'misfit') this.#unparsed(reader!.item)
    else if (outcome === 'stray') decoder.emit({ type: 'foreign', protocol: PROTOCOL, frame: line })
    else if (outcome !== 'read') this.#break(outcome)
    if (decoder.ended) this.#ended()
  }

  /** Takes a line while no turn runs that is no output of the agent's own turn. */
  #decodeTail(value: Record<string, unknown>, line: JsonText): void {
    if (isEnd(value)) this.#past.tail = false
    else if (value['type'] === 'x-qwen-session-event') {
      const { event, ext } = noticeOf(value, line)
      this.#ports.emit({ turn: null, ...event, ...(ext && { ext }) })
    }
  }

  /** Takes the agent's output while no request is answered; false for the rest of an ended turn and for other lines. */
  #decodeUnasked(reader: Reader, value: Record<string, unknown>, line: JsonText): boolean {
    const prompt = value['prompt_id']
    if (typeof prompt === 'string' ? this.#past.has(prompt) : this.#past.tail) return false
    if (!this.#unasked.decoder && value['choices'] === undefined) return false
    if (!this.#unasked.decoder) this.#past.unasked = prompt
    const decoder = this.#unasked.open()
    reader.read(decoder, value, line)
    if (decoder.ended || isLastChunk(value)) this.#endUnasked()
    return true
  }

  /** Ends the output of an unrequested turn. Its further lines come too late. */
  #endUnasked(): void {
    if (!this.#unasked.decoder) return
    this.#unasked.end()
    if (typeof this.#past.unasked === 'string') this.#past.add(this.#past.unasked)
  }

  #ask(value: Record<string, unknown>, line: JsonText): void {
    const { success, output } = v.safeParse(ControlRequest, value)
    const decoder = this.#work?.decoder
    decoder?.endCalls()
    if (!this.open) decoder?.report(dropped('ask'))
    else if (success) this.#asks.request(output.subtype, line, decoder)
    else this.#unparsed('ask')
  }

  #status(value: Record<string, unknown>, line: JsonText): void {
    const { success, output } = v.safeParse(StatusResult, value)
    const decoder = this.#work?.decoder
    if (!success) this.#unparsed('command-reply')
    else if (output.type === 'result/cancel') {
      // The request that was cancelled is gone and has not reported its end. An earlier turn may have reported it.
      const earlier = this.#past.has(output.prompt_id ?? '')
      if (output.status === 'noop' && decoder?.cancelAsked && !earlier) decoder.finish('aborted')
      this.#ended()
    } else if (!this.#queries.answer(output, line) && output.status === 'error' && decoder) {
      decoder.notice('warning', 'agent-unhealthy', output.message ?? 'The agent says that it is not well.')
    }
  }

  #run(start: CommandOf<'turn-start'>): void {
    const decoder = new TurnDecoder(this.#ports, start.turn, start.task)
    if (this.#dead) {
      decoder.fail(this.#dead)
      return
    }
    this.#endUnasked()
    this.#turns += 1
    const session = this.#sessionFor(start)
    const owner = session === NEW_SESSION ? (start.session?.id ?? 'turnpike') : session
    const where = { session, prompt: start.request || promptId(owner, this.#turns) }
    this.#past.delete(where.prompt)
    this.#work = { decoder, where }
    const system = this.#instruct(start)
    if (!this.open) {
      this.#system = undefined
      this.#start('end')
    }
    this.#ports.send(requestLine(start, where, system, (loss) => decoder.report(loss)))
  }

  /**
   * The system prompt that a turn has to bring. A compaction may summarise the instruction away, and a command has no
   * room for it: the next prompt says it (again).
   */
  #instruct(start: CommandOf<'turn-start'>): string | undefined {
    const wished = start.options.systemPrompt
    const system = wished === this.#system && !start.history ? undefined : wished
    if (start.task === 'compact' || forgets(start)) this.#system = undefined
    else if (wished !== undefined && (start.history || !start.invocation)) this.#system = wished
    return system
  }

  /** The agent's id of the session: the one it named, one known from earlier, else a new one. */
  #sessionFor({ session }: Command): string {
    return this.#session ?? session?.bound ?? (this.#turns > 1 ? session?.id : undefined) ?? NEW_SESSION
  }

  #cancel(): void {
    if (!this.#work) return
    this.#work.decoder.cancelAsked = true
    if (this.open) this.#ports.send(cancelLine(this.#work.where))
  }

  #start(stdin: 'open' | 'end'): void {
    const { process, options } = this.#context
    const args = withDefaultFlags(process?.args ?? [], [
      { add: ['--input-format', 'stream-json'] },
      { add: ['--output-format', options.output], unless: ['-o'] },
    ])
    this.#ports.open({ kind: 'process', stdin, args })
  }

  /** The turn has its end. */
  #ended(): void {
    const work = this.#work
    if (!work?.decoder.ended) return
    this.#past.add(work.where.prompt)
    this.#past.tail = true
    this.#asks.clear()
    this.#work = undefined
  }

  #unparsed(item: Item): void {
    this.#work?.decoder.report(unparsed(item))
  }

  /** The agent cannot be used any more: its turn fails, and the engine ends the process. */
  #break(reason: Fault): void {
    this.#work?.decoder.fail(reason)
    this.#ended()
    this.#die(reason)
    this.#ports.broken(reason)
  }

  #die(reason: Fault): void {
    this.#endUnasked()
    this.#dead = reason
    this.#queries.die(reason)
  }
}

/** True for a command that surely clears the conversation. */
function forgets({ invocation }: CommandOf<'turn-start'>): boolean {
  return invocation?.kind === 'slash' && ['clear', 'compress'].includes(invocation.path.join(' '))
}
