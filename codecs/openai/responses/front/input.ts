import { type ParkedAnswer, type ParkedCall, parkedCallOf } from '../../../../src/codec-kit/index.ts'
import {
  type ClientTool,
  elements,
  type Fault,
  type Id,
  type JsonText,
  type Loss,
  type Part,
  type Role,
} from '../../../../src/model/index.ts'
import { invalidRequest, wrongRequest } from '../../errors.ts'
import { turnOfItem } from '../ids.ts'
import { itemsOf, readItem } from './items.ts'
import type { ReadItem } from './read-item.ts'
import { readTools } from './tools.ts'

/** The `input` of a request, as it was read. */
export interface Input {
  said: readonly { role: Role; parts: readonly Part[] }[]
  /** Answers to approvals of a parked turn, behind the last answer of the model. */
  answers: readonly ParkedAnswer[]
  /** The approvals that were asked for behind it. */
  open: readonly ParkedCall[]
  tools: readonly ClientTool[]
  /** The turn of the last item that was only named. */
  after: Id | undefined
  losses: readonly Loss[]
  /** Items as they came: the system messages at the beginning, what is new after the last answer, and further tools. */
  raw: { system: readonly JsonText[]; latest: readonly JsonText[]; tools: readonly JsonText[] }
}

/** An item with what is said in it; an answer to an approval is no message. */
interface Placed {
  role: Role | 'answer'
  raw: JsonText
}

/** Reads the items of an `input`, raw. What is before an item that the gateway knows is known to it too. */
export function readInput(json: JsonText): Input | Fault {
  const input = {
    said: [] as { role: Role; parts: Part[] }[],
    answers: [] as ParkedAnswer[],
    open: [] as ParkedCall[],
    tools: [] as ClientTool[],
    losses: [] as Loss[],
  }
  const placed: Placed[] = []
  const toolsAsRaw: JsonText[] = []
  const calls = new Set<string>()
  let after: Id | undefined
  for (const [at, raw] of itemsOf(json).entries()) {
    const item = readItem(raw)
    const fault = wrongItem(item, at, calls)
    if (fault) return fault
    if (item.losses) for (const loss of item.losses) input.losses.push(loss)
    switch (item.kind) {
      case 'said':
        input.said.push(item)
        // What came before an answer of the model belongs to the conversation that it is part of.
        if (item.role === 'assistant') Object.assign(input, { answers: [], open: [] })
        placed.push({ role: item.role, raw })
        break
      case 'question':
        input.open.push(item.call)
        break
      case 'answer':
        input.answers.push(item.answer)
        placed.push({ role: 'answer', raw })
        break
      case 'tools': {
        const tools = readTools(item.json, `input[${at}].tools`)
        if ('code' in tools) return tools
        input.tools.push(...tools)
        toolsAsRaw.push(...elements(item.json))
        break
      }
      case 'reference':
        after = turnOfItem(item.id)
        if (after === undefined) return unknownItem(item.id, at)
        Object.assign(input, { answers: [], open: [] })
        // Each request says its system prompt, so an earlier one is not repeated.
        input.said = input.said.filter(({ role }) => role === 'system')
        placed.splice(0, placed.length, ...placed.filter(({ role }) => role === 'system'))
    }
  }
  if (!areOfOne(input))
    return invalidRequest('The answers to approvals must be of one response, with its results.', 'input')
  return { ...input, after, raw: { ...rawOf(placed), tools: toolsAsRaw } }
}

/** True when answers to approvals, and the results with them, are all for one parked turn: a request goes on with one. */
function areOfOne({ answers, said }: Pick<Input, 'answers' | 'said'>): boolean {
  if (answers.length === 0) return true
  const latest = said.slice(said.findLastIndex(({ role }) => role === 'assistant') + 1)
  const results = latest.flatMap(({ parts }) =>
    parts.flatMap((part) => ('tool' in part ? parkedCallOf(part.tool) : [])),
  )
  const parks = [...answers.map(({ call }) => call), ...results].map((call) => call?.continuation)
  return new Set(parks).size === 1
}

/** The items that no message of the turn has. */
function rawOf(placed: readonly Placed[]): Pick<Input['raw'], 'system' | 'latest'> {
  const raws = placed.map(({ raw }) => raw)
  const first = placed.findIndex(({ role }) => role !== 'system')
  const last = placed.findLastIndex(({ role }) => role === 'assistant' || role === 'system')
  return { system: first < 0 ? raws : raws.slice(0, first), latest: raws.slice(last + 1) }
}

/** The reason why an item is refused: it is invalid, or the result of an unknown call. */
function wrongItem(item: ReadItem, at: number, calls: Set<string>): Fault | undefined {
  if (item.kind === 'wrong') {
    return wrongRequest({ param: `input[${at}]${item.member}`, wrong: item.why })
  }
  if (item.kind !== 'said') return undefined
  for (const part of item.parts) {
    if (part.type === 'tool-call') calls.add(part.tool)
    if (part.type !== 'tool-reply' || calls.has(part.tool) || parkedCallOf(part.tool)) continue
    return invalidRequest(`No item before input[${at}] has made its call.`, `input[${at}].call_id`)
  }
  return undefined
}

function unknownItem(id: string, at: number): Fault {
  const why = `There is no item "${id}" here; send the item itself.`
  return { ...invalidRequest(why, `input[${at}].id`), code: 'session-not-found' }
}
