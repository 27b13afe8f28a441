import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codec } from '../../../codecs/acp/index.ts'
import { frameText } from '../../../src/contract/index.ts'
import { requestLine, textLine, updateLine } from './kit.ts'

const CANCELLED = { outcome: { outcome: 'cancelled' } }
const ABLE = { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { close: {} } } }

/** A multiplexer, what reached the process, and what reached each link, parsed. */
function multiplexed() {
  const process: unknown[] = []
  const links = new Map<number, unknown[]>()
  const it = codec.dialects['v1']!.back!.multiplex!({
    toProcess: (frame) => void process.push(JSON.parse(frameText(frame))),
    toLink: (link, frame) => {
      const text = frameText(frame)
      links.set(link, [...(links.get(link) ?? []), text.startsWith('{') ? JSON.parse(text) : text])
    },
  })
  const answer = (id: unknown, result: unknown): void => it.fromProcess(JSON.stringify({ jsonrpc: '2.0', id, result }))
  const refuse = (id: unknown, code: number): void =>
    it.fromProcess(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } }))
  const call = (link: number, id: unknown, method: string, params: object = {}): void =>
    it.fromLink(link, requestLine(id, method, params))
  /** What came since the last look. */
  const taken = (): unknown[] => process.splice(0)
  const got = (link: number): unknown[] => {
    const all = links.get(link) ?? []
    links.set(link, [])
    return all
  }
  return { it, answer, refuse, call, taken, got }
}

/** Two links with a session each, `A` and `B`; the next request to the process has the id 4. */
function two(able: object = ABLE) {
  const all = multiplexed()
  for (const link of [1, 2]) all.call(link, 1, 'initialize')
  all.answer(1, able)
  for (const [link, session] of [
    [1, 'A'],
    [2, 'B'],
  ] as const) {
    all.call(link, 2, 'session/new', { cwd: '/' })
    all.answer(link + 2, { sessionId: session })
  }
  for (const link of [1, 2]) all.got(link)
  all.taken()
  return all
}

const permission = (id: unknown, sessionId: unknown): string =>
  requestLine(id, 'session/request_permission', { sessionId, toolCall: { toolCallId: 'c' }, options: [] })

