import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, type ClientName, clientOf } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const AGENT = new URL('../kit/agents/codex.mjs', import.meta.url).pathname

describe('an app-server of Codex', () => {
  let gateway: TestGateway
  const agent = (name: string): string =>
    `${name}: { protocol: codex, command: ${process.execPath}, args: [${AGENT}, ${name}], env: { THREADS: "\${TEST_FOLDER}/${name}" } }`

  beforeAll(async () => {
    gateway = await startGateway(`
default: willing
agents:
  ${agent('willing')}
  ${agent('careful')}
  ${agent('mortal')}
routes:
  - { when: { agent: careful }, agent: careful, approvals: deny }
  - { when: { agent: mortal }, agent: mortal }
  - { agent: willing, approvals: allow }
`)
  })
  afterAll(() => gateway.close())

  const ask = (door: ClientName, text: string, session: string, name = 'willing') =>
    askHttp(gateway.url, door, { text, session, agent: name, id: `${door}-${session}-${text}` })

  test.each(['native', 'zene', 'openai'] as const)(
    'serves two turns of one session for %s, each with its own tokens',
    async (door: ClientName) => {
      const session = `two-${door}`
      expect(await ask(door, 'hello', session)).toMatchObject({ ok: true, text: 'You said: hello (turn 1)' })
      const second = await ask(door, 'again', session)
      expect(second).toMatchObject({ ok: true, text: 'You said: again (turn 2)' })
      expect(clientOf(door).tokens?.(second.raw) ?? [10, 1]).toEqual([10, 1])
    },
  )

  test('runs a command when the policy allows it, and only then', async () => {
    expect((await ask('zene', 'ask ls', 'allowed')).text).toBe('The command was completed.')
    expect((await ask('zene', 'ask ls', 'denied', 'careful')).text).toBe('The command was declined.')
  })

  test('asks a client that can be asked, and goes on with its answer', async () => {
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await response.json()) as Record<string, unknown>
    }
    const parked = await post('/v1/turns', { input: 'ask ls', session: { id: 'asked' } })
    expect(parked).toMatchObject({ outcome: 'parked', asks: [{ question: { kind: 'approval', name: 'shell' } }] })
    const target = { continuation: parked['continuation'] }
    const reply = { kind: 'approval', option: 'decline' }
    expect(await post('/v1/turns', { type: 'ask-reply', target, at: 0, reply })).toMatchObject({
      outcome: 'completed',
      text: 'The command was declined.',
      tools: [{ name: 'shell', status: 'denied' }],
    })
  })

  test('lets the client of a model run its own tools', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }]
    const post = async (messages: object[]): Promise<{ choices: { message: Record<string, unknown> }[] }> => {
      const headers = { 'content-type': 'application/json', 'turnpike-session': 'tools' }
      const body = JSON.stringify({ model: 'willing', messages, tools })
      const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
      return (await response.json()) as { choices: { message: Record<string, unknown> }[] }
    }
    const prompt = { role: 'user', content: 'tool weather Bonn' }
    const called = (await post([prompt])).choices[0]!.message
    const [call] = called['tool_calls'] as { id: string; function: object }[]
    expect(call!.function).toEqual({ name: 'weather', arguments: '{"of":"Bonn"}' })
    const result = { role: 'tool', tool_call_id: call!.id, content: 'sunny' }
    expect((await post([prompt, called, result])).choices[0]!.message['content']).toBe('The tool said sunny.')
  })

  test('is interrupted by a cancel, and goes on', async () => {
    const waiting = ask('zene', 'wait', 'cancel')
    await until(() => gateway.engine.turns.length === 1 && gateway.engine.turns[0]!.view.messages.length === 1)
    for (const turn of gateway.engine.turns) turn.cancel()
    expect(await waiting).toMatchObject({ ok: false })
    expect((await ask('zene', 'again', 'cancel')).text).toBe('You said: again (turn 2)')
  })

  test('goes on with a session after its process was killed', async () => {
    await ask('zene', 'one', 'killed', 'mortal')
    for (const pid of pidsOf(`${AGENT}\0mortal`)) process.kill(pid, 'SIGKILL')
    await until(() => gateway.logged.some((line) => line.startsWith('an agent failed') && line.includes('"mortal"')))
    expect((await ask('zene', 'two', 'killed', 'mortal')).text).toBe('You said: two (turn 2)')
  })

  test('tells the error of its model', async () => {
    const failed = await ask('native', 'fail', 'failing')
    expect(clientOf('native').failure(failed.raw)).toBe('provider-rate-limit')
  })
})
