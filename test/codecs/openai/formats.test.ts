import { describe, expect, test } from 'vitest'
import { chatFormat, responseFormat } from '../../../codecs/openai/formats.ts'
import { chatExt, responsesExt, splitExt } from '../../../codecs/openai/request-ext.ts'
import { encryptedOf, sealOf } from '../../../codecs/openai/responses/seals.ts'
import { type Loss, members, type Seal } from '../../../src/model/index.ts'

describe('the format of a custom tool', () => {
  const inChat = '{"type":"grammar","grammar":{"syntax":"lark","definition":"a: b"}}'
  const inResponses = '{"type":"grammar","syntax":"lark","definition":"a: b"}'

  test('has the form of each API, whichever client said it', () => {
    expect([chatFormat(inChat), chatFormat(inResponses)]).toEqual([inChat, inChat])
    expect([responseFormat(inChat), responseFormat(inResponses)]).toEqual([inResponses, inResponses])
  })

  test('may be text, or absent', () => {
    for (const format of ['{"type":"text"}', undefined]) {
      expect([chatFormat(format), responseFormat(format)]).toEqual([format, format])
    }
  })
})

describe('members of a request without a place in the model', () => {
  const losses: Loss[] = []
  const report = (loss: Loss) => losses.push(loss)
  const ext = (json: string) => ({ protocol: 'openai', json })

  test('reach servers of their own API, and those that both know reach both', () => {
    const split = splitExt(members('{"user":"u","truncation":"auto"}'))!
    expect(split).toBe('{"user":"u","responses":{"truncation":"auto"}}')
    expect(responsesExt(ext(split), report)).toBe('{"user":"u","truncation":"auto"}')
    expect(chatExt(ext(split), report)).toBe('{"user":"u"}')
    expect(chatExt(ext('{"user":"u","seed":1}'), report)).toBe('{"user":"u","seed":1}')
    expect(responsesExt(ext('{"user":"u","seed":1}'), report)).toBe('{"user":"u"}')
    expect(losses.map(({ field }) => field)).toEqual(['truncation', 'seed'])
  })

  test('say the form of the answer to either API', () => {
    const schema = '{"type":"object","x":1.0}'
    const text = `{"format":{"type":"json_schema","name":"n","schema":${schema},"strict":true},"verbosity":"low"}`
    const format = `{"type":"json_schema","json_schema":{"name":"n","schema":${schema},"strict":true}}`
    const said = `{"response_format":${format},"verbosity":"low"}`
    const none: Loss[] = []
    const lost = (loss: Loss) => none.push(loss)
    expect(responsesExt(ext(said), lost)).toBe(`{"text":${text}}`)
    expect(chatExt(ext(splitExt(members(`{"text":${text}}`))!), lost)).toBe(said)
    expect(responsesExt(ext(splitExt(members('{"text":{"verbosity":"low"}}'))!), lost)).toBe(
      '{"text":{"verbosity":"low"}}',
    )
    expect(chatExt(ext(splitExt(members('{"text":{"format":{"type":"text"}}}'))!), lost)).toBe(
      '{"response_format":{"type":"text"}}',
    )
    expect(responsesExt(ext('{"response_format":{"type":"json_object"}}'), lost)).toBe(
      '{"text":{"format":{"type":"json_object"}}}',
    )
    expect(none).toEqual([])
  })

  test('may be none', () => {
    expect(splitExt([])).toBeUndefined()
    expect(splitExt([['user', '"u"']])).toBe('{"user":"u"}')
    expect(chatExt(undefined, report)).toBeUndefined()
    expect(responsesExt(undefined, report)).toBeUndefined()
    expect(chatExt({ protocol: 'anthropic', json: '{"a":1}' }, report)).toBeUndefined()
  })
})

test.each([
  [{ provider: 'openai', kind: 'encrypted', data: 'gAAA+/==' }, 'gAAA+/=='],
  [{ provider: 'anthropic', data: 'sig' }, 'turnpike:anthropic:signature:sig'],
  [{ provider: 'anthropic', kind: 'redacted', data: 'a:b\nc' }, 'turnpike:anthropic:redacted:a:b\nc'],
] satisfies [Seal, string][])('a seal comes back as it was: %j', (seal, encrypted) => {
  expect(encryptedOf(seal)).toBe(encrypted)
  expect(sealOf(encrypted)).toEqual(seal)
})
