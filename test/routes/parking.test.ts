import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')

interface Approval {
  approval_id: string
  tool: string
  options: { id: string; kind: string }[]
  continuation: { run_id: string; continuation_token: string }
}

interface Answer {
  status: number
  response: {
    status: string
    error?: { code: string }
    action_directives?: { action_type: string; payload: Approval & { text?: string } }[]
  }
}

/** A shell of an OpenHarness gateway: it can only answer a question with its next request. */
describe('a turn whose client can only answer with its next request', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    const agent = (name: string, more = ''): string =>
      `{ protocol: agentproc@0.4, command: ${process.execPath}, args: [${AGENTS}/${name}.mjs, parking], permission: true ${more} }`
    gateway = await startGateway(`
default: careful
limits: { grace: 300ms }
agents:
  careful: ${agent('careful')}
  twice: ${agent('asks-twice')}
  hasty: ${agent('careful', ', limits: { ask: 300ms }')}
  bounded: { protocol: native, command: ${process.execPath}, args: [${AGENTS}/staged.mjs], limits: { total: 1h, ask: 2h } }
  asking: { protocol: native, command: ${process.execPath}, args: [${AGENTS}/staged.mjs], limits: { total: 2h, ask: 1h } }
  confirming: { protocol: native, command: ${process.execPath}, args: [${AGENTS}/native.mjs, parking] }
`)
  })
  afterAll(() => gateway.close())

  const send = async (context: object, { agent = 'careful', id = 'r1' } = {}): Promise<Answer> => {
    const response = await fetch(`${gateway.url}/v1/openharness/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ protocol_version: '1.0.0', request_id: id, request: { context } }),
    })
    return { ...((await response.json()) as Answer), status: response.status }
  }
  const approvalOf = ({ response }: Answer): Approval =>
    response.action_directives!.find(({ action_type }) => action_type === 'request_approval')!.payload
  const textOf = ({ response }: Answer): string =>
    (response.action_directives ?? []).map(({ payload }) => payload.text ?? '').join('')
  const reply = (session: string, { continuation, options }: Approval, kind: 'allow' | 'deny') => ({
    session_id: session,
    user_intent: options.find((option) => option.kind === kind)!.id,
    continuation,
  })

  test.each(['allow', 'deny'] as const)(
    'is parked with its question, and goes on with the answer: %s',
    async (kind) => {
      const session = `one-${kind}`
      const parked = await send({ session_id: session, user_intent: 'hi' }, { id: `${session}-1` })
      expect(parked).toMatchObject({ status: 200, response: { status: 'success' } })
      const approval = approvalOf(parked)
      expect(approval).toMatchObject({ tool: 'rm' })
      const done = await send(reply(session, approval, kind), { id: `${session}-2` })
      expect(done.response.status).toBe('success')
      expect(textOf(done)).toBe(`told: ${kind}`)
      expect(gateway.logged.filter((line) => line.includes(approval.continuation.run_id)).at(-1)).toMatch(
        /^a question of an agent was settled .*"about":"approval of rm","how":"answered".*"by":"client local"/,
      )
    },
  )

  test('is parked again for the next question; each answer has what was said since', async () => {
    const first = await send({ session_id: 's2', user_intent: 'hi' }, { agent: 'twice', id: 't1' })
    expect([textOf(first), approvalOf(first).tool]).toEqual(['thinking. ', 'tool-p1'])
    const second = await send(reply('s2', approvalOf(first), 'allow'), { agent: 'twice', id: 't2' })
    expect([textOf(second), approvalOf(second).tool]).toEqual(['', 'tool-p2'])
    const last = await send(reply('s2', approvalOf(second), 'deny'), { agent: 'twice', id: 't3' })
    expect(textOf(last)).toContain('told: allow, deny')
  })

  test('is answered with no when nobody answers in time; the late answer gets what became of it', async () => {
    const parked = await send({ session_id: 's3', user_intent: 'hi' }, { agent: 'hasty', id: 'h1' })
    await until(() => gateway.engine.turns.length === 0)
    const late = await send(reply('s3', approvalOf(parked), 'allow'), { agent: 'hasty', id: 'h2' })
    expect(textOf(late)).toBe('told: deny')
    expect(pidsOf('careful.mjs parking')).toEqual([])
  })

  test('takes one answer: who says the same again gets the same end, who says another thing is refused', async () => {
    const parked = await send({ session_id: 's4', user_intent: 'hi' }, { id: 'f1' })
    const [first, again, other] = await Promise.all([
      send(reply('s4', approvalOf(parked), 'allow'), { id: 'f2' }),
      send(reply('s4', approvalOf(parked), 'allow'), { id: 'f3' }),
      send(reply('s4', approvalOf(parked), 'deny'), { id: 'f4' }),
    ])
    expect([first, again].map(textOf)).toEqual(['told: allow', 'told: allow'])
    const refused = { status: 400, response: { status: 'error', error: { code: 'invalid_request' } } }
    expect(other).toMatchObject(refused)
    expect(textOf(await send(reply('s4', approvalOf(parked), 'allow'), { id: 'f5' }))).toBe('told: allow')
    expect(await send(reply('s4', approvalOf(parked), 'deny'), { id: 'f6' })).toMatchObject(refused)
  })

  test('is told of an answer once, also by an agent that confirms it, and whose answer may be said again', async () => {
    const agent = 'confirming'
    const approval = approvalOf(await send({ session_id: 's9', user_intent: 'ask' }, { agent, id: 'c1' }))
    for (const id of ['c2', 'c3']) {
      expect(textOf(await send(reply('s9', approval, 'allow'), { agent, id }))).toBe('Answered: go')
    }
    const headers = { accept: 'application/x-ndjson' }
    const events = await fetch(`${gateway.url}/v1/turns/${approval.continuation.run_id}/events`, { headers })
    const settled = (await events.text()).split('\n').filter((line) => line.includes('"ask-settled"'))
    expect(settled.map((line) => JSON.parse(line))).toMatchObject([{ ask: 'a1', by: 'client local', option: 'go' }])
  })

  test('asks again when the answer is none of the options; the token of the first question goes on to the second', async () => {
    const parked = await send({ session_id: 's6', user_intent: 'hi' }, { id: 'o1' })
    const approval = approvalOf(parked)
    const odd = { session_id: 's6', user_intent: 'perhaps', continuation: approval.continuation }
    const again = approvalOf(await send(odd, { id: 'o2' }))
    expect({ ...again, continuation: undefined }).toEqual({ ...approval, continuation: undefined })
    expect(again.continuation.continuation_token).not.toBe(approval.continuation.continuation_token)
    expect(approvalOf(await send(odd, { id: 'o3' })).continuation).toEqual(again.continuation)
    expect(textOf(await send(reply('s6', again, 'deny'), { id: 'o4' }))).toBe('told: deny')
    expect(textOf(await send(reply('s6', again, 'deny'), { id: 'o5' }))).toBe('told: deny')
    // Whoever answers twice under the first token was asked again too, and has the same rest.
    expect(textOf(await send(reply('s6', approval, 'deny'), { id: 'o6' }))).toBe('told: deny')
  })

  test('asks again in its session without a token, and takes the id of an option there', async () => {
    const first = approvalOf(await send({ session_id: 's7', user_intent: 'hi' }, { id: 'p1' }))
    const again = approvalOf(await send({ session_id: 's7', user_intent: 'what?' }, { id: 'p2' }))
    expect(again.continuation.run_id).toBe(first.continuation.run_id)
    expect(textOf(await send({ session_id: 's7', user_intent: ' allow ' }, { id: 'p3' }))).toBe('told: allow')
    const next = approvalOf(await send({ session_id: 's7', user_intent: 'allow' }, { id: 'p4' }))
    expect(next.continuation.run_id).not.toBe(first.continuation.run_id)
    expect(textOf(await send(reply('s7', next, 'deny'), { id: 'p5' }))).toBe('told: deny')
  })

  const HOUR = 3_600_000
  test.each<[string, string, { options?: object; deadline?: number }, (startedAt: number) => number]>([
    ['the whole turn', 'bounded', {}, (startedAt) => startedAt + HOUR],
    ['the question', 'asking', {}, (startedAt) => startedAt + HOUR],
    ['the turn, as its client has it', 'asking', { options: { totalMs: 60_000 } }, (startedAt) => startedAt + 60_000],
    ['the question, as its agent has it', 'bounded', { deadline: Date.now() + HOUR / 2 }, () => Date.now()],
    ['the turn, which its agent does not know', 'bounded', { deadline: Date.now() + 3 * HOUR }, (at) => at + HOUR],
  ])('tells its client the earliest limit that holds: %s', async (_, agent, { options, deadline }, limit) => {
    const question = { kind: 'approval', name: 'rm', args: {}, options: [{ id: 'yes', kind: 'allow', scope: 'once' }] }
    const asks = [{ type: 'ask', ask: 'a1', question, ...(deadline && { deadline }) }]
    const post = async (accept: string): Promise<string> => {
      const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ input: JSON.stringify([asks, [{ type: 'turn-end', outcome: 'completed' }]]), options }),
      })
      const [running] = gateway.engine.turns
      if (accept === 'application/x-ndjson') {
        await until(() => running!.view.asks.length === 1)
        running!.cancel()
      }
      return response.text()
    }
    const parked = JSON.parse(await post('application/json')) as {
      startedAt: number
      deadline: number
      asks: { deadline: number }[]
    }
    for (const turn of gateway.engine.turns) turn.cancel()
    await until(() => gateway.engine.turns.length === 0)
    expect(parked.asks.map((ask) => ask.deadline)).toEqual([parked.deadline])
    const isAgents = deadline !== undefined && deadline < parked.startedAt + HOUR
    if (isAgents) expect(parked.deadline).toBe(deadline)
    // The question came a moment after the turn.
    else expect(Math.abs(parked.deadline - limit(parked.startedAt))).toBeLessThan(30_000)
    const streamed = await post('application/x-ndjson')
    const asked = streamed.split('\n').filter((line) => line.includes('"type":"ask",'))
    const told = (JSON.parse(asked[0]!) as { deadline?: number }).deadline
    if (deadline === undefined) expect(told).toBeUndefined()
    else expect(told! <= deadline && told! <= Date.now() + HOUR).toBe(true)
  })

  test('is not found under another token', async () => {
    const parked = await send({ session_id: 's5', user_intent: 'hi' }, { id: 'g1' })
    const approval = approvalOf(parked)
    const forged = { ...approval.continuation, continuation_token: `${approval.continuation.continuation_token}x` }
    const answer = await send(reply('s5', { ...approval, continuation: forged }, 'allow'), { id: 'g2' })
    expect(answer).toMatchObject({ status: 404, response: { status: 'error', error: { code: 'not_found' } } })
    await send(reply('s5', approval, 'deny'), { id: 'g3' })
    await until(() => gateway.engine.turns.length === 0)
  })
})
