import * as v from 'valibot'
import { UnaskedOutput } from '../../../src/codec-kit/index.ts'
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
  parse,
} from '../../../src/model/index.ts'
import { faultOfError } from '../error-object.ts'
import type { Options } from '../options.ts'
import { StatusResult } from '../schema.ts'
import { NEW_SESSION, PROTOCOL, promptId } from '../wire.ts'
import { readTerminal, readThought, readToolDisplay } from './annotations.ts'
import { BackAsks } from './asks.ts'
import { plainText, readChunk, readCompletion } from './completions.ts'
import { BackQueries } from './queries.ts'
import { cancelLine, requestLine, type Where } from './request.ts'
import { isEnd, noticeOf, readCommandResult, readSessionEvent } from './session-events.ts'
import { TurnDecoder } from './turn.ts'
import { agentArguments, endFault, isShipped, type Outcome, sessionOf, shippedFault } from './wire.ts'

/** A turn on its way. */
interface Work {
  decoder: TurnDecoder
  where: Where
}

/** The reader of one kind of line while a turn runs. */
interface Reader {
  /** The item that is lost when the line has not the shape of its kind. */
  item: Item
  read(turn: TurnDecoder, value: Record<string, unknown>, line: JsonText): Outcome
}

const READERS: ReadonlyMap<unknown, Reader> = new Map<unknown, Reader>([
  ['chat.completion', { item: 'message-end', read: readCompletion }],
  ['chat.completion.chunk', { item: 'text-delta', read: readChunk }],
  ['x-qwen-thought', { item: 'reasoning-delta', read: readThought }],
  ['x-qwen-tool-display', { item: 'tool-progress', read: readToolDisplay }],
  ['x-qwen-terminal', { item: 'terminal-output', read: readTerminal }],
  ['x-qwen-session-event', { item: 'notice', read: readSessionEvent }],
  ['result/command', { item: 'command-reply', read: readCommandResult }],
])

/** Of so many turns late lines are known by their id. */
const REMEMBERED = 100

/**
 * An agent of the RFC: one process for a session, or one for every turn. It has no handshake: what it is told it reads
 * in its own time, and its first completion says what it is.
 */
export class QwenBack implements BackLink {
  /** Starts the process before any command; absent when every turn has its own. */
  readonly open?: () => void
  readonly #context: BackContext<Options>
  readonly #ports: BackPorts
  readonly #asks: BackAsks
  readonly #queries: BackQueries
  /** The ids of turns that have ended: what still comes for them is late. */
  readonly #over = new Set<string>()
  #work: Work | undefined
  /** A turn that the agent began itself, while none of ours runs. */
  #unasked: { decoder: TurnDecoder; output: UnaskedOutput; prompt: unknown } | undefined
  /** The agent's own id of the session. */
  #session: string | undefined
  /** The system prompt that the agent knows already. */
  #system: string | undefined
  #turns = 0
  /** A turn may have ended before the last line that its agent wrote for it. */
  #late = false
  #dead: Fault | undefined

  constructor(context: BackContext<Options>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
    this.#asks = new BackAsks(ports)
    this.#queries = new BackQueries(ports)
    if (context.options.lifetime === 'turn') return
    this.open = () => {
      this.#start('open')
      ports.emit({ turn: null, type: 'agent-ready' })
    }
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
    const value = parse(line)
    if (!isRecord(value)) {
      this.#unparsed('foreign')
      return
    }
    const text = this.#work && plainText(value)
    if (text !== undefined && value['session_id'] === this.#session && !this.#isLate(value)) {
      this.#work!.decoder.text(text, undefined)
    } else this.#decodeOther(value, line)
  }

