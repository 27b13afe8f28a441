/** Helpers of this protocol's tests. */

import { codec } from '../../../codecs/zot/index.ts'
import { type CallEnd, frameText } from '../../../src/contract/index.ts'
import type { AgentEvent, TurnEvent } from '../../../src/model/index.ts'
import { type BackDrive, driveBack, driveFront, type FrontDrive, plainTurn } from '../../kit/drive.ts'

export type Line = Record<string, unknown>

/** The lines that a link wrote, parsed. */
export function sentLines(drive: BackDrive | FrontDrive): Line[] {
  return drive.sent.map((frame) => JSON.parse(frameText(frame)) as Line)
}

/** The id of the newest command of this type that the back sent. */
export function sentId(drive: BackDrive, type: string): string {
  return sentLines(drive).findLast((line) => line['type'] === type)!['id'] as string
}

/** A response line. */
export function response(id: string, command: string, more: Line = {}): string {
  return JSON.stringify({ type: 'response', id, command, success: true, ...more })
}

/** Answers the newest command of this type. */
export function answer(drive: BackDrive, command: string, more: Line = {}): void {
  drive.feed(response(sentId(drive, command), command, more))
}

type Context = Parameters<typeof driveBack>[1]

/** A back link whose agent has answered hello. */
export function readyBack(context: Context = {}): BackDrive {
  const drive = driveBack(codec, context)
  drive.link.open!()
  answer(drive, 'hello', { data: { protocol_version: 1, version: '0.1.62', provider: 'openai', model: 'gpt-4.1' } })
  return drive
}

/** A back link with a prompt whose response has come, and nothing recorded so far. */
export function runningBack(more: Parameters<BackDrive['start']>[1] = {}, context: Context = {}): BackDrive {
  const drive = readyBack(context)
  drive.start('hi', more)
  answer(drive, more.task ?? 'prompt', { data: { started: true } })
  drive.events.length = 0
  return drive
}

/** What a back makes of these lines of a running prompt, without `turn`. */
export function eventsOf(lines: readonly (Line | string)[], more: Parameters<typeof runningBack>[0] = {}): object[] {
  const drive = runningBack(more)
  drive.feed(...lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))))
  return drive.events.map(({ turn: _turn, ...event }) => event)
}

export const ended: CallEnd = { why: 'closed', exitCode: 0 }

/** The `turn-end` events. */
export function endsOf(events: readonly AgentEvent[]): Extract<AgentEvent, { type: 'turn-end' }>[] {
  return events.filter((event) => event.type === 'turn-end')
}

export function front(context: Parameters<typeof driveFront>[1] = {}): FrontDrive {
  return driveFront(codec, context)
}

/** A front with one prompt that runs; its own lines so far are forgotten. */
export function promptedFront(command: Line = { id: '1', type: 'prompt', message: 'hi' }): FrontDrive {
  const drive = front()
  drive.feed(JSON.stringify(command))
  return drive
}

/** What a front writes for these events of a prompt, behind the response. */
export function linesOf(events: readonly object[], command?: Line): Line[] {
  const drive = promptedFront(command)
  drive.play(events.map((event) => ({ turn: 't1', ...event }) as TurnEvent))
  return sentLines(drive).slice(1)
}

/** Answers all commands of a front, in order, until nothing new comes: turns with a plain one, queries with `data`. */
export function serve(drive: FrontDrive, from = 0): void {
  for (let at = from; at < drive.commands.length; at += 1) {
    const command = drive.commands[at]!
    if (command.type === 'turn-start') drive.play(plainTurn(`answer ${at}`, command.turn), command.exchange)
    else if (command.type !== 'turn-cancel') {
      drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: command.exchange })
    }
  }
}
