import { codec } from '../../../../codecs/openai/index.ts'
import type { AgentEvent, TurnStart } from '../../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../../kit/drive.ts'
import { json } from '../kit.ts'

export const turn = 't1'

/** A server of the Responses API that was asked for a turn. */
export function serve(start: Partial<TurnStart> = {}, options: object = {}): BackDrive {
  const drive = driveBack(codec, { dialect: 'responses', options })
  drive.start('hi', start)
  return drive
}

/** Sends events of the stream. */
export function say(drive: BackDrive, ...events: object[]): void {
  for (const event of events) drive.feed({ data: json(event) })
}

/** Events of one output item. */
export const added = (item: object, output_index = 0) => ({ type: 'response.output_item.added', output_index, item })
export const done = (item: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item })
export const delta = (type: string, piece: string, output_index = 0, more: object = {}) => ({
  type: `response.${type}.delta`,
  output_index,
  delta: piece,
  ...more,
})
export const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant' }
export const messageOf = (text: string, more: object = {}) => ({
  ...MESSAGE,
  content: [{ type: 'output_text', text }],
  ...more,
})
export const callOf = (call_id: string, args: string, more: object = {}) => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name: 'ls',
  arguments: args,
  ...more,
})
export const completed = (more: object = {}) => ({
  type: 'response.completed',
  response: { status: 'completed', ...more },
})

/** The events of one type. */
export function eventsOf<T extends AgentEvent['type']>(drive: BackDrive, type: T): Extract<AgentEvent, { type: T }>[] {
  return drive.events.filter((event) => event.type === type) as Extract<AgentEvent, { type: T }>[]
}

/** The text of a turn so far, and of its reasoning. */
export const textOf = (drive: BackDrive): string =>
  eventsOf(drive, 'text-delta')
    .map(({ text }) => text)
    .join('')
export const endOf = (drive: BackDrive) => eventsOf(drive, 'turn-end').at(-1)
