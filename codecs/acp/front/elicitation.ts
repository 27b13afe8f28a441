import * as v from 'valibot'

import {
  type AskReply,
  type Ext,
  isRecord,
  type JsonText,
  type Members,
  member,
  parseObject,
  type Question,
  quote,
} from '../../../src/model/index.ts'
import { ownMember } from '../wire.ts'
import type { Shows } from './client.ts'
import { Elicited } from './schema.ts'

type Input = Extract<Question, { kind: 'input' }>

/** A question for input as a client is asked (Elicitation): parameters, and how its result is read. */
export interface Elicitation {
  readonly entries: Members
  read(result: JsonText | undefined): AskReply
}

/** The types of values that a form has fields for. */
const FIELDS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array'])

/** The form of a question without a schema. */
const ANY_ANSWER = '{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"]}'

/**
 * A question for a client that shows this: the page that an agent of this protocol wants to have opened, else a form;
 * undefined when it can be neither.
 */
export function elicitationOf(
  { message, schema }: Input,
  ext: Ext | undefined,
  shows: Shows | undefined,
): Elicitation | undefined {
  const url = ownMember(ext, 'url')
  if (shows?.urls && url !== undefined) {
    const entries: Members = {
      mode: '"url"',
      message: quote(message.slice(0, message.lastIndexOf('\n'))),
      url,
      elicitationId: ownMember(ext, 'elicitationId'),
    }
    return { entries, read: opened }
  }
  if (!shows?.forms || !isForm(schema)) return undefined
  const entries: Members = { mode: '"form"', message: quote(message), requestedSchema: schema ?? ANY_ANSWER }
  return { entries, read: filledIn }
}

/** The values that the client has filled in; an empty object when it declines. */
function filledIn(result: JsonText | undefined): AskReply {
  const { success, output } = v.safeParse(Elicited, parseObject(result ?? ''))
  return { kind: 'input', values: success && output.content ? member(result!, 'content')! : '{}' }
}

/** The answer to a page: that it is opened, or nothing. */
function opened(result: JsonText | undefined): AskReply {
  const accepted = v.is(Elicited, parseObject(result ?? ''))
  return { kind: 'input', values: accepted ? '{"opened":true}' : '{}' }
}

/** True for what a form can ask: an object whose members are plain values. */
function isForm(schema: JsonText | undefined): boolean {
  if (schema === undefined) return true
  const { type, properties } = parseObject(schema) ?? {}
  if (type !== 'object' || !isRecord(properties)) return false
  return Object.values(properties).every((field) => isRecord(field) && FIELDS.has(field['type']))
}
