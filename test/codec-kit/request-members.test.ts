import * as v from 'valibot'
import { expect, test } from 'vitest'
import { answerFormat, count, flag, jsonSchema, maybe, number, text, wrongMember } from '../../src/codec-kit/index.ts'

const Request = v.looseObject({
  name: text,
  limit: maybe(count),
  heat: maybe(number),
  stream: maybe(flag),
  tools: maybe(v.array(v.looseObject({ schema: maybe(jsonSchema) }))),
})

test.each([
  { name: 'a' },
  { name: '', limit: 1, heat: -0.5, stream: false, tools: [{ schema: { type: 'object' } }, {}] },
  { name: 'a', limit: null, heat: null, stream: null, tools: null, more: {} },
])('%j is a request', (body) => {
  expect(v.parse(Request, body)).toEqual(body)
})

test.each<[object, string, string]>([
  [{}, 'name', 'is missing'],
  [{ name: 7 }, 'name', 'must be a string'],
  [{ name: 'a', limit: 0 }, 'limit', 'must be positive'],
  [{ name: 'a', limit: 1.5 }, 'limit', 'must be a whole number'],
  [{ name: 'a', limit: '1' }, 'limit', 'must be a number'],
  [{ name: 'a', heat: Number.POSITIVE_INFINITY }, 'heat', 'must be a finite number'],
  [{ name: 'a', stream: 'yes' }, 'stream', 'must be true or false'],
  [{ name: 'a', tools: [{}, { schema: [] }] }, 'tools[1].schema', 'must be a JSON Schema'],
])('%j is wrong at %s, which %s', (body, param, wrong) => {
  const checked = v.safeParse(Request, body)
  expect(checked.issues && wrongMember(checked.issues[0])).toEqual({ param, wrong })
})

test.each<[object, string | undefined]>([
  [{ type: 'text' }, undefined],
  [{ type: 'grammar', schema: 7 }, undefined],
  [{ type: 'json_schema', schema: { type: 'object' } }, undefined],
  [{ type: 'json_schema' }, 'schema is missing'],
  [{ type: 'json_schema', schema: ['object'] }, 'schema must be a JSON Schema'],
  [{}, 'type is missing'],
])('the form %j of an answer: %s', (format, why) => {
  const { issues } = v.safeParse(answerFormat('schema', jsonSchema), format)
  const found = issues && wrongMember(issues[0])
  expect(found && `${found.param} ${found.wrong}`).toBe(why)
})
