import { dropped, type KnownMembers, reportFurther } from '../../../../src/codec-kit/index.ts'
import { type JsonText, type Loss, member } from '../../../../src/model/index.ts'
import { approvalOf } from '../ids.ts'
import { type Fields, ITEM_HEAD, type ReadItem, wrong } from './read-item.ts'

/* Items that are for the gateway: no agent gets their further members. */

const QUESTION: KnownMembers = { ...ITEM_HEAD, name: true, arguments: true, server_label: true }
const APPROVAL: KnownMembers = { ...ITEM_HEAD, approval_request_id: true, approve: true, reason: true }
const TOOLS: KnownMembers = { ...ITEM_HEAD, role: true, tools: true }

const THEIRS =
  'is the id of an approval request of another server, and answers to such do not pass the gateway; ' +
  'answer it at that server, or leave out the answer'

/** An item that another server has made about its own tools. */
export function ofOther({ type }: Fields): ReadItem {
  return { kind: 'nothing', losses: [dropped('foreign', String(type))] }
}

/** An item of an earlier answer, by its id. */
export function readReference(item: Fields): ReadItem {
  const { id } = item
  if (typeof id !== 'string') return wrong('must be the id of an item', '.id')
  return { kind: 'reference', id, losses: furtherLosses(item, ITEM_HEAD) }
}

/** An approval that was asked for, by this gateway or by another server. */
export function readQuestion(item: Fields): ReadItem {
  const { id } = item
  const asked = typeof id === 'string' ? approvalOf(id) : undefined
  return asked ? { kind: 'question', call: asked.call, losses: furtherLosses(item, QUESTION) } : ofOther(item)
}

/** The answer to an approval. */
export function readApproval(item: Fields): ReadItem {
  const { approval_request_id: id, approve, reason } = item
  if (typeof id !== 'string') return wrong('must be the id of an approval request', '.approval_request_id')
  const asked = approvalOf(id)
  if (!asked) return wrong(THEIRS, '.approval_request_id')
  if (typeof approve !== 'boolean') return wrong('must be true or false', '.approve')
  const message = typeof reason === 'string' && reason !== '' ? { message: reason } : {}
  const option = approve ? asked.allow : asked.deny
  const reply = { kind: 'approval', option, ...message } as const
  return { kind: 'answer', answer: { call: asked.call, reply }, losses: furtherLosses(item, APPROVAL) }
}

/** Further tools of the client. */
export function readTools(item: Fields, json: JsonText): ReadItem {
  return { kind: 'tools', json: member(json, 'tools') ?? '[]', losses: furtherLosses(item, TOOLS) }
}

/** The further members of an item, which go nowhere. */
function furtherLosses(item: Fields, known: KnownMembers): Loss[] {
  const losses: Loss[] = []
  reportFurther(item, known, (loss) => losses.push(loss))
  return losses
}
