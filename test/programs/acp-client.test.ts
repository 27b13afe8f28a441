import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'
import { type Any, type Connected, connect, SDK } from './acp-connection.ts'
import { AGENTS, describeWith, installed, makePlace, type Place } from './kit.ts'

/**
 * The official SDK of the Agent Client Protocol as an editor uses it, unmodified, in front of agents of other protocols.
 * Every message that it is sent is as the schema of the protocol says.
 */
const PROTOCOL = 1
const CLEAN = { code: 0, wrong: [] }

describeWith('a client by the SDK of the Agent Client Protocol', [installed(SDK)], () => {
  const own = join(import.meta.dirname, 'agents/acp-agent.mjs')
  const KIT = join(ROOT, 'test/kit/agents')
  /** A server of OpenHarness agents: one that answers, one that says nothing. */
  let far: TestGateway
  let place: Place
  beforeAll(async () => {
    far = await startGateway(`default: helper
agents:${EXAMPLE_AGENTS}
  silent: { protocol: agentproc, command: ${KIT}/silent.sh, args: ["7218"] }
`)
    place = makePlace(
      `${AGENTS}
  sdk: { protocol: acp, command: ${process.execPath}, args: [${own}, ${installed(SDK)}], clientMcpServers: true }
  patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] }
  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }
  stuck: { protocol: openharness, url: "${far.url}/v1/openharness/silent" }
`,
      '7219',
    )
  })
  afterAll(async () => {
    place.remove()
    await far.close()
  })

  const greet = async (agent: string, choose?: (request: Any) => string | undefined): Promise<Connected> => {
    const client = await connect(place.config, agent, choose && { choose })
    const greeting = await client.agent.request('initialize', { protocolVersion: PROTOCOL, clientCapabilities: {} })
    expect(greeting).toMatchObject({ protocolVersion: PROTOCOL, agentInfo: { title: `${agent} (Turnpike)` } })
    return client
  }
  const open = async ({ agent }: Connected): Promise<string> =>
    (await agent.request('session/new', { cwd: place.folder, mcpServers: [] })).sessionId
  const ask = ({ agent }: Connected, sessionId: string, text: string): Promise<Any> =>
    agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })

  test.each(['helper', 'coder', 'writer', 'planner', 'engine'])(
    'has turns with %s, and finds them again',
    async (agent) => {
      const client = await greet(agent)
      const session = await open(client)
      expect(await ask(client, session, 'first')).toMatchObject({ stopReason: 'end_turn' })
      expect(client.text(session)).toContain('first')
      expect(await ask(client, session, 'second')).toMatchObject({ stopReason: 'end_turn' })
      const { sessions } = await client.agent.request('session/list', { cwd: place.folder })
      expect(sessions).toMatchObject([{ sessionId: session, cwd: place.folder, title: 'first' }])
      expect(await client.close()).toEqual(CLEAN)

      const again = await greet(agent)
      await again.agent.request('session/load', { sessionId: session, cwd: place.folder, mcpServers: [] })
      const replayed = again.updates.map(({ update }) => update.content?.text)
      expect(replayed).toContain('first')
      expect(replayed).toContain('second')
      expect(again.text(session)).toBe(client.text(session))
      expect(await ask(again, session, 'third')).toMatchObject({ stopReason: 'end_turn' })
      await again.agent.request('session/delete', { sessionId: session })
      expect(await again.agent.request('session/list', {})).toEqual({ sessions: [] })
      await expect(ask(again, session, 'fourth')).rejects.toMatchObject({ code: -32002 })
      expect(await again.close()).toEqual(CLEAN)
    },
  )

  test('resumes a session without a replay, and closes it', async () => {
    const client = await greet('coder')
    const session = await open(client)
    await ask(client, session, 'one')
    await client.close()
    const again = await greet('coder')
    expect(await again.agent.request('session/resume', { sessionId: session, cwd: place.folder })).toBeDefined()
    expect(again.updates).toEqual([])
    await ask(again, session, 'two')
    expect(again.text(session)).toContain('two')
    expect(await again.agent.request('session/close', { sessionId: session })).toEqual({})
    expect(await again.close()).toEqual(CLEAN)
  })

  test.each(['silent', 'patient', 'stuck'])('cancels a turn of %s', async (agent) => {
    const client = await greet(agent)
    const session = await open(client)
    const answer = ask(client, session, 'wait')
    await client.agent.notify('session/cancel', { sessionId: session })
    expect(await answer).toMatchObject({ stopReason: 'cancelled' })
    expect(await client.close()).toEqual(CLEAN)
  })

  test('takes its turn along when it goes', async () => {
    const client = await greet('silent')
    const session = await open(client)
    const answer = ask(client, session, 'wait')
    // It is answered behind the prompt.
    await client.agent.request('session/list', {})
    const closed = client.close()
    expect(await answer).toMatchObject({ stopReason: 'cancelled' })
    expect(await closed).toEqual(CLEAN)
  })

  test.each([
    ['allow', 'told: allow'],
    ['deny', 'told: deny'],
  ])('answers an approval with %s', async (kind, text) => {
    const asked: Any[] = []
    const client = await greet('careful', (request) => {
      asked.push(request)
      const wanted = kind === 'allow' ? 'allow_once' : 'reject_once'
      return request.options.find((option: Any) => option.kind === wanted).optionId
    })
    const session = await open(client)
    expect(await ask(client, session, 'go')).toMatchObject({ stopReason: 'end_turn' })
    expect(client.text(session)).toBe(text)
    expect(asked).toMatchObject([{ sessionId: session, toolCall: { title: 'rm', rawInput: { path: '/tmp/x' } } }])
    expect(await client.close()).toEqual(CLEAN)
  })

  test('gives up a question', async () => {
    const client = await greet('careful', () => undefined)
    const session = await open(client)
    await ask(client, session, 'go')
    expect(client.text(session)).toBe('told: deny')
    expect(await client.close()).toEqual(CLEAN)
  })

  test('has turns in two sessions at once', async () => {
    const client = await greet('coder')
    const [one, two] = [await open(client), await open(client)]
    await Promise.all([ask(client, one, 'apple'), ask(client, two, 'pear')])
    expect([client.text(one), client.text(two)]).toEqual([
      expect.stringContaining('apple'),
      expect.stringContaining('pear'),
    ])
    expect(await client.close()).toEqual(CLEAN)
  })

  describe('of an agent by the same SDK', () => {
    test('has its modes, options and commands, and all that it shows', async () => {
      const client = await greet('sdk', ({ options }) => options[0].optionId)
      const servers = [{ name: 'files', command: 'files', args: ['-v'], env: [] }]
      const opened = await client.agent.request('session/new', { cwd: place.folder, mcpServers: servers })
      const { sessionId } = opened
      expect(opened).toMatchObject({
        modes: { currentModeId: 'ask' },
        configOptions: [{ id: 'tone', currentValue: 'dry' }],
      })
      await client.agent.request('session/set_mode', { sessionId, modeId: 'act' })
      const set = { sessionId, configId: 'tone', value: 'warm' }
      const { configOptions } = await client.agent.request('session/set_config_option', set)
      expect(configOptions).toMatchObject([{ id: 'tone', currentValue: 'warm' }])
      const prompt = [
        { type: 'text', text: 'Go' },
        { type: 'image', data: 'QUFB', mimeType: 'image/png' },
      ]
      expect(await client.agent.request('session/prompt', { sessionId, prompt })).toMatchObject({
        stopReason: 'end_turn',
      })
      expect(JSON.parse(client.text(sessionId))).toEqual({
        outcome: 'go',
        blocks: ['text', 'image'],
        mode: 'act',
        tone: 'warm',
        cwd: place.folder,
        servers: ['files'],
      })
      const kinds = client.updates.map(({ update }) => update.sessionUpdate)
      expect(kinds).toEqual(expect.arrayContaining(['available_commands_update', 'plan', 'tool_call', 'usage_update']))
      const tools = client.updates.flatMap(({ update }) => (update.toolCallId === '1.c1' ? [update] : []))
      const diff = { type: 'diff', path: '/project/a.ts', oldText: 'teh', newText: 'the' }
      expect(tools[0]).toMatchObject({
        title: 'List files',
        kind: 'execute',
        locations: [{ path: '/project/a.ts', line: 3 }],
      })
      expect(tools.at(-1)).toMatchObject({ status: 'completed', content: [{ content: { text: 'a.ts' } }, diff] })
      expect(await client.close()).toEqual(CLEAN)
    })

    test('cancels it in its own way', async () => {
      const client = await greet('sdk')
      const sessionId = await open(client)
      const answer = ask(client, sessionId, 'wait')
      await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_thought_chunk')
      await client.agent.notify('session/cancel', { sessionId })
      expect(await answer).toMatchObject({ stopReason: 'cancelled' })
      expect(await client.close()).toEqual(CLEAN)
    })
  })

  test('is told of a failure', async () => {
    const client = await greet('failing')
    const session = await open(client)
    await expect(ask(client, session, 'go')).rejects.toMatchObject({ code: -32603, data: { retryable: false } })
    await expect(client.agent.request('_mine/thing', {})).rejects.toMatchObject({ code: -32601 })
    expect(await client.close()).toEqual(CLEAN)
  })
})
