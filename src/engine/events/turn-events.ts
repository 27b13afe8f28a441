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

/** The settings of an agent that its error messages depend on. */
export interface ErrorTexts {
  /** Removes the secrets of the configuration. */
  redact(text: string): string
  /** The command that logs the agent in; absent where none is known. */
  readonly login?: string
}

/** An event of an agent whose error messages have no secrets, and end with the command to type where there is one. */
export function presented(event: TurnEvent, texts: ErrorTexts): TurnEvent {
  if (event.type === 'notice') return { ...event, text: texts.redact(event.text) }
  if (event.type !== 'turn-end' || !event.fault) return event
  const { ext } = event
  return { ...event, fault: presentedFault(event.fault, texts), ...(ext && { ext: redactedExt(ext, texts) }) }
}

/** The same for an event outside of turns. */
export function presentedLink(event: LinkEvent, texts: ErrorTexts): LinkEvent {
  if (event.type === 'notice') return { ...event, text: texts.redact(event.text) }
  if (event.type !== 'command-reply' || !event.fault) return event
  const { ext } = event
  return { ...event, fault: presentedFault(event.fault, texts), ...(ext && { ext: redactedExt(ext, texts) }) }
}

/** The same for the error itself. */
export function presentedFault({ ext, ...why }: Fault, texts: ErrorTexts): Fault {
  return { ...why, message: messageOf(why, texts), ...(ext && { ext: redactedExt(ext, texts) }) }
}

function messageOf({ code, message }: Fault, { redact, login }: ErrorTexts): string {
  const text = redact(message)
  if (login === undefined || code !== 'provider-auth') return text
  return `${text.replace(/(?<![\s.])[\s.]+$/, '')}; to log in, type: ${login}`
}

function redactedExt({ protocol, json }: Ext, { redact }: ErrorTexts): Ext {
  return { protocol, json: cleanJson(json, redact) }
}
