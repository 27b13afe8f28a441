import { invented } from '../../../src/codec-kit/index.ts'
import {
  type JsonText,
  type Loss,
  type Members,
  type MessagesReply,
  type ModelInfo,
  type ModelsReply,
  object,
  parseObject,
  quote,
  type StateReply,
  type Usage,
} from '../../../src/model/index.ts'
import { writeContent } from '../content.ts'
import { numberJson, timeText } from '../wire.ts'

/** The placeholder in a reply for a provider that the gateway does not know. */
export const PROVIDER = 'turnpike'

/** The facts that a reply is made from. */
export interface ReplyContext {
  /** Defaults of this client: its own settings. */
  provider: string
  model: string
  report(loss: Loss): void
}

/** The `data` of a client's query, from the answer's data. */
export type ReplyWriter = (data: JsonText | undefined, context: ReplyContext) => JsonText

function read<T>(data: JsonText | undefined): Partial<T> {
  return (parseObject(data ?? '') ?? {}) as Partial<T>
}

/** `get_state`. */
export const writeState: ReplyWriter = (data, { provider, model, report }) => {
  const state = read<StateReply>(data)
  const invent = (field: string): void => report(invented('query.state', field))
  if (state.cwd === undefined) invent('cwd')
  if (state.usage?.costUsd === undefined) invent('usage')
  return object({
    provider: quote(state.provider ?? provider),
    model: quote(state.model ?? model),
    cwd: quote(state.cwd ?? ''),
    message_count: numberJson(state.messageCount ?? 0),
    busy: String(state.busy === true),
    usage: object(usageMembers(state.usage ?? {})),
  })
}

/** `get_messages`. */
export const writeMessages: ReplyWriter = (data, { report }) => {
  const messages = (read<MessagesReply>(data).messages ?? []).map((message) => {
    if (message.at === undefined) report(invented('query.messages', 'time'))
    const content = writeContent(message.parts, report)
    return `{"role":${quote(message.role)},"content":${content},"time":"${timeText(message.at)}"}`
  })
  return `{"messages":[${messages.join(',')}]}`
}

/**
 * `get_models`. If the agent has listed none, the client's own model is listed; without a provider from the agent it is
 * `turnpike`.
 */
export const writeModels: ReplyWriter = (data, { model: chosen, report }) => {
  const known = read<ModelsReply>(data).models ?? []
  const told = known.length === 0 && chosen !== '' ? [{ id: chosen }] : known
  const models = told.map((model: ModelInfo) => {
    if (model.contextWindow === undefined || model.maxOutput === undefined || model.reasoning === undefined) {
      report(invented('query.models'))
    }
    return object({
      id: quote(model.id),
      provider: quote(model.provider ?? PROVIDER),
      context_window: numberJson(model.contextWindow ?? 0),
      max_output: numberJson(model.maxOutput ?? 0),
      reasoning: String(model.reasoning === true),
    })
  })
  return `{"models":[${models.join(',')}]}`
}

/** The lines that `--list-models` prints. */
export function modelTable(data: JsonText | undefined): string[] {
  const row = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(WIDTHS[at]!))
      .join('')
      .trimEnd()
  const rows = (read<ModelsReply>(data).models ?? []).map((model) =>
    row([
      model.provider ?? PROVIDER,
      model.id,
      String(model.contextWindow ?? '-'),
      String(model.maxOutput ?? '-'),
      model.reasoning === true ? 'yes' : '',
    ]),
  )
  return [row(['provider', 'model id', 'context', 'max-out', 'reasoning']), ...rows]
}

const WIDTHS = [12, 32, 10, 10, 10]

/** The members of a usage object; what is unknown is 0, because the wire's readers demand numbers. */
export function usageMembers({ input, output, cacheRead, cacheWrite, costUsd, reasoning }: Usage): Members {
  return {
    input: numberJson(input ?? 0),
    output: numberJson(output ?? 0),
    cache_read: numberJson(cacheRead ?? 0),
    cache_write: numberJson(cacheWrite ?? 0),
    cost_usd: numberJson(costUsd ?? 0),
    reasoning: reasoning === undefined ? undefined : numberJson(reasoning),
  }
}
