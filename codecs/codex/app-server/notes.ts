import * as v from 'valibot'
import { type AgentEvent, type JsonText, type Item as Lost, member } from '../../../src/model/index.ts'
import { planJson } from '../blocks.ts'
import {
  ErrorNote,
  ItemNote,
  McpProgress,
  Patch,
  Piece,
  PlanUpdated,
  Rerouted,
  SummaryPart,
  TokenUsage,
} from '../schema.ts'
import { textMember } from './forms.ts'
import { changeParts } from './items.ts'
import type { Lane } from './lane.ts'
import { paramsOf } from './server.ts'
import type { TurnDecoder } from './turn.ts'

/** A notification about a turn, with the lane of the thread that it names. */
interface Note {
  decoder: TurnDecoder
  lane: Lane
  params: unknown
  line: string
}

/** `misfit`: not the shape of its method. `foreign`: the model has no place for it. */
type Reading = 'read' | 'misfit' | 'foreign'

/** The reader of the notifications of one method; `item` is what is lost when one has not the shape of its method. */
interface NoteReader {
  item: Lost
  read(note: Note): Reading
}

/** The notifications about a turn, by their method. Its begin and its end are the link's. */
export const NOTES: Readonly<Record<string, NoteReader>> = {
  'item/agentMessage/delta': piece('text-delta', (lane, item, delta) => lane.text(item, delta)),
  'item/plan/delta': piece('text-delta', (lane, item, delta) => lane.text(item, delta)),
  'item/reasoning/summaryTextDelta': piece('reasoning-delta', (lane, item, delta) => lane.reasoning(item, delta)),
  'item/reasoning/textDelta': piece('reasoning-delta', (lane, item, delta) => lane.reasoning(item, delta)),
  'item/reasoning/summaryPartAdded': {
    item: 'reasoning-delta',
    read({ lane, params }) {
      if (!v.is(SummaryPart, params)) return 'misfit'
      lane.reasoning(params.itemId, params.summaryIndex === 0 ? '' : '\n\n')
      return 'read'
    },
  },
  'item/commandExecution/outputDelta': piece('tool-progress', output),
  'item/fileChange/outputDelta': piece('tool-progress', output),
  'item/fileChange/patchUpdated': {
    item: 'tool-progress',
    read({ lane, params }) {
      if (!v.is(Patch, params)) return 'misfit'
      return lane.progress(params.itemId, changeParts(params.changes)) ? 'read' : 'foreign'
    },
  },
  'item/mcpToolCall/progress': {
    item: 'tool-progress',
    read({ lane, params }) {
      if (!v.is(McpProgress, params)) return 'misfit'
      return lane.progress(params.itemId, [{ type: 'text', text: params.message }]) ? 'read' : 'foreign'
    },
  },
  'item/started': item((lane, value, json) => lane.started(value, json)),
  'item/completed': item((lane, value, json) => lane.completed(value, json)),
  'turn/plan/updated': {
    item: 'plan',
    read({ lane, params }) {
      if (!v.is(PlanUpdated, params)) return 'misfit'
      const steps = params.plan.map(({ step, status }) => ({
        content: step,
        status: status === 'inProgress' ? 'in_progress' : status,
      }))
      lane.out.emit({ type: 'plan', json: planJson(steps) })
      return 'read'
    },
  },
  'turn/diff/updated': {
    item: 'ext',
    read({ decoder, line }) {
      decoder.diff(member(paramsOf(line), 'diff') ?? '""')
      return 'read'
    },
  },
  'thread/tokenUsage/updated': {
    item: 'usage',
    read({ decoder, lane, params }) {
      if (!v.is(TokenUsage, params)) return 'misfit'
      if (lane === decoder.main) decoder.count(params.tokenUsage)
      return 'read'
    },
  },
  error: {
    item: 'notice',
    read({ lane, params }) {
      if (!v.is(ErrorNote, params)) return 'misfit'
      // An error that ends the turn is repeated in its end.
      if (params.willRetry !== true) return 'read'
      const { message, additionalDetails: details } = params.error
      lane.retract()
      lane.out.notice('warning', 'retrying', details ? `${message}: ${details}` : message)
      return 'read'
    },
  },
  'model/rerouted': {
    item: 'notice',
    read({ lane, params }) {
      if (!v.is(Rerouted, params)) return 'misfit'
      const { fromModel, toModel } = params
      lane.out.notice(
        'warning',
        'model-rerouted',
        `The answer comes from the model ${toModel} instead of ${fromModel}.`,
      )
      return 'read'
    },
  },
  // The older name for an item of this type, which is sent as well.
  'thread/compacted': { item: 'notice', read: () => 'read' },
}

/** Notices to the user that may come without a turn, with their codes and the members that hold their text. */
const NOTICES: Readonly<Record<string, readonly [code: string, ...texts: string[]]>> = {
  warning: ['agent-warning', 'message'],
  guardianWarning: ['guardian-warning', 'message'],
  configWarning: ['config-warning', 'summary', 'details'],
  deprecationNotice: ['deprecation', 'summary', 'details'],
}

type Notice = Omit<Extract<AgentEvent, { type: 'notice' }>, 'turn'>

/** A notification that is a notice to the user; undefined for every other one. */
export function linkNotice(method: string, params: unknown): Notice | undefined {
  if (!Object.hasOwn(NOTICES, method)) return undefined
  const [code, ...keys] = NOTICES[method]!
  const text = keys.flatMap((key) => textMember(params, key) ?? []).join(' ')
  return text === '' ? undefined : { type: 'notice', severity: 'warning', code, text }
}

/** The id of the request that is settled, raw. */
export function requestIdOf(line: string): JsonText {
  return member(paramsOf(line), 'requestId') ?? ''
}

function piece(lost: Lost, take: (lane: Lane, item: string, delta: string) => unknown): NoteReader {
  return {
    item: lost,
    read({ lane, params }) {
      if (!v.is(Piece, params)) return 'misfit'
      return take(lane, params.itemId, params.delta) === false ? 'foreign' : 'read'
    },
  }
}

function output(lane: Lane, item: string, text: string): boolean {
  return lane.progress(item, text === '' ? [] : [{ type: 'text', text }])
}

function item(
  take: (lane: Lane, value: v.InferOutput<typeof ItemNote>['item'], json: JsonText) => boolean,
): NoteReader {
  return {
    item: 'message-end',
    read({ lane, params, line }) {
      if (!v.is(ItemNote, params)) return 'misfit'
      return take(lane, params.item, member(paramsOf(line), 'item')!) ? 'read' : 'foreign'
    },
  }
}
