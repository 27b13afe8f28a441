import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientNames, httpRequest } from '../kit/clients.ts'
import { AGENTS, EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const KIT = join(import.meta.dirname, '../kit/agents')
const JSON_TYPE = { 'content-type': 'application/json' }

interface Event {
  id: string
  event: string
  data: Record<string, unknown>
}

describe('the native API', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway(`
default: coder
limits: { grace: 300ms }
agents:${EXAMPLE_AGENTS}
  patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] }
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
  other: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/coder.mjs, rpc] }
`)
  })
  afterAll(() => gateway.close())

  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { ...(body !== undefined && JSON_TYPE), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const json = async (response: Response): Promise<Record<string, unknown>> =>
    (await response.json()) as Record<string, unknown>
  const begin = async (body: object): Promise<string> => {
    const response = await call('POST', '/v1/turns', body, { prefer: 'respond-async' })
    expect(response.status).toBe(202)
    const { id } = await json(response)
    expect(response.headers.get('location')).toBe(`/v1/turns/${id}`)
    return String(id)
  }
  /** The events of an SSE answer, as they come. */
  async function* events(path: string, headers: Record<string, string> = {}): AsyncGenerator<Event> {
    const response = await call('GET', path, undefined, headers)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
        const lines = text.slice(0, at).split('\n')
        text = text.slice(at + 2)
        const field = (name: string): string =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ''
        yield { id: field('id'), event: field('event'), data: JSON.parse(field('data')) as Record<string, unknown> }
      }
    }
  }
  const all = async (path: string, headers?: Record<string, string>): Promise<Event[]> => {
    const seen: Event[] = []
    for await (const event of events(path, headers)) seen.push(event)
    return seen
  }

  test('begins a turn in the background, follows it, and resumes behind any event', async () => {
    const turn = await begin({ input: 'hello there', session: { id: 'follow' } })
    const seen = await all(`/v1/turns/${turn}/events`)
    expect(seen.map(({ id }) => Number(id))).toEqual(seen.map((_, index) => index + 1))
    expect(seen[0]!.data).toMatchObject({ type: 'turn-accepted', turn })
    expect(seen.at(-1)!.data).toMatchObject({ type: 'turn-end', turn, outcome: 'completed' })
    const deltas = seen.filter(({ event }) => event === 'text-delta').map(({ data }) => data['text'])
    expect(deltas.join('')).toBe('You said: hello there (turn 1 of this session)')
    for (const last of [1, 3, seen.length - 1]) {
      const rest = await all(`/v1/turns/${turn}/events`, { 'last-event-id': String(last) })
      expect(rest.map(({ id }) => id)).toEqual(seen.slice(last).map(({ id }) => id))
      expect(rest.map(({ event }) => event)).toEqual(seen.slice(last).map(({ event }) => event))
    }
    for (const accept of ['text/event-stream', 'application/x-ndjson']) {
      const headers = { accept, 'last-event-id': String(seen.length) }
      const nothing = await call('GET', `/v1/turns/${turn}/events`, undefined, headers)
      expect([nothing.status, nothing.headers.get('content-type'), await nothing.text()]).toEqual([204, null, ''])
    }
  })

  test.each(clientNames.filter((name) => name !== 'agentproc@0.4'))(
    'follows a turn that a %s client has begun, while it runs and after its end',
    async (name) => {
      const running = new AbortController()
      const own = `by-${name}`
      const { path, ...init } = httpRequest(name, { text: 'wait', session: own, id: own, agent: 'patient' })
      const answer = fetch(`${gateway.url}${path}`, { ...init, signal: running.signal })
      await until(() => gateway.engine.turns.length === 1)
      const turn = gateway.engine.turns[0]!.id
      const seen: Event[] = []
      for await (const event of events(`/v1/turns/${turn}/events`)) {
        seen.push(event)
        if (event.event === 'text-delta') expect((await call('POST', `/v1/turns/${turn}/cancel`)).status).toBe(200)
      }
      expect(seen.at(-1)!.data).toMatchObject({ type: 'turn-end', outcome: 'cancelled' })
      await answer.then((response) => response.text())
      const again = await all(`/v1/turns/${turn}/events`)
      expect(again.map(({ id, event }) => [id, event])).toEqual(seen.map(({ id, event }) => [id, event]))
      expect(await json(await call('GET', `/v1/turns/${turn}`))).toMatchObject({ turn, state: 'cancelled' })
    },
  )

  test('shows a question to every follower; the first answer counts, later and foreign ones are refused', async () => {
    const turn = await begin({ input: 'hi', agent: 'careful', session: { id: 'ask' } })
    const path = `/v1/turns/${turn}/events`
    const replies: number[] = []
    const watch = async (option: string): Promise<Event[]> => {
      const seen: Event[] = []
      for await (const event of events(path)) {
        seen.push(event)
        if (event.event !== 'ask') continue
        const { ask } = event.data as { ask: string }
        const response = await call('POST', `/v1/turns/${turn}/approvals/${ask}`, { option })
        replies.push(response.status)
      }
      return seen
    }
    const [first, second] = await Promise.all([watch('allow'), watch('allow')])
    expect(replies.sort()).toEqual([200, 400])
    expect(first.map(({ id }) => id)).toEqual(second.map(({ id }) => id))
    expect(first.filter(({ event }) => event === 'ask-settled').map(({ data }) => data)).toMatchObject([
      { how: 'answered', by: 'client local' },
    ])
    expect(await json(await call('GET', `/v1/turns/${turn}`))).toMatchObject({
      state: 'completed',
      text: 'told: allow',
    })
    expect((await call('POST', `/v1/turns/${turn}/approvals/p9`, { option: 'allow' })).status).toBe(400)
    expect((await call('POST', `/v1/turns/${turn}/approvals/p1`, {})).status).toBe(400)
  })

  test.each(['openharness', 'native'] as const)(
    'answers a %s client whose turn somebody cancelled with the status of that, not as a success',
    async (name) => {
      const own = `cancelled-${name}`
      const { path, ...init } = httpRequest(name, { text: 'wait', session: own, id: own, agent: 'patient' })
      const cancelled = fetch(`${gateway.url}${path}`, init)
      await until(() => gateway.engine.turns.some((turn) => turn.view.text !== ''))
      const [turn] = gateway.engine.turns
      expect((await call('POST', `/v1/turns/${turn!.id}/cancel`)).status).toBe(200)
      expect((await cancelled).status).toBe(499)
      expect(await json(await call('GET', `/v1/turns/${turn!.id}`))).toMatchObject({
        state: 'cancelled',
        fault: { code: 'cancelled' },
      })
    },
  )

  test('lists turns and sessions, shows a session with its transcript, and deletes it', async () => {
    const done = await json(await call('POST', '/v1/turns', { input: 'keep', session: { id: 'kept' } }))
    expect(done).toMatchObject({ outcome: 'completed', text: 'You said: keep (turn 1 of this session)' })
    const { turns } = (await json(await call('GET', '/v1/turns'))) as { turns: Record<string, unknown>[] }
    expect(turns.find(({ turn }) => turn === done['turn'])).toMatchObject({
      state: 'completed',
      agent: 'coder',
      front: 'native@http',
      session: 'kept',
    })
    const { sessions } = (await json(await call('GET', '/v1/sessions'))) as { sessions: Record<string, unknown>[] }
    const session = sessions.find((one) => one['session'] === 'kept')!
    expect(session).toMatchObject({ agent: 'coder', busy: false, usage: { input: 4, output: 8 } })
    const path = `/v1/sessions/${session['id']}`
    expect(await json(await call('GET', path))).toMatchObject({
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'keep' }] },
        { role: 'assistant', parts: [{ type: 'text', text: done['text'] }] },
      ],
    })
    expect((await call('DELETE', path)).status).toBe(200)
    expect((await call('GET', path)).status).toBe(404)
    expect((await call('GET', `/v1/turns/${done['turn']}`)).status).toBe(404)
    const anew = await json(await call('POST', '/v1/turns', { input: 'anew', session: { id: 'kept' } }))
    expect(anew['text']).toBe('You said: anew (turn 1 of this session)')
  })

  test.each([
    ['GET', '/v1/turns/none', 404],
    ['GET', '/v1/turns/none/events', 404],
    ['POST', '/v1/turns/none/cancel', 400],
    ['GET', '/v1/sessions/none', 404],
    ['DELETE', '/v1/sessions/none', 404],
    ['PUT', '/v1/sessions/none', 405],
  ])('refuses %s %s with %d', async (method, path, status) => {
    expect((await call(method, path)).status).toBe(status)
  })
})
