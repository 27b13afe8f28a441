import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HttpCall } from '../../src/backends/http-call.ts'
import type { CallEnd, CallHead } from '../../src/contract/index.ts'

/** The HTTP client's side of a call, as far as the call uses it. */
class Controller {
  readonly did: string[] = []
  pause(): void {
    this.did.push('pause')
  }
  resume(): void {
    this.did.push('resume')
  }
  abort(why: Error): void {
    this.did.push(`abort: ${why.message}`)
  }
}

/** A call, what its sink was told, and what else it said. */
function calling(more: { call?: string; kept?: boolean } = {}) {
  const said: string[] = []
  const heads: CallHead[] = []
  const ends: CallEnd[] = []
  const over: HttpCall[] = []
  let text = ''
  const call = new HttpCall({
    call: more.call,
    where: 'h:1',
    mayBeKept: () => more.kept ?? false,
    onHead: (headers) => void said.push(`headers ${JSON.stringify(headers)}`),
    onEnd: (one) => {
      said.push('over')
      over.push(one)
    },
    sink: {
      started: (info) => void said.push(`started ${JSON.stringify(info)}`),
      head: (head) => {
        said.push('head')
        heads.push(head)
      },
      data: (piece) => {
        said.push('data')
        text += piece
      },
      end: (end) => {
        said.push('end')
        ends.push(end)
      },
    },
  })
  const wire = new Controller()
  const controller = wire as never
  return {
    call,
    said,
    heads,
    ends,
    over,
    text: () => text,
    did: wire.did,
    start: () => call.onRequestStart(controller),
    answer: (status = 200, headers: Record<string, string | string[] | undefined> = {}) =>
      call.onResponseStart(controller, status, headers),
    data: (chunk: Buffer) => call.onResponseData(controller, chunk),
    error: (error: unknown) => call.onResponseError(controller, error),
  }
}

const RESET = Object.assign(new Error('private'), { code: 'ECONNRESET' })

describe('a call', () => {
  test('tells its start, its head, its data and its end, in this order', async () => {
    const { call, said, start, answer, data, heads, ends, over } = calling()
    start()
    answer(201, { 'content-type': 'text/plain' })
    data(Buffer.from('hi'))
    call.onResponseEnd()
    expect(said).toEqual(['started {}', 'headers {"content-type":"text/plain"}', 'head', 'data'])
    await Promise.resolve()
    expect(said.slice(4)).toEqual(['end', 'over'])
    expect([heads, ends, over]).toEqual([
      [{ status: 201, headers: { 'content-type': 'text/plain' } }],
      [{ why: 'closed' }],
      [call],
    ])
  })

  test('has its name in its head and its end, where it has one', async () => {
    const { call, answer, heads, ends } = calling({ call: 'c1' })
    answer()
    call.onResponseEnd()
    await Promise.resolve()
    expect([heads, ends]).toEqual([[{ call: 'c1', status: 200, headers: {} }], [{ call: 'c1', why: 'closed' }]])
  })

  test('takes any input, and has none', () => {
    const { call } = calling()
    expect([call.write(), call.endInput()]).toEqual([true, undefined])
  })

  test('joins headers that come several times, and leaves out those without a value', () => {
    const { answer, heads } = calling()
    answer(200, { 'set-cookie': ['a=1', 'b=2'], one: 'x', none: undefined, empty: '' })
    expect(heads[0]!.headers).toEqual({ 'set-cookie': 'a=1, b=2', one: 'x', empty: '' })
  })

  test.each([100, 102, 103, 199])('takes an interim answer of %i for no answer', async (status) => {
    const { answer, said, error, ends } = calling()
    answer(status)
    expect(said).toEqual([])
    error(RESET)
    await Promise.resolve()
    // It had not answered yet.
    expect(ends[0]!.fault?.code).toBe('agent-unavailable')
  })

  test('law: any split of an answer gives the same text, and no data for no text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(20), { maxLength: 12 }), (text, sizes) => {
        const { answer, data, call, said, text: read } = calling()
        const bytes = Buffer.from(text)
        answer()
        let at = 0
        for (const size of sizes) {
          data(bytes.subarray(at, at + size))
          at += size
        }
        data(bytes.subarray(at))
        call.onResponseEnd()
        expect(read()).toBe(bytes.toString())
        if (text === '') expect(said).not.toContain('data')
      }),
    )
  })

  test('that ends within a character ends with a replacement of it', async () => {
    const { answer, data, call, text } = calling()
    answer()
    data(Buffer.from('a€').subarray(0, 3))
    await Promise.resolve()
    expect(text()).toBe('a')
    call.onResponseEnd()
    expect(text()).toBe('a\ufffd')
  })
})

describe('a call that fails', () => {
  test.each([
    [false, false, 'agent-unavailable'],
    [false, true, 'agent-crashed'],
    [true, false, 'protocol-violation'],
    [true, true, 'protocol-violation'],
  ])('after its head (%s), on a kept connection (%s), has the fault %s', async (answered, kept, code) => {
    const { answer, error, ends } = calling({ kept })
    if (answered) answer()
    error(RESET)
    await Promise.resolve()
    expect(ends).toMatchObject([{ why: 'failed', fault: { code } }])
    expect(ends[0]!.fault!.message).toContain('The agent at h:1 ')
  })

  test('before it could be sent ends like any other', async () => {
    const { call, ends, over } = calling()
    call.fail(Object.assign(new Error('x'), { code: 'UND_ERR_INVALID_ARG' }))
    expect([ends, call.settled]).toEqual([[], true])
    await Promise.resolve()
    expect([ends[0]!.fault?.code, over]).toEqual(['invalid-request', [call]])
  })
})

describe('a call that is stopped', () => {
  test.each(['timeout', 'cancelled', 'closed'] as const)(
    'for %s ends so, is aborted, and says nothing more',
    async (why) => {
      const { call, start, answer, data, error, said, ends, did } = calling()
      start()
      answer()
      call.stop(why)
      expect([ends, did]).toEqual([[], ['abort: The call was stopped.']])
      data(Buffer.from('late'))
      call.onResponseEnd()
      error(RESET)
      call.stop('timeout')
      await Promise.resolve()
      expect([ends, said.filter((one) => one === 'data' || one === 'end')]).toEqual([[{ why }], ['end']])
    },
  )

  test('before its request began is aborted when that begins, without having started', async () => {
    const { call, start, answer, said, did } = calling()
    call.stop('cancelled')
    expect(did).toEqual([])
    start()
    answer()
    await Promise.resolve()
    expect([did, said]).toEqual([['abort: The call was stopped.'], ['end', 'over']])
  })

  test('after its end is what it was', async () => {
    const { call, ends, did } = calling()
    call.onResponseEnd()
    call.stop('cancelled')
    await Promise.resolve()
    expect([ends, did]).toEqual([[{ why: 'closed' }], []])
  })
})

describe('backpressure', () => {
  test('pauses and resumes the wire', () => {
    const { call, start, did } = calling()
    start()
    call.pause()
    call.resume()
    expect(did).toEqual(['pause', 'resume'])
  })

  test('that came before the wire holds from the head of the answer on', () => {
    const { call, start, answer, did } = calling()
    call.pause()
    start()
    expect(did).toEqual([])
    answer()
    expect(did).toEqual(['pause'])
  })

  test('that was taken back before the wire does not hold', () => {
    const { call, start, answer, did } = calling()
    call.pause()
    call.resume()
    start()
    answer()
    expect(did).toEqual([])
  })
})
