import { type Fault, fault, type Id, type TurnEnd, type TurnEvent } from '../../model/index.ts'

/** The end of a turn that failed for this reason. */
export function failedTurn(turn: Id, why: Fault): TurnEnd {
  return { type: 'turn-end', turn, outcome: 'failed', stop: 'error', fault: why }
}

/** The end of a turn that somebody cancelled. */
export function cancelledTurn(turn: Id): TurnEnd {
  const why = fault('cancelled', 'The turn was cancelled.')
  return { type: 'turn-end', turn, outcome: 'cancelled', stop: 'aborted', fault: why }
}

/** The engine took a turn, for this client's session and under this client's request id. */
export function acceptedTurn(
  turn: Id,
  how: 'new' | 'joined' | 'replayed',
  session: string,
  request: string | undefined,
): TurnEvent {
  return { type: 'turn-accepted', turn, how, session, ...(request !== undefined && { request }) }
}

/** An event of an agent without secrets in its error messages. */
export function redacted(event: TurnEvent, redact: (text: string) => string): TurnEvent {
  if (event.type === 'notice') return { ...event, text: redact(event.text) }
  if (event.type !== 'turn-end' || !event.fault) return event
  const { ext, ...why } = event.fault
  const clean = { ...why, message: redact(why.message), ...(ext && { ext: { ...ext, json: redact(ext.json) } }) }
  return { ...event, fault: clean, ...(event.ext && { ext: { ...event.ext, json: redact(event.ext.json) } }) }
}
