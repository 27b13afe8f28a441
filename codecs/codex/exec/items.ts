import { numberedIds, ToolCalls, type TurnEmitter } from '../../../src/codec-kit/index.ts'
import { type JsonText, member, object, type Part, parse, type ToolStatus } from '../../../src/model/index.ts'
import { blockParts, planJson } from '../blocks.ts'
import type { Item } from './schema.ts'

/** An item that is a call of a tool: its name, its kind, the members that are its arguments, and those of its result. */
type Tool = readonly [name: string, kind: string, args: readonly string[], result: readonly string[]]

const TOOLS: Readonly<Record<string, Tool>> = {
  command_execution: ['shell', 'execute', ['command'], ['aggregated_output']],
  file_change: ['apply_patch', 'edit', ['changes'], []],
  web_search: ['web_search', 'search', ['query', 'action'], []],
  mcp_tool_call: ['', 'other', ['arguments'], ['result', 'error']],
  collab_tool_call: ['', 'other', ['prompt', 'receiver_thread_ids'], ['agents_states']],
}

const STATUSES: ReadonlyMap<unknown, ToolStatus> = new Map([
  [undefined, 'ok'],
  ['completed', 'ok'],
  ['declined', 'denied'],
])

/** The items of one turn. */
export class Items {
  /** True once any text was passed on. */
  spoke = false
  readonly #out: TurnEmitter
  readonly #tools = new ToolCalls(numberedIds())

  constructor(out: TurnEmitter) {
    this.#out = out
  }

  /** A line about an item; `json` is its raw text. False for an item that has no place in the model. */
  read(what: string, item: Item, json: JsonText): boolean {
    const { id, type } = item
    const completed = what === 'item.completed'
    const text = completed ? (item.text ?? '') : ''
    if (type === 'agent_message') this.#said(text)
    else if (type === 'reasoning') this.#thought(text)
    else if (type === 'todo_list') this.#plan(item.items ?? [])
    else if (type === 'error') this.#out.notice('warning', 'agent-warning', item.message ?? '')
    else if (!Object.hasOwn(TOOLS, type)) return false
    else this.#tool(TOOLS[type]!, completed, { id, json, item })
    return true
  }

  #said(text: string): void {
    if (text === '') return
    if (this.#out.message === undefined) this.#out.openMessage()
    this.#out.text(text)
    this.#out.closeMessage()
    this.spoke = true
  }

  /** The message that follows goes on with the same message. */
  #thought(text: string): void {
    if (text === '') return
    const message = this.#out.message ?? this.#out.openMessage()
    this.#out.emit({ type: 'reasoning-delta', message, text })
  }

  #plan(items: NonNullable<Item['items']>): void {
    const steps = items.map(({ text, completed }) => ({ content: text, status: completed ? 'completed' : 'pending' }))
    this.#out.emit({ type: 'plan', json: planJson(steps) })
  }

  #tool(tool: Tool, completed: boolean, { id, json, item }: { id: string; json: JsonText; item: Item }): void {
    const known = this.#tools.running(id)
    if (known === undefined) this.#call(tool, id, json, item)
    if (!completed) return
    const status = STATUSES.get(item.status) ?? 'error'
    this.#out.emit({ type: 'tool-end', tool: this.#tools.end(id)!, status, parts: resultParts(tool[3], json) })
  }

  #call([own, kind, keys]: Tool, id: string, json: JsonText, item: Item): void {
    this.#out.closeMessage()
    const server = item['server'] === undefined ? '' : `mcp__${item['server']}__`
    const name = own === '' ? `${server}${item['tool']}` : own
    const call = { tool: this.#tools.call(id), name, executor: 'agent' } as const
    const args = own === '' && server !== '' ? member(json, 'arguments') : undefined
    this.#out.emit({ type: 'tool-start', ...call, kind })
    this.#out.emit({ type: 'tool-call', ...call, args: args ?? object(keys.map((key) => [key, member(json, key)])) })
  }
}

/** The members that are the result: a text, or the blocks of an MCP tool, or JSON. */
function resultParts(keys: readonly string[], json: JsonText): Part[] {
  return keys.flatMap((key): Part[] => {
    const raw = member(json, key)
    const value = parse(raw ?? 'null')
    if (raw === undefined || value === null || value === '') return []
    if (typeof value === 'string') return [{ type: 'text', text: value }]
    const blocks = blockParts(member(raw, 'content'))
    return blocks.length === 0 ? [{ type: 'data', json: raw }] : blocks
  })
}