  decodeEnd(end: CallEnd): void {
    const work = this.#work
    // An agent whose input is closed may end without an event that says so, as long as it ends well.
    const done = !this.open && end.why === 'closed' && end.exitCode === 0 && work?.decoder.mayBeOver === true
    if (done) work.decoder.finish(undefined)
    else if (end.why === 'cancelled') work?.decoder.finish('aborted')
    else work?.decoder.fail(endFault(end, this.#context.agent))
    this.#ended()
    if (this.open) this.#die(endFault(end, this.#context.agent))
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
    const type = value['type']
    if (isRecord(value['error']) && type === undefined && value['object'] === undefined) {
      this.#break(faultOfError(member(line, 'error')!))
    } else if (type === 'control_request') this.#ask(value, line)
    else if (typeof type === 'string' && type.startsWith('result/') && type !== 'result/command') {
      this.#status(type, value, line)
    } else if (type !== 'control_response') this.#decodeOfTurn(value, line)
  }

  #decodeOfTurn(value: Record<string, unknown>, line: JsonText): void {
    const reader = READERS.get(value['object'] ?? value['type'])
    const decoder = this.#work?.decoder
    if (!decoder) {
      if (reader && this.#decodeUnasked(reader, value, line)) return
      if (isEnd(value)) this.#late = false
      else if (value['type'] === 'x-qwen-session-event') this.#notice(value, line)
      else if (!reader) this.#ports.emit({ turn: null, type: 'foreign', protocol: PROTOCOL, frame: line })
      return
    }
    if (this.#isLate(value)) return
    const outcome = reader?.read(decoder, value, line) ?? 'stray'
    if (outcome === 'misfit') this.#unparsed(reader!.item)
    else if (outcome === 'stray') decoder.emit({ type: 'foreign', protocol: PROTOCOL, frame: line })
    else if (outcome !== 'read') this.#break(outcome)
    if (decoder.ended) this.#ended()
  }

  /** Takes the agent's output while no request is answered; false for the rest of an ended turn and for other lines. */
  #decodeUnasked(reader: Reader, value: Record<string, unknown>, line: JsonText): boolean {
    const prompt = value['prompt_id']
    if (typeof prompt === 'string' ? this.#over.has(prompt) : this.#late) return false
    if (!this.#unasked && value['choices'] === undefined) return false
    const output = this.#unasked?.output ?? new UnaskedOutput(this.#ports)
    this.#unasked ??= { output, decoder: new TurnDecoder(output.ports, '', 'prompt'), prompt }
    reader.read(this.#unasked.decoder, value, line)
    if (this.#unasked.decoder.ended || isLastChunk(value)) this.#endUnasked()
    return true
  }

  /** Ends the output of an unrequested turn. Its further lines come too late. */
  #endUnasked(): void {
    if (!this.#unasked) return
    const { output, prompt } = this.#unasked
    this.#unasked = undefined
    output.tell()
    if (typeof prompt === 'string') this.#end(prompt)
  }

  /** Remembers that a turn has ended. */
  #end(prompt: string): void {
    this.#over.add(prompt)
    if (this.#over.size > REMEMBERED) this.#over.delete(this.#over.values().next().value!)
  }

  /** True for a line of a turn that has ended: by its id, or because it can only be the end of the one before. */
  #isLate(value: Record<string, unknown>): boolean {
    const prompt = value['prompt_id']
    if (typeof prompt === 'string') return this.#over.has(prompt)
    if (!this.#late || this.#work!.decoder.begun) return false
    const ends = isEnd(value) || isLastChunk(value)
    // A completion that goes on is this turn's: the next end is its own.
    if (ends || value['choices'] !== undefined) this.#late = false
    return ends
  }

  #ask(value: Record<string, unknown>, line: JsonText): void {
    const decoder = this.#work?.decoder
    const toolOf = (id: string): string | undefined => decoder?.tools.shown(id)?.tool
    decoder?.endCalls()
    if (!this.open) decoder?.report({ kind: 'dropped', item: 'ask', why: 'no-place', count: 1 })
    else if (!this.#asks.request(value, line, decoder?.turn, toolOf)) this.#unparsed('ask')
  }

  #status(type: string, value: Record<string, unknown>, line: JsonText): void {
    const { success, output } = v.safeParse(StatusResult, value)
    const decoder = this.#work?.decoder
    if (!success) this.#unparsed('command-reply')
    else if (type === 'result/cancel') {
      // The request that was cancelled is gone and has not reported its end. An earlier turn may have reported it.
      const earlier = this.#over.has(output.prompt_id ?? '')
      if (output.status === 'noop' && decoder?.cancelAsked && !earlier) decoder.finish('aborted')
      this.#ended()
    } else if (!this.#queries.answer(type, output, line) && output.status === 'error' && decoder) {
      const text = output.message ?? 'The agent says that it is not well.'
      decoder.emit({ type: 'notice', severity: 'warning', code: 'agent-unhealthy', text })
    }
  }

  #notice(value: Record<string, unknown>, line: JsonText): void {
    const { event, ext } = noticeOf(value, line)
    this.#ports.emit({ turn: null, ...event, ...(ext && { ext }) })
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
    this.#over.delete(where.prompt)
    this.#work = { decoder, where }
    const wished = start.options.systemPrompt
    const system = wished === this.#system && !start.history ? undefined : wished
    // A compaction may summarise the instruction away, and a command has no room for it: the next prompt says it (again).
    if (start.task === 'compact' || forgets(start)) this.#system = undefined
    else if (wished !== undefined && (start.history || !start.invocation)) this.#system = wished
    if (!this.open) {
      this.#system = undefined
      this.#start('end')
    }
    this.#ports.send(requestLine(start, where, system, (loss) => decoder.report(loss)))
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
    this.#ports.open({ kind: 'process', stdin, args: agentArguments(process?.args ?? [], options.output) })
  }

  /** The turn has its end. */
  #ended(): void {
    const work = this.#work
    if (!work?.decoder.ended) return
    this.#end(work.where.prompt)
    this.#late = true
    this.#asks.clear()
    this.#work = undefined
  }

  #unparsed(item: Item): void {
    this.#work?.decoder.report({ kind: 'unparsed', item, why: 'unknown', count: 1 })
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

/** True for a command that leaves nothing of the conversation for sure. */
function forgets({ invocation }: CommandOf<'turn-start'>): boolean {
  return invocation?.kind === 'slash' && ['clear', 'compress'].includes(invocation.path.join(' '))
}

/** A chunk that says nothing but that it is the last. */
function isLastChunk(value: Record<string, unknown>): boolean {
  const choices = value['choices']
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isRecord(choice) && typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== 'tool_calls'
}
