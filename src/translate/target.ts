import { type Command, type LinkEvent, type Loss, replyData, type TurnEvent, type TurnStart } from '../model/index.ts'
import type { Output } from './output.ts'

/** Every command that does not start a turn. */
export type Control = Exclude<Command, TurnStart>

/** Where one turn is told. */
export interface TurnTarget {
  event(event: TurnEvent): void
  /** What was lost before it came here. */
  loss(loss: Loss): void
}

/** What is made of the canonical model: another protocol's wire, or the model itself. */
export interface Target {
  /** A turn begins; undefined when the other side cannot be told (a fault says why). */
  start(command: Command & TurnStart): TurnTarget | undefined
  send(command: Control): void
  link(event: LinkEvent): void
  /** Nothing more comes. */
  end(): void
}

/** The canonical model as JSON lines: an agent's events, or with `client` a client's commands. */
export function modelTarget(output: Output, client: boolean): Target {
  const command = (value: Command): void => {
    if (client) output.line(value)
  }
  const event = (value: TurnEvent | LinkEvent): void => {
    // That a gateway took the turn is nothing that was said on the wire.
    if (!client && value.type !== 'turn-accepted') output.line(value)
  }
  return {
    start(start) {
      command(start)
      return { event, loss: (loss) => output.loss(loss) }
    },
    send: command,
    link: event,
    end() {},
  }
}

/** How a gateway answers a command that the agent has no word for. */
export function insteadOf(command: Command): { data?: string } {
  return command.type === 'query' && command.what === 'health' ? { data: replyData({ ok: true }) } : {}
}
