import { isDropped, type Report } from '../../../src/codec-kit/index.ts'
import {
  type Fault,
  type JsonText,
  type Loss,
  type Members,
  object,
  quote,
  type TurnEnd,
  type TurnView,
} from '../../../src/model/index.ts'
import { errorJson } from '../errors.ts'
import { usageJson } from '../usage.ts'
import { at, ENVELOPE, oneLine, otherMembers, RESPONSE, TURN_EXTENSION, unlessEmpty, VERSION } from '../wire.ts'
import type { Ids } from './request.ts'

/** Members that an answer of the gateway has itself, or that have no meaning in one. */
const TOP = new Set([...ENVELOPE, 'request'])

/** The parts of an answer; every text is raw JSON. */
export interface AnswerParts {
  ids: Ids
  /** Members `supported_capabilities` and `capability_denials`, where the shell asked or the engine told. */
  capabilities: Members
  latencyMs?: number
  directives: readonly JsonText[]
  fault?: Fault
  /** Our own extension. */
  turn?: JsonText
  /** The engine's members that the model has no place for, in the shape of an envelope. */
  own?: JsonText
}

/** One response envelope (section 5.2) on one line, valid by the schema whatever the turn held. */
export function envelope(parts: AnswerParts): string {
  const { ids, fault, own } = parts
  const response = at(own, 'response')
  const extensions = object(
    { [TURN_EXTENSION]: parts.turn },
    otherMembers(at(response, 'extensions'), new Set([TURN_EXTENSION])),
  )
  const json = object(
    {
      protocol_version: quote(VERSION),
      request_id: quote(ids.request),
      correlation_id: quote(ids.correlation),
      supported_protocol_versions: `[${quote(VERSION)}]`,
    },
    parts.capabilities,
    {
      response: object(
        {
          status: fault ? '"error"' : '"success"',
          engine_latency_ms: parts.latencyMs === undefined ? undefined : String(parts.latencyMs),
          action_directives: fault && parts.directives.length === 0 ? undefined : `[${parts.directives.join(',')}]`,
          error: fault && errorJson(fault),
          extensions: unlessEmpty(extensions),
        },
        otherMembers(response, RESPONSE),
      ),
    },
    otherMembers(own, TOP),
  )
  return oneLine(json)
}

/** Reports the items that only the streaming profile shows as losses of a whole answer. */
export function reportUnshown(view: TurnView, report: Report): void {
  const reasoned = view.messages.filter((message) => message.reasoning !== '').length
  if (reasoned > 0) report({ kind: 'dropped', item: 'reasoning-delta', why: 'no-place', count: reasoned })
  // Nested text is reported by the engine, as of every answer in one piece.
  const nested = view.messages.filter(({ lane, text }) => lane !== undefined && text === '').length
  if (nested > 0) report({ kind: 'dropped', item: 'message-end', field: 'lane', why: 'no-place', count: nested })
  for (const field of ['kind', 'title'] as const) {
    const count = view.tools.filter((tool) => tool[field] !== undefined).length
    if (count > 0) report({ kind: 'dropped', item: `tool.${field}`, why: 'no-place', count })
  }
  const tools = view.tools.filter((tool) => !isDropped(tool)).length
  if (tools > 0) report({ kind: 'dropped', item: 'tool-call', why: 'no-place', count: tools })
}

/** The gateway's extension of an answer: its turn, cost and losses. */
export function turnJson(
  view: TurnView,
  losses: readonly Loss[],
  end: TurnEnd | undefined,
  replayed: boolean,
): JsonText {
  const notices = view.notices.map(({ severity, code, text: said, lane }) =>
    JSON.stringify({ severity, code, text: said, lane }),
  )
  return object({
    turn: quote(view.turn),
    session: quote(view.session),
    agent: quote(view.agent),
    replayed: replayed ? 'true' : undefined,
    stop: quote(end?.stop),
    summary: quote(end?.summary),
    continuation: end?.continuation === undefined ? undefined : object({ continuation_token: quote(end.continuation) }),
    usage: view.usage && usageJson(view.usage, view.usageEstimated),
    notices: notices.length === 0 ? undefined : `[${notices.join(',')}]`,
    loss: losses.length === 0 ? undefined : `[${losses.map((loss) => JSON.stringify(loss)).join(',')}]`,
  })
}
