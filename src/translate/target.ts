import { type Command, type LinkEvent, type Loss, replyData, type TurnEvent, type TurnStart } from '../model/index.ts'
import type { Output } from './output.ts'

/** The prompt of a turn whose request was not recorded. */
export const UNKNOWN = '(not recorded)'

/** Every command that does not start a turn. */
export type Control = Exclude<Command, TurnStart>

/** The receiver of one turn. */
export interface TurnTarget {
  event(event: TurnEvent): void
  /** Losses from before this receiver. */
  loss(loss: Loss): void
}

/** The target of a translation: another protocol's wire, or the model itself. */
export interface Target {
  /** Begins a turn; undefined when the other protocol cannot express it (a fault says why). */
  start(command: Command & TurnStart): TurnTarget | undefined
  send(command: Control): void
  link(event: LinkEvent): void
}

/** The canonical model as JSON lines: an agent's events, or with `client` a client's commands. */
export function modelTarget(output: Output, client: boolean): Target {
  const command = (value: Command): void => {
    if (client) output.line(value)
  }
  const event = (value: TurnEvent | LinkEvent): void => {
    // The acceptance of a turn is not a message of the wire.
    if (!client && value.type !== 'turn-accepted') output.line(value)
  }
  return {
    start(start) {
      command(start)
      return { event, loss: (loss) => output.loss(loss) }
    },
    send: command,
    link: event,
  }
}

/** The gateway's answer to a command that the agent's protocol does not have. */
export function insteadOf(command: Command): { data?: string } {
  return command.type === 'query' && command.what === 'health' ? { data: replyData({ ok: true }) } : {}
}
