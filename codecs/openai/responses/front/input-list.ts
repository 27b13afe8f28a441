import { callIdOf } from '../../../../src/codec-kit/index.ts'
import type { FrontContext, FrontLink, FrontPorts, InputFate } from '../../../../src/contract/index.ts'
import {
  type Fault,
  type Id,
  type InputReply,
  type JsonText,
  type LinkEvent,
  member,
  members,
  object,
  parse,
  parseObject,
  quote,
} from '../../../../src/model/index.ts'
import { DeclaredTools } from '../../declared-tools.ts'
import { errorBody, invalidRequest } from '../../errors.ts'
import { partLoss } from '../../part-loss.ts'
import { inputItemId, type ResponseRef, responseOf } from '../ids.ts'
import { ItemWriter } from '../items.ts'
import { readEcho } from './echo.ts'
import { unknownResponse, WHOLE } from './stored.ts'

/** The number of items of a page, and the most that a client may ask for. */
const LIMIT = 20
const MAX_LIMIT = 100

/** The prefixes of the ids of items, by their types. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
}

/** Types of items that say how far they are. */
const HAVE_STATUS: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
])

/** The part of a list that is asked for. */
interface Page {
  limit: number
  /** The id of the item before the first one. */
  after: Id | null
  newestFirst: boolean
}

/** An item with its id. */
interface ListedItem {
  id: Id
  json: JsonText
}

/** A client of `GET /v1/responses/:response/input_items`. */
export class InputFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(): void {
    const page = readPage(this.#context.query)
    const ref = this.#ref
    if ('code' in page) this.#ports.fault(page, 'continues')
    else if (!ref?.stored) this.#ports.fault(unknownResponse(this.#context), 'continues')
    else {
      const { turn, continuation } = ref
      const args = JSON.stringify({ turn, continuation })
      this.#ports.command({ exchange: this.#ports.newId(), type: 'query', what: 'input', args }, WHOLE)
    }
  }

  encode(): void {}

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    const { exchange, data, fault } = event
    if (fault) {
      this.encodeFault(fault, exchange, 'continues')
      return
    }
    const list = this.#list(parse(data!) as InputReply, exchange)
    if (typeof list === 'string') this.#ports.send(list)
    else this.#ports.fault(list, 'continues', exchange)
  }

  encodeFault(found: Fault, _exchange: Id | undefined, _input: InputFate): void {
    this.#ports.send(errorBody(found.code === 'session-not-found' ? unknownResponse(this.#context) : found))
  }

  get #ref(): ResponseRef | undefined {
    return responseOf(this.#context.params!['response']!)
  }

  #list(reply: InputReply, exchange: Id): JsonText | Fault {
    const page = readPage(this.#context.query) as Page
    const writer = new ItemWriter(
      new DeclaredTools(),
      partLoss((loss) => this.#ports.report(loss, exchange)),
    )
    return listJson(listed(itemsOf(reply, this.#ref!, writer), this.#ref!), page)
  }
}

/** The page that a query asks for. */
function readPage(query: string): Page | Fault {
  const given = new URLSearchParams(query)
  const limit = Number(given.get('limit') ?? LIMIT)
  const order = given.get('order') ?? 'desc'
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT)) {
    return invalidRequest(`limit must be a whole number from 1 to ${MAX_LIMIT}.`, 'limit')
  }
  if (order !== 'asc' && order !== 'desc') return invalidRequest('order must be "asc" or "desc".', 'order')
  return { limit, after: given.get('after'), newestFirst: order === 'desc' }
}

/** The client's input as items, the oldest first. */
function itemsOf(
  { messages, results, ext }: InputReply,
  { continuation }: ResponseRef,
  writer: ItemWriter,
): JsonText[] {
  const { input } = readEcho(ext)
  if (continuation === undefined) return [...input, ...messages.flatMap((message) => writer.message(message))]
  const outputs = (results ?? []).map(({ at, ...said }) => {
    const tool = callIdOf('call_', { continuation, at })
    return [tool, writer.result({ type: 'tool-reply', tool, ...said })] as const
  })
  return input.length === 0 ? outputs.map(([, item]) => item) : answered(input, new Map(outputs))
}

/** The items of a request that brought results, with those that the record has. */
function answered(input: readonly JsonText[], outputs: ReadonlyMap<Id, JsonText>): JsonText[] {
  return input.map((item) => {
    const output = outputs.get(String((parse(item) as { call_id?: unknown }).call_id))
    return output === undefined ? item : object([...members(item), ['output', member(output, 'output')]])
  })
}

/** Items with what each has in a list: an id (its own, if it has come with one), its type, a status, content in parts. */
function listed(items: readonly JsonText[], ref: ResponseRef): ListedItem[] {
  return items.map((json, at) => {
    const { id, type = 'message', status } = parseObject(json) as { id?: unknown; type?: string; status?: unknown }
    const own = typeof id === 'string' ? id : inputItemId(PREFIXES[type] ?? 'item', ref, at)
    const done = status === undefined && HAVE_STATUS.has(type)
    const head = { id: quote(own), type: quote(type), ...(done && { status: '"completed"' }) }
    const given = members(json).map(([key, value]) => [key, key === 'content' ? contentOf(value) : value] as const)
    return { id: own, json: object(new Map([...Object.entries(head), ...given, ...Object.entries(head)])) }
  })
}

/** The content of a message: one that came as a text is a list with that. */
function contentOf(content: JsonText): JsonText {
  return content.startsWith('"') ? `[{"type":"input_text","text":${content}}]` : content
}

function listJson(items: readonly ListedItem[], { limit, after, newestFirst }: Page): JsonText | Fault {
  const ordered = newestFirst ? items.toReversed() : items
  const before = ordered.findIndex(({ id }) => id === after)
  if (after !== null && before < 0) return invalidRequest(`There is no item "${after}" in the list.`, 'after')
  const rest = ordered.slice(before + 1)
  const shown = rest.slice(0, limit)
  return object([
    ['object', '"list"'],
    ['data', `[${shown.map(({ json }) => json).join(',')}]`],
    ['first_id', idJson(shown[0])],
    ['last_id', idJson(shown.at(-1))],
    ['has_more', String(rest.length > limit)],
  ])
}

function idJson(item: ListedItem | undefined): JsonText {
  return item ? quote(item.id) : 'null'
}