describe('several links on one agent', () => {
  test('introduce themselves once, and each gets the answer under its own id', () => {
    const { call, answer, taken, got } = multiplexed()
    call(1, 1, 'initialize')
    call(2, '1', 'initialize')
    expect(taken()).toEqual([{ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }])
    answer('1', ABLE)
    call(3, null, 'initialize')
    expect([1, 2, 3].map(got)).toEqual([1, '1', null].map((id) => [{ jsonrpc: '2.0', id, result: ABLE }]))
    expect(taken()).toEqual([])
  })

  test('get what an agent prints that never gets ready, and nothing of that later', () => {
    const { it, call, answer, got } = multiplexed()
    call(1, 1, 'initialize')
    it.fromProcess('Content-Length: 7')
    it.fromProcess('\ufeff[1]')
    answer(1, {})
    it.fromProcess('noise')
    expect(got(1)).toEqual(['Content-Length: 7', '[1]', { jsonrpc: '2.0', id: 1, result: {} }])
  })

  test('log in once, whatever else they ask meanwhile', () => {
    const { it, call, answer, got } = two()
    call(1, 'a', 'authenticate')
    call(2, 'b', 'session/prompt', { sessionId: 'B' })
    call(2, 'c', 'authenticate')
    it.fromProcess('noise')
    answer(5, {})
    expect([got(1), got(2), it.works(1), it.works(2)]).toEqual([
      [{ jsonrpc: '2.0', id: 'a', result: {} }],
      [{ jsonrpc: '2.0', id: 'c', result: {} }],
      false,
      true,
    ])
  })

  test('number their requests as if they were alone', () => {
    const { call, answer, taken, got, it } = two()
    call(1, 3, 'session/prompt', { sessionId: 'A' })
    call(2, 3, 'session/prompt', { sessionId: 'B' })
    expect(taken()).toMatchObject([{ id: 5 }, { id: 6 }])
    expect([it.works(1), it.works(2)]).toEqual([true, true])
    answer(6, { stopReason: 'end_turn' })
    answer(6, { stopReason: 'twice' })
    answer(99, { stopReason: 'nobody' })
    expect([got(1), got(2)]).toEqual([[], [{ jsonrpc: '2.0', id: 3, result: { stopReason: 'end_turn' } }]])
    expect([it.works(1), it.works(2)]).toEqual([true, false])
  })

  test('may copy a session of each other, and the copy is their own', () => {
    const { call, answer, taken, got } = two()
    call(2, 3, 'session/fork', { sessionId: 'A', cwd: '/' })
    expect(taken()).toMatchObject([{ id: 5, method: 'session/fork' }])
    answer(5, { sessionId: 'C' })
    expect(got(2)).toEqual([{ jsonrpc: '2.0', id: 3, result: { sessionId: 'C' } }])
    call(1, 4, 'session/prompt', { sessionId: 'C' })
    call(1, 5, 'session/prompt', { sessionId: 'A' })
    call(2, 4, 'session/prompt', { sessionId: 'C' })
    expect([got(1), taken()]).toMatchObject([[{ id: 4, error: {} }], [{ id: 6 }, { id: 7 }]])
  })

  test('get the updates of their session, and no others', () => {
    const { it, got } = two()
    const lines = [textLine('a', {}), updateLine('plan', { entries: [] }, 'A'), updateLine('plan', {}, 'C')]
    for (const line of lines) it.fromProcess(line.replace('"S"', '"B"'))
    it.fromProcess('{"jsonrpc":"2.0","method":"_status","params":{"sessionId":"B"}}')
    it.fromProcess('{"jsonrpc":"2.0","method":"_status"}')
    it.fromProcess('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7,"update":{}}}')
    expect([got(1), got(2)]).toMatchObject([
      [{ params: { sessionId: 'A' } }],
      [{ params: { sessionId: 'B', update: { content: { text: 'a' } } } }, { method: '_status' }],
    ])
  })

  test('are told apart by the session of a question, and answer their own alone', () => {
    const { it, taken, got } = two()
    it.fromProcess(permission('q', 'A'))
    it.fromProcess(permission('q', 'B'))
    it.fromProcess(permission('r', 'nobody'))
    it.fromProcess(requestLine(8, 'fs/read_text_file', { path: '/x' }))
    expect(taken()).toMatchObject([
      { id: 'q', error: { code: -32600 } },
      { id: 'r', result: CANCELLED },
      { id: 8, error: { code: -32601, message: 'Nobody takes this request: fs/read_text_file' } },
    ])
    expect([got(1), got(2)]).toMatchObject([[{ id: 'q' }], []])
    const said = '{"jsonrpc":"2.0","id":"q","result":1}'
    it.fromLink(2, said)
    expect(taken()).toEqual([])
    it.fromProcess('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"q"}}')
    it.fromProcess('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"z"}}')
    it.fromProcess('{"jsonrpc":"2.0","method":"$/cancel_request"}')
    expect([got(1), got(2)]).toMatchObject([[{ method: '$/cancel_request' }], []])
    it.fromLink(1, said)
    it.fromLink(1, said)
    expect(taken()).toEqual([JSON.parse(said)])
  })

  test('cannot reach the session of another', () => {
    const { it, call, taken, got } = two()
    call(1, 3, 'session/prompt', { sessionId: 'B' })
    call(1, 4, 'session/load', { sessionId: 'B' })
    it.fromLink(1, '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"B"}}')
    it.fromLink(1, 'no message')
    expect([taken(), got(2)]).toEqual([[], []])
    expect(got(1)).toMatchObject([
      { id: 3, error: { code: -32002 } },
      { id: 4, error: { code: -32002 } },
    ])
    it.fromLink(2, '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"B"}}')
    expect(taken()).toMatchObject([{ method: 'session/cancel' }])
  })

  test('get no session that the agent gives twice', () => {
    const { call, answer, got } = two()
    call(2, 5, 'session/new', { cwd: '/' })
    answer(5, { sessionId: 'A' })
    expect(got(2)).toMatchObject([{ id: 5, error: { code: -32603 } }])
  })

  test('have the session that they load from the start, and not if it cannot be loaded', () => {
    const { it, call, refuse, answer, got } = two()
    call(1, 3, 'session/load', { sessionId: 'old' })
    it.fromProcess(updateLine('user_message_chunk', {}, 'old'))
    expect(got(1)).toHaveLength(1)
    refuse(5, -32002)
    it.fromProcess(updateLine('user_message_chunk', {}, 'old'))
    expect(got(1)).toMatchObject([{ id: 3, error: { code: -32002 } }])
    call(2, 3, 'session/load', { sessionId: 'old' })
    answer(6, {})
    call(2, 4, 'session/close', { sessionId: 'old' })
    answer(7, {})
    call(1, 4, 'session/resume', { sessionId: 'old' })
    expect(got(2)).toMatchObject([{ id: 3 }, { id: 4 }])
    expect(it.works(1)).toBe(true)
  })

  test('leave: the agent is to end what it does for them, and says nothing more to them', () => {
    const { it, call, answer, taken, got } = two()
    call(1, 3, 'session/prompt', { sessionId: 'A' })
    call(2, 3, 'session/prompt', { sessionId: 'B' })
    it.fromProcess(permission('q', 'A'))
    it.fromProcess(permission('r', 'B'))
    for (const link of [1, 2]) got(link)
    taken()
    it.leave(1)
    expect(taken()).toMatchObject([
      { id: 'q', result: CANCELLED },
      { method: 'session/cancel', params: { sessionId: 'A' } },
      { id: 7, method: 'session/close', params: { sessionId: 'A' } },
    ])
    it.fromProcess(updateLine('plan', {}, 'A'))
    it.fromProcess(permission('s', 'A'))
    answer(5, { stopReason: 'cancelled' })
    expect([it.works(1), taken(), got(1)]).toMatchObject([true, [{ id: 's', result: CANCELLED }], []])
    answer(7, {})
    expect([it.works(1), it.works(2), got(1), got(2)]).toEqual([false, true, [], []])
    call(2, 4, 'session/load', { sessionId: 'A' })
    expect(taken()).toMatchObject([{ method: 'session/load' }])
  })

  test('leave while their session is made, which is closed then', () => {
    const { it, call, answer, taken } = two()
    call(1, 3, 'session/new', { cwd: '/' })
    it.leave(1)
    answer(5, { sessionId: 'late' })
    expect(taken()).toMatchObject([
      { method: 'session/new' },
      { id: 6, method: 'session/close', params: { sessionId: 'A' } },
      { id: 7, method: 'session/close', params: { sessionId: 'late' } },
    ])
    answer(6, {})
    expect(it.works(1)).toBe(true)
    answer(7, {})
    expect(it.works(1)).toBe(false)
  })

  test.each([{}, 7, { agentCapabilities: { sessionCapabilities: { close: false } } }])(
    'leave an agent that cannot close sessions: %j',
    (able) => {
      const { it, taken, got } = two(able as object)
      it.leave(1)
      it.fromProcess(updateLine('plan', {}, 'A'))
      expect([it.works(1), taken(), got(1)]).toEqual([false, [], []])
    },
  )

  test('get nothing that names the session of another, whatever the agent says', () => {
    const session = fc.constantFrom('A', 'B', 'C', 7, null)
    const id = fc.constantFrom(1, 5, 6, '6', 'q', null)
    const line = fc.oneof(
      fc.record({ jsonrpc: fc.constant('2.0'), id, result: fc.record({ sessionId: session }) }),
      fc.record({ id, error: fc.record({ code: fc.integer() }) }),
      fc.record({ method: fc.constantFrom('session/update', '_x'), params: fc.record({ sessionId: session }) }),
      fc.record({
        id,
        method: fc.constantFrom('session/request_permission', 'fs/read_text_file', 'session/update'),
        params: fc.record({ sessionId: session }),
      }),
    )
    const doing = fc.oneof(
      fc.record({ say: line }),
      fc.record({ link: fc.constantFrom(1, 2), ask: fc.constantFrom('session/prompt', 'session/new') }),
    )
    fc.assert(
      fc.property(fc.array(doing, { maxLength: 20 }), (steps) => {
        const { it, call, got } = two()
        for (const step of steps) {
          if ('say' in step) it.fromProcess(JSON.stringify(step.say))
          else call(step.link, 'own', step.ask, { sessionId: step.link === 1 ? 'A' : 'B' })
        }
        const named = (link: number): unknown[] =>
          got(link).flatMap((message) => {
            const { params } = message as { params?: { sessionId: unknown } }
            return params ? [params.sessionId] : []
          })
        const [first, second] = [new Set(named(1)), new Set(named(2))]
        expect([...first].filter((name) => second.has(name))).toEqual([])
        expect([first.has('B'), second.has('A')]).toEqual([false, false])
      }),
    )
  })
})
