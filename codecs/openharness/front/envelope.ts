import { dropped, isDropped, type Report } from '../../../src/codec-kit/index.ts'
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
export function reportUnshown({ messages, tools }: TurnView, report: Report): void {
  const lost = (loss: Loss, all: readonly unknown[]): void => {
    if (all.length > 0) report({ ...loss, count: all.length })
  }
  const thoughts = messages.filter(({ reasoning }) => reasoning !== '')
  lost(dropped('reasoning-delta'), thoughts)
  // Nested text is reported by the engine, as of every answer in one piece.
  const nested = messages.filter(({ lane, text }) => lane !== undefined && text === '')
  lost(dropped('message-end', 'lane'), nested)
  for (const field of ['kind', 'title'] as const) {
    const named = tools.filter((tool) => tool[field] !== undefined)
    lost(dropped(`tool.${field}`), named)
  }
  const called = tools.filter((tool) => !isDropped(tool))
  lost(dropped('tool-call'), called)
}

/** The gateway's extension of an answer: its turn, cost and losses. */
export function turnJson(
  view: TurnView,
  losses: readonly Loss[],
  end: TurnEnd | undefined,
  replayed: boolean,
): JsonText {
  const notices = view.notices.map(({ severity, code, text, lane }) => ({ severity, code, text, lane }))
  return object({
    turn: quote(view.turn),
    session: quote(view.session),
    agent: quote(view.agent),
    replayed: replayed ? 'true' : undefined,
    stop: quote(end?.stop),
    summary: quote(end?.summary),
    continuation: end?.continuation === undefined ? undefined : object({ continuation_token: quote(end.continuation) }),
    usage: view.usage && usageJson(view.usage, view.usageEstimated),
    notices: notices.length === 0 ? undefined : JSON.stringify(notices),
    loss: losses.length === 0 ? undefined : JSON.stringify(losses),
  })
}
