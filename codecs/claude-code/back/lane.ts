import { numberedIds, ToolCalls, TurnEmitter } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import type { Executor, Id, JsonText, Part, ToolStatus } from '../../../src/model/index.ts'

/** The kinds of Claude Code's tools, by their names. */
const KINDS: Readonly<Record<string, string>> = {
  Bash: 'execute',
  Edit: 'edit',
  Glob: 'search',
  Grep: 'search',
  NotebookEdit: 'edit',
  Read: 'read',
  WebFetch: 'fetch',
  WebSearch: 'search',
  Write: 'edit',
}

/** A call whose arguments stream. */
interface Draft {
  wireId: string
  name: string
  executor: Executor
  args: string
}

/** The messages and calls of the main agent in a turn, or of one sub-agent, which is a lane. */
export class Lane {
  readonly out: TurnEmitter
  /** True once any text was passed on that is not taken back. */
  spoke = false
  /** The message that streams, and the types of its open blocks. */
  streaming: string | undefined
  readonly blocks = new Map<number, string>()
  readonly #tools = new ToolCalls(numberedIds())
  /** Calls whose arguments stream, by their block. */
  readonly #drafts = new Map<number, Draft>()
  /** The seal of the reasoning that streams. */
  #seal = ''

  /** `lane` names the call of the sub-agent. */
  constructor(ports: BackPorts, turn: Id, lane?: string) {
    this.out = new TurnEmitter(ports, turn, lane)
  }

  /** A piece of text: the hot path. */
  text(text: string): void {
    if (text === '') return
    this.spoke = true
    this.out.text(text)
  }

  thinking(text: string): void {
    const message = this.#message()
    if (text !== '') this.out.emit({ type: 'reasoning-delta', message, text })
  }

  /** A part of the seal of the reasoning that streams. */
  signature(text: string): void {
    this.#seal += text
  }

  /** A block of reasoning is complete. */
  thought(): void {
    const seal = this.#seal === '' ? {} : { seal: { provider: 'anthropic', data: this.#seal } }
    this.#seal = ''
    this.out.emit({ type: 'reasoning-end', message: this.#message(), ...seal })
  }

  /** A call begins; its arguments follow in pieces. */
  draft(index: number, wireId: string, name: string, executor: Executor): void {
    this.out.closeMessage()
    const tool = this.#tools.start(wireId)
    this.#drafts.set(index, { wireId, name, executor, args: '' })
    this.out.emit({ type: 'tool-start', tool, name, ...kindOf(name), executor })
  }

  /** A piece of arguments; false when no call streams in this block. */
  args(index: number, text: string): boolean {
    const draft = this.#drafts.get(index)
    if (!draft) return false
    draft.args += text
    if (text !== '') this.out.emit({ type: 'tool-args-delta', tool: this.#tools.drafting(draft.wireId)!, text })
    return true
  }

  /** A block of the stream ends: its call is complete even if no line confirms it. */
  blockStop(index: number): void {
    const draft = this.#drafts.get(index)
    this.#drafts.delete(index)
    if (draft && this.#tools.drafting(draft.wireId) !== undefined) {
      this.call(draft.wireId, draft.name, draft.args === '' ? '{}' : draft.args, draft.executor)
    }
  }

  /** A whole call. */
  call(wireId: string, name: string, args: JsonText, executor: Executor): void {
    this.out.closeMessage()
    const drafted = this.#tools.drafting(wireId) !== undefined
    const tool = this.#tools.call(wireId)
    if (!drafted) this.out.emit({ type: 'tool-start', tool, name, ...kindOf(name), executor })
    this.out.emit({ type: 'tool-call', tool, name, args, executor })
  }

  /** The call that runs under this id. */
  running(wireId: string): Id | undefined {
    return this.#tools.running(wireId)
  }

  /** The result of a call; false when there is no such call. */
  result(wireId: string, status: ToolStatus, parts: readonly Part[]): boolean {
    const tool = this.#tools.end(wireId)
    if (tool !== undefined) this.out.emit({ type: 'tool-end', tool, status, parts })
    return tool !== undefined
  }

  /** The model is asked again: what came of its answer is taken back. */
  retract(): void {
    const { message } = this.out
    this.#drafts.clear()
    if (message === undefined) return
    this.spoke = false
    this.out.emit({ type: 'message-retract', message, keepText: false })
    this.out.closeMessage()
  }

  #message(): Id {
    return this.out.message ?? this.out.openMessage()
  }
}

function kindOf(name: string): { kind?: string } {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined
  return kind === undefined ? {} : { kind }
}
