import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RpcCalls, RpcWriter, readRpc, withRpcId } from '../../src/codec-kit/index.ts'

describe('reading', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":1,"method":"m"}', { kind: 'request', id: '1', method: 'm', params: undefined }],
    ['{"id":"a","method":"m","params":[1]}', { kind: 'request', id: '"a"', method: 'm', params: [1] }],
    ['{"id":null,"method":"m"}', { kind: 'request', id: 'null', method: 'm', params: undefined }],
    ['{"id":{"a":1.0},"method":"m"}', { kind: 'request', id: '{"a":1.0}', method: 'm', params: undefined }],
    ['{"method":"m","params":{"a":1}}', { kind: 'notification', method: 'm', params: { a: 1 } }],
    ['{"id":9007199254740993,"result":null}', { kind: 'result', id: '9007199254740993', result: null }],
    ['{"id":1,"result":{},"error":null}', { kind: 'result', id: '1', result: {} }],
    [
      '{"id":1,"error":{"code":-32000,"message":"no","data":{"a":1}}}',
      { kind: 'error', id: '1', error: { code: -32000, message: 'no', data: { a: 1 } } },
    ],
    [
      '{"id":1,"result":{},"error":{"code":"x"}}',
      { kind: 'error', id: '1', error: { code: undefined, message: '', data: undefined } },
    ],
    [
      '{"id":1,"error":"broken"}',
      { kind: 'error', id: '1', error: { code: undefined, message: 'broken', data: undefined } },
    ],
  ])('%s', (line, message) => expect(readRpc(line)).toEqual(message))

  test.each(['', 'noise', '[]', '[{"id":1,"method":"m"}]', '{}', '{"id":1}', '{"result":1}', '{"method":1}', 'null'])(
    'takes %s for no message',
    (line) => expect(readRpc(line)).toBeUndefined(),
  )
})

const json = fc.jsonValue().map((value) => JSON.stringify(value))

describe('writing', () => {
  test.each([
    [{}, '{"jsonrpc":"2.0",'],
    [{ jsonrpc: false }, '{'],
  ])('%j', (style, head) => {
    const writer = new RpcWriter(style)
    expect([
      writer.request('0', 'a/b', '{"x":1.0}'),
      writer.request('"i"', 'a'),
      writer.notification('n'),
      writer.result('null', '{}'),
      writer.error('7', -32601, 'no "m"'),
      writer.error('7', -32000, 'm', '[1]'),
    ]).toEqual([
      `${head}"id":0,"method":"a/b","params":{"x":1.0}}`,
      `${head}"id":"i","method":"a"}`,
      `${head}"method":"n"}`,
      `${head}"id":null,"result":{}}`,
      `${head}"id":7,"error":{"code":-32601,"message":"no \\"m\\""}}`,
      `${head}"id":7,"error":{"code":-32000,"message":"m","data":[1]}}`,
    ])
  })

  test('what is written is read as it was, and is one line', () => {
    const writer = new RpcWriter()
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), fc.string(), json, (id, method, params) => {
        const line = writer.request(JSON.stringify(id), method, params)
        expect(line).not.toMatch(/[\r\n\u2028\u2029\u0085]/)
        const read = readRpc(line)
        expect(read?.kind === 'request' && [JSON.parse(read.id), read.method, read.params]).toEqual([
          id,
          method,
          JSON.parse(params),
        ])
      }),
    )
  })
})

function calls(): { sent: string[]; taken: string[]; calls: RpcCalls } {
  const sent: string[] = []
  return { sent, taken: [], calls: new RpcCalls((line) => sent.push(line), new RpcWriter({ jsonrpc: false })) }
}

describe('calls', () => {
  test('an answer goes to its call, once, also with its id as text', () => {
    const { calls: own, sent, taken } = calls()
    own.call('a', undefined, (answer, line) => taken.push(`a ${answer?.kind} ${line}`))
    own.call('b', '{}', (answer) => taken.push(`b ${answer?.kind}`))
    expect(sent).toEqual(['{"id":1,"method":"a"}', '{"id":2,"method":"b","params":{}}'])
    const second = '{"id":"2","error":{}}'
    expect(own.answer(readRpc(second) as never, second)).toBe(true)
    const first = '{"id":1,"result":{}}'
    expect([own.answer(readRpc(first) as never, first), own.answer(readRpc(first) as never, first)]).toEqual([
      true,
      false,
    ])
    expect(taken).toEqual(['b error', 'a result {"id":1,"result":{}}'])
  })

  test('an answer whose id is no text and no number is for nobody', () => {
    const { calls: own, taken } = calls()
    own.call('a', undefined, () => taken.push('a'))
    for (const id of ['{"toString":1}', '[1]', 'null', 'true', '[[1]]']) {
      const line = `{"id":${id},"result":{}}`
      expect(own.answer(readRpc(line) as never, line)).toBe(false)
    }
    expect(taken).toEqual([])
  })

  test('a recorded answer goes to the oldest call of its method', () => {
    const { calls: own, taken } = calls()
    own.call('a', undefined, () => taken.push('first'))
    own.call('b', undefined, () => taken.push('other'))
    own.call('a', undefined, () => taken.push('second'))
    const line = '{"id":"theirs","result":{}}'
    const answer = readRpc(line) as never
    expect([own.answerTo('a', answer, line), own.answerTo('c', answer, line)]).toEqual([true, false])
    expect(taken).toEqual(['first'])
  })

  test('at the end everybody learns that there is no answer', () => {
    const { calls: own, taken } = calls()
    own.call('a', undefined, (answer, line) => {
      taken.push(`${answer} ${JSON.stringify(line)}`)
      own.call('again', undefined, () => {})
    })
    own.end()
    expect(taken).toEqual(['undefined ""'])
  })
})

test('a message under another id is otherwise as it was', () => {
  const line = '{"jsonrpc": "2.0", "id" :"a","params":{"id":7,"n":1.0e2}}'
  expect(withRpcId(line, '5')).toBe('{"jsonrpc":"2.0","id":5,"params":{"id":7,"n":1.0e2}}')
})
