import { numberedIds, ToolCalls, TurnEmitter, wordTable } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import type { Id, JsonText, Part, ToolStatus } from '../../../src/model/index.ts'
import type { Item } from '../schema.ts'
import { toolOfItem } from './items.ts'

const PHASES = wordTable<'commentary' | 'final'>({ commentary: 'commentary', final_answer: 'final' })

const STATUSES = wordTable<ToolStatus>({ completed: 'ok', declined: 'denied', interrupted: 'cancelled' })

/** The items of one thread in a turn: of the main thread, or of a sub-agent's, which is a lane. */
export class Lane {
  /** True once any text was passed on. */
  spoke = false
  readonly #out: TurnEmitter
  readonly #tools = new ToolCalls(numberedIds())
  /** The arguments of the calls that run, for the questions about them. */
  readonly #args = new Map<string, JsonText>()
  /** The open message: its newest item, what it holds, and its text so far. */
  #item: string | undefined
  #holds: 'reasoning' | 'text' = 'text'
  #text = ''

  /** `lane` names a sub-agent. */
  constructor(ports: BackPorts, turn: Id, lane?: string) {
    this.#out = new TurnEmitter(ports, turn, lane)
  }

  get out(): TurnEmitter {
    return this.#out
  }

  /** The call that runs under this id of an item, with its arguments. */
  running(item: string): { tool: Id; args: JsonText } | undefined {
    const tool = this.#tools.running(item)
    return tool === undefined ? undefined : { tool, args: this.#args.get(item)! }
  }

  /** `item/agentMessage/delta` and `item/plan/delta`: the hot path. */
  text(item: string, piece: string): void {
    if (piece === '') return
    if (this.#item !== item || this.#holds !== 'text') this.#begin(item, 'text')
    this.#text += piece
    this.spoke = true
    this.#out.text(piece)
  }

  /** A piece of reasoning. The message of the model that follows goes on with the same message. */
  reasoning(item: string, text: string): void {
    if (this.#item !== item || this.#holds !== 'reasoning') this.#begin(item, 'reasoning')
    this.#text += text
    if (text !== '') this.#out.emit({ type: 'reasoning-delta', message: this.#out.message!, text })
  }

  /** `item/started`. False for an item that has no place in the model. */
  started(item: Item, json: JsonText): boolean {
    if (item.type === 'agentMessage' || item.type === 'plan') this.#begin(item.id, 'text', item.phase)
    else if (item.type === 'reasoning') this.#begin(item.id, 'reasoning')
    else if (toolOfItem(item)) this.#call(item, json)
    else return item.type === 'userMessage' || item.type === 'contextCompaction'
    return true
  }

  /** `item/completed`. False for an item that has no place in the model. */
  completed(item: Item, json: JsonText): boolean {
    if (item.type === 'agentMessage' || item.type === 'plan') this.#said(item)
    else if (item.type === 'reasoning') this.#thought(item)
    else if (item.type === 'contextCompaction') {
      this.#out.notice('info', 'compacted', 'The agent has compacted its transcript.')
    } else if (toolOfItem(item)) this.#result(item, json)
    else return item.type === 'userMessage'
    return true
  }

  /** Output of a running call; false when there is no such call. */
  progress(item: string, parts: readonly Part[]): boolean {
    const tool = this.#tools.running(item)
    if (tool !== undefined && parts.length > 0) this.#out.emit({ type: 'tool-progress', tool, parts })
    return tool !== undefined
  }

  /** The agent asks its model again: what came of the answer is taken back. */
  retract(): void {
    const { message } = this.#out
    if (message !== undefined) this.#out.emit({ type: 'message-retract', message, keepText: false })
    this.#close()
  }

  /** The turn ends, or this thread has no further output. */
  end(): void {
    this.#close()
  }

  #begin(item: string, holds: 'reasoning' | 'text', phase?: string | null): void {
    if (this.#item === item && this.#holds === holds) return
    const continues = this.#out.message !== undefined && this.#holds === 'reasoning'
    if (!continues) this.#open(PHASES.get(phase))
    this.#item = item
    this.#holds = holds
    this.#text = ''
  }

  #open(phase: 'commentary' | 'final' | undefined): void {
    this.#close()
    this.#out.openMessage(undefined, phase)
  }

  #close(parts?: readonly Part[], revised?: true): void {
    this.#item = undefined
    this.#holds = 'text'
    this.#out.closeMessage(parts, undefined, revised)
  }

  /** The whole text of a message, which may differ from its pieces. */
  #said({ id, text = '', phase }: Item): void {
    this.#begin(id, 'text', phase)
    const shown = this.#text
    if (text !== '') this.spoke = true
    if (text === shown || text === '') this.#close()
    else this.#close([{ type: 'text', text }], shown === '' ? undefined : true)
  }

  #thought({ id, summary = [], content }: Item): void {
    this.#begin(id, 'reasoning')
    const raw = Array.isArray(content) ? content.filter((text) => typeof text === 'string') : []
    const text = [...summary, ...raw].join('\n\n')
    if (this.#text === '' && text !== '') this.reasoning(id, text)
    this.#out.emit({ type: 'reasoning-end', message: this.#out.message! })
  }

  #call(item: Item, json: JsonText): void {
    this.#close()
    const { name, kind, title, args, executor } = toolOfItem(item)!.call(item, json)
    const tool = this.#tools.call(item.id)
    this.#args.set(item.id, args)
    const about = { ...(kind !== undefined && { kind }), ...(title !== undefined && { title }) }
    this.#out.emit({ type: 'tool-start', tool, name, ...about, executor })
    this.#out.emit({ type: 'tool-call', tool, name, args, executor })
  }

  #result(item: Item, json: JsonText): void {
    if (this.#tools.running(item.id) === undefined) this.#call(item, json)
    const tool = this.#tools.end(item.id)!
    this.#args.delete(item.id)
    const status = STATUSES.get(item.status) ?? 'error'
    this.#out.emit({ type: 'tool-end', tool, status, parts: toolOfItem(item)!.result(item, json) })
  }
}
