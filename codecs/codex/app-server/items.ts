import * as v from 'valibot'
import { scalarText } from '../../../src/codec-kit/index.ts'
import { type Executor, type JsonText, member, object, type Part } from '../../../src/model/index.ts'
import { blockParts } from '../blocks.ts'
import { Changes, type Item } from '../schema.ts'

/** The call that an item stands for. */
export interface CallOfItem {
  name: string
  kind?: string
  title?: string
  args: JsonText
  executor: Executor
}

/** Reads an item of one type as a call of a tool, and its result. `json` is its raw text. */
interface ItemTool {
  call(item: Item, json: JsonText): CallOfItem
  result(item: Item, json: JsonText): Part[]
}

const own = (name: string, kind: string, keys: readonly string[], title: string): ItemTool['call'] => {
  return (item, json) => ({
    name,
    kind,
    ...titleOf(item[title]),
    args: object(keys.map((key) => [key, member(json, key)])),
    executor: 'agent',
  })
}

const titleOf = (text: unknown): { title?: string } => (typeof text === 'string' && text !== '' ? { title: text } : {})
const nothing = (): Part[] => []

/** The items that are calls of tools, by their type. */
const TOOLS: Readonly<Record<string, ItemTool>> = {
  commandExecution: {
    call: own('shell', 'execute', ['command', 'cwd'], 'command'),
    result: ({ aggregatedOutput: text }) => textParts(text),
  },
  fileChange: {
    call: own('apply_patch', 'edit', ['changes'], ''),
    result: ({ changes }) => changeParts(changes),
  },
  webSearch: { call: own('web_search', 'search', ['query', 'action'], 'query'), result: nothing },
  imageView: { call: own('view_image', 'read', ['path'], 'path'), result: nothing },
  imageGeneration: {
    call: own('image_generation', 'other', ['revisedPrompt'], 'revisedPrompt'),
    result: (_, json) => dataParts(json, 'result'),
  },
  mcpToolCall: {
    call: ({ server, tool }, json) => ({
      name: `mcp__${server}__${tool}`,
      kind: 'other',
      args: member(json, 'arguments') ?? '{}',
      executor: 'agent',
    }),
    result: ({ error }, json) =>
      error == null ? blockParts(member(given(json, 'result') ?? '{}', 'content')) : dataParts(json, 'error'),
  },
  dynamicToolCall: {
    call: ({ tool }, json) => ({ name: scalarText(tool), args: member(json, 'arguments') ?? '{}', executor: 'client' }),
    result: (_, json) => blockParts(member(json, 'contentItems')),
  },
  collabAgentToolCall: {
    call: ({ tool }, json) => ({
      name: scalarText(tool),
      kind: 'other',
      args: object(['prompt', 'receiverThreadIds', 'model'].map((key) => [key, given(json, key)])),
      executor: 'agent',
    }),
    result: (_, json) => dataParts(json, 'agentsStates'),
  },
}

/** The reader of an item that is a call of a tool; undefined for other items. */
export function toolOfItem({ type }: Item): ItemTool | undefined {
  return Object.hasOwn(TOOLS, type) ? TOOLS[type] : undefined
}

/**
 * The changes of files as parts: a new file as a diff, every other change as its unified diff, which does not hold the
 * whole file.
 */
export function changeParts(changes: unknown): Part[] {
  const { success, output } = v.safeParse(Changes, changes)
  if (!success) return []
  return output.map(({ path, kind, diff }): Part => {
    if (kind?.type === 'add') return { type: 'diff', path, before: null, after: diff }
    return { type: 'text', text: `${path}\n${diff}` }
  })
}

function textParts(text: unknown): Part[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
}

function dataParts(json: JsonText, key: string): Part[] {
  const data = given(json, key)
  return data === undefined ? [] : [{ type: 'data', json: data }]
}

function given(json: JsonText, key: string): JsonText | undefined {
  const value = member(json, key)
  return value === 'null' ? undefined : value
}
