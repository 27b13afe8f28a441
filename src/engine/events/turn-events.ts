import {
  cleanJson,
  type Ext,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  type TurnEnd,
  type TurnEvent,
} from '../../model/index.ts'

/** The end of a turn that failed for this reason. */
export function failedTurn(turn: Id, why: Fault): TurnEnd {
  return { type: 'turn-end', turn, outcome: 'failed', stop: 'error', fault: why }
}

/** The end of a turn that somebody cancelled. */
export function cancelledTurn(turn: Id): TurnEnd {
  const why = fault('cancelled', 'The turn was cancelled.')
  return { type: 'turn-end', turn, outcome: 'cancelled', stop: 'aborted', fault: why }
}

/** The engine took a turn, for this client's session and under this client's request id. `ext` is what its answers repeat. */
export function acceptedTurn(
  turn: Id,
  how: 'new' | 'joined' | 'replayed',
  session: string,
  request: string | undefined,
  ext?: Ext,
): TurnEvent {
  return { type: 'turn-accepted', turn, how, session, ...(request !== undefined && { request }), ...(ext && { ext }) }
}

type Redact = (text: string) => string

/** An event of an agent without secrets in its error messages. */
export function redacted(event: TurnEvent, redact: Redact): TurnEvent {
  if (event.type === 'notice') return { ...event, text: redact(event.text) }
  if (event.type !== 'turn-end' || !event.fault) return event
  const { ext } = event
  return { ...event, fault: redactedFault(event.fault, redact), ...(ext && { ext: redactedExt(ext, redact) }) }
}

/** The same for an event outside of turns. */
export function redactedLink(event: LinkEvent, redact: Redact): LinkEvent {
  if (event.type === 'notice') return { ...event, text: redact(event.text) }
  if (event.type !== 'command-reply' || !event.fault) return event
  const { ext } = event
  return { ...event, fault: redactedFault(event.fault, redact), ...(ext && { ext: redactedExt(ext, redact) }) }
}

function redactedFault({ ext, ...why }: Fault, redact: Redact): Fault {
  return { ...why, message: redact(why.message), ...(ext && { ext: redactedExt(ext, redact) }) }
}

function redactedExt({ protocol, json }: Ext, redact: Redact): Ext {
  return { protocol, json: cleanJson(json, redact) }
}
