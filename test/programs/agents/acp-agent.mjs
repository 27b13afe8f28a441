// An agent by the SDK of the Agent Client Protocol, whose file is the argument. Each prompt has a plan, a command that
// needs a permission, and an answer that says what was allowed and which settings hold. "wait" waits to be cancelled.
import { Readable, Writable } from 'node:stream'

const { agent, ndJsonStream } = await import(process.argv[2])
const settings = { mode: 'ask', tone: 'dry' }
let sessions = 0
let cancelled = () => {}

const modes = () => ({ currentModeId: settings.mode, availableModes: ['ask', 'act'].map((id) => ({ id, name: id })) })
const options = () => [
  {
    id: 'tone',
    name: 'Tone',
    type: 'select',
    currentValue: settings.tone,
    options: ['dry', 'warm'].map((value) => ({ value, name: value })),
  },
]

agent({ name: 'test' })
  .onRequest('initialize', () => ({
    protocolVersion: 1,
    agentCapabilities: { promptCapabilities: { image: true }, sessionCapabilities: { additionalDirectories: {} } },
    authMethods: [],
  }))
  .onRequest('session/new', ({ params, client }) => {
    sessions += 1
    const sessionId = `own-${sessions}`
    settings.cwd = params.cwd
    settings.servers = params.mcpServers.map(({ name }) => name)
    const update = {
      sessionUpdate: 'available_commands_update',
      availableCommands: [{ name: 'init', description: 'Begins' }],
    }
    setImmediate(() => client.notify('session/update', { sessionId, update }))
    return { sessionId, modes: modes(), configOptions: options() }
  })
  .onRequest('session/set_mode', ({ params }) => {
    settings.mode = params.modeId
    return {}
  })
  .onRequest('session/set_config_option', ({ params }) => {
    settings.tone = params.value
    return { configOptions: options() }
  })
  .onNotification('session/cancel', () => cancelled())
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId, prompt } = params
    const update = (sessionUpdate, more) =>
      client.notify('session/update', { sessionId, update: { sessionUpdate, ...more } })
    if (prompt[0].text === 'wait') {
      await new Promise((resolve) => {
        cancelled = resolve
        void update('agent_thought_chunk', { content: { type: 'text', text: 'Waiting.' } })
      })
      return { stopReason: 'cancelled' }
    }
    await update('plan', { entries: [{ content: 'Run it', priority: 'high', status: 'in_progress' }] })
    const call = { toolCallId: 'c1', title: 'List files', kind: 'execute', status: 'pending', rawInput: { cmd: 'ls' } }
    await update('tool_call', { ...call, locations: [{ path: '/project/a.ts', line: 3 }] })
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      toolCall: call,
      options: [
        { optionId: 'go', name: 'Go on', kind: 'allow_once' },
        { optionId: 'no', name: 'Stop', kind: 'reject_once' },
      ],
    })
    await update('tool_call_update', {
      toolCallId: 'c1',
      status: 'completed',
      content: [
        { type: 'content', content: { type: 'text', text: 'a.ts' } },
        { type: 'diff', path: '/project/a.ts', oldText: 'teh', newText: 'the' },
      ],
    })
    await update('usage_update', { used: 10, size: 100 })
    const said = { outcome: outcome.optionId ?? outcome.outcome, blocks: prompt.map(({ type }) => type), ...settings }
    await update('agent_message_chunk', { content: { type: 'text', text: JSON.stringify(said) } })
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
