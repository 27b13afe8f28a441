import * as v from 'valibot'
import {
  CANCELLED,
  dropped,
  type Ending,
  failedWith,
  type Report,
  TurnEmitter,
  unparsed,
  weakened,
  wellFormed,
  withInstruction,
} from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  faultOfEnd,
  frameText,
} from '../../../src/contract/index.ts'
import { type Command, type CommandOf, fault, type Loss, member, parseObject } from '../../../src/model/index.ts'
import { codeOfText } from '../errors.ts'
import { PROTOCOL } from '../wire.ts'
import { argumentsOf } from './arguments.ts'
import { Items } from './items.ts'
import { Line, TYPES } from './schema.ts'
import { ExecUsage } from './usage.ts'

/** A turn while its process runs. */
interface Run {
  readonly out: TurnEmitter
  readonly items: Items
  /** The thread that it continues. */
  readonly resumed: string | undefined
  thread?: string
  cancelled: boolean
  /** The newest error that is not a warning, until the turn's end says whether it was one. */
  error?: string
}

/** `codex exec --json`: a process for each turn, which continues the thread of the session. */
export class ExecBack implements BackLink {
  readonly #context: BackContext<unknown>
  readonly #ports: BackPorts
  readonly #usage = new ExecUsage()
  #run: Run | undefined

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    // The wire has no cancel: the engine stops the process.
    else if (command.type === 'turn-cancel' && this.#run) this.#run.cancelled = true
  }

  decode(frame: Frame): void {
    const run = this.#run
    const line = frameText(frame)
    if (!run || line.trim() === '') return
    const value = parseObject(line)
    const { success, output } = v.safeParse(Line, value)
    if (success) this.#read(run, output, line)
    else if (value && !TYPES.has(value['type'])) this.#foreign(run, line)
    else run.out.report(unparsed('foreign'))
  }

  decodeEnd(end: CallEnd): void {
    const run = this.#run
    if (!run) return
    if (run.cancelled || end.why === 'cancelled') this.#end(run, CANCELLED)
    else if (run.error !== undefined) this.#end(run, failedWith(fault(codeOfText(run.error), run.error)))
    else if (run.resumed !== undefined && run.thread === undefined && end.why === 'closed' && end.exitCode !== 0) {
      const text = 'The agent cannot go on with this session.'
      this.#end(run, failedWith(fault('session-not-found', text, { retry: 'fresh-session' })))
    } else this.#end(run, failedWith(faultOfEnd(end)))
  }

  #start(start: CommandOf<'turn-start'>): void {
    const out = new TurnEmitter(this.#ports, start.turn)
    const resumed = start.session?.bound
    this.#run = { out, items: new Items(out), resumed, cancelled: false }
    if (start.ext && start.ext.protocol !== PROTOCOL) out.report(dropped('ext', start.ext.protocol))
    const args = argumentsOf(this.#context.process?.args ?? [], start.options, resumed)
    this.#ports.open({ kind: 'process', args, stdin: 'end' })
    const report = (loss: Loss): void => out.report(loss)
    this.#ports.send(wellFormed(promptOf(start, report), report))
  }

  #read(run: Run, line: v.InferOutput<typeof Line>, raw: string): void {
    const { out } = run
    switch (line.type) {
      case 'thread.started':
        run.thread = line.thread_id
        this.#ports.emit({ turn: null, type: 'session-bound', agentSession: line.thread_id })
        return
      case 'turn.started':
        out.started()
        return
      case 'turn.completed':
        this.#completed(run, line.usage)
        return
      case 'turn.failed': {
        const message = line.error?.message ?? run.error ?? 'The agent gave no reason.'
        this.#end(run, failedWith(fault(codeOfText(message), message)))
        return
      }
      case 'error':
        // One that the agent overcomes is followed by its next try.
        if (run.error !== undefined) out.notice('warning', 'retrying', run.error)
        run.error = line.message
        return
      default:
        if (!run.items.read(line.type, line.item, member(raw, 'item')!)) this.#foreign(run, raw)
    }
  }

  #completed(run: Run, usage: unknown): void {
    const { out, items } = run
    if (!items.spoke) out.notice('info', 'empty-answer', 'The agent ended the turn without any text.')
    if (run.error !== undefined) out.notice('warning', 'retrying', run.error)
    const counted = this.#usage.read(usage, run.thread ?? '', run.resumed !== undefined, (loss) => out.report(loss))
    if (counted) out.emit({ type: 'usage', scope: 'session', usage: counted.session })
    if (counted?.turn) out.emit({ type: 'usage', scope: 'turn', usage: counted.turn })
    this.#end(run, { outcome: 'completed', stop: 'end' })
  }

  #end(run: Run, end: Ending): void {
    this.#run = undefined
    if (end.outcome !== 'completed') this.#usage.uncounted()
    run.out.closeMessage()
    run.out.emit({ type: 'turn-end', ...(run.cancelled ? CANCELLED : end) })
  }

  #foreign({ out }: Run, frame: string): void {
    out.emit({ type: 'foreign', protocol: PROTOCOL, frame })
  }
}

/** The prompt as text; `report` gets what it cannot hold. */
function promptOf({ input, options }: CommandOf<'turn-start'>, report: Report): string {
  const texts = input.flatMap((part) => {
    if (part.type === 'text') return part.text
    if (part.type !== 'data') {
      report(dropped(`part.${part.type}`))
      return []
    }
    report(weakened('part.data'))
    return part.json
  })
  const text = texts.join('\n')
  if (options.systemPrompt === undefined) return text
  report(weakened('option.systemPrompt'))
  return withInstruction(options.systemPrompt, text)
}
