import * as v from 'valibot'
import { type BodyOf, flag, number, text, wireId } from '../../src/codec-kit/index.ts'
import type { AgentEvent, Loss } from '../../src/model/index.ts'
import {
  ask,
  askFields,
  cited,
  executor,
  ext,
  fault,
  linkFault,
  list,
  loss,
  type MessageSchema,
  maybe,
  type OfType,
  oneOf,
  parts,
  raw,
  record,
  role,
  seal,
  status,
  stop,
  usage,
} from './schema.ts'

type Schemas = {
  readonly [K in AgentEvent['type']]: MessageSchema<
    BodyOf<OfType<AgentEvent, K>, 'type'> & { losses?: readonly Loss[] }
  >
}

/** An event with these members of its own. */
function event<const E extends v.ObjectEntries>(entries: E) {
  return record({ ...entries, lane: maybe(text), ext: maybe(ext) })
}

const step = { step: number }
const delta = event({ message: wireId, text })

/** The members of every event besides `type`, `turn` and `seq`, by its type. */
export const EVENTS: Schemas = {
  'turn-accepted': event({
    how: oneOf(['new', 'joined', 'replayed']),
    session: text,
    request: maybe(text),
    denials: maybe(list(record({ capability: text, code: text }))),
  }),
  'turn-started': event({}),
  'turn-parked': event({ asks: list(ask), continuation: text, deadline: number }),
  'turn-end': event({
    outcome: oneOf(['completed', 'failed', 'cancelled']),
    stop: maybe(stop),
    fault: maybe(fault),
    continuation: maybe(text),
    summary: maybe(text),
    losses: maybe(list(loss)),
  }),
  'step-start': event(step),
  'step-end': event({ ...step, stop }),
  'message-start': event({ message: wireId, role, phase: maybe(oneOf(['commentary', 'final', 'refusal'])) }),
  'text-delta': delta,
  'reasoning-delta': delta,
  'reasoning-end': event({ message: wireId, seal: maybe(seal) }),
  citation: event({ message: wireId, ...cited }),
  'message-end': event({ message: wireId, parts: maybe(parts), revised: maybe(v.literal(true, 'must be true')) }),
  'message-retract': event({ message: wireId, keepText: flag }),
  'tool-start': event({
    tool: wireId,
    message: maybe(text),
    name: text,
    kind: maybe(text),
    title: maybe(text),
    executor,
  }),
  'tool-args-delta': event({ tool: wireId, text }),
  'tool-call': event({ tool: wireId, name: text, args: raw, executor }),
  'tool-progress': event({ tool: wireId, parts }),
  'tool-end': event({ tool: wireId, status, parts }),
  'terminal-output': event({ stream: oneOf(['stdout', 'stderr']), text }),
  directive: event({ action: text, json: raw }),
  plan: event({ json: raw }),
  usage: event({
    scope: oneOf(['call', 'turn', 'session']),
    usage,
    estimated: maybe(v.literal(true, 'must be true')),
  }),
  notice: event({ severity: oneOf(['info', 'warning', 'error']), code: text, text }),
  ask: event(askFields),
  'ask-settled': event({
    ask: text,
    how: oneOf(['answered', 'timeout', 'cancelled']),
    by: maybe(text),
    option: maybe(text),
  }),
  foreign: event({ protocol: text, frame: text }),
  'agent-ready': event({ model: maybe(text), version: maybe(text), json: maybe(raw) }),
  'session-bound': event({ agentSession: text }),
  'session-changed': event({ json: raw }),
  'command-reply': event({
    exchange: text,
    data: maybe(raw),
    fault: maybe(fault),
    more: maybe(v.literal(true, 'must be true')),
  }),
}

/** A failure that no turn owns: no event of the model, but of this wire. */
export const FAULT = record({ exchange: maybe(text), fault: linkFault, losses: maybe(list(loss)) })
