import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askHttp } from '../../kit/clients.ts'
import { AGENTS, ROOT, startGateway } from '../../kit/gateway.ts'

test('the example configuration of agents is right, and starts each as its program wants it', async () => {
  const gateway = await startGateway(readFileSync(join(ROOT, 'examples/acp.yaml'), 'utf8'))
  const started = [...gateway.config.agents.values()].map(({ protocol, command, args = [], options }) => {
    const { mode } = options as { mode?: string }
    return [protocol, command, ...args, ...(mode === undefined ? [] : [`mode ${mode}`])].join(' ')
  })
  await gateway.close()
  expect(started).toEqual([
    'acp gemini --acp --skip-trust',
    'acp opencode acp',
    'acp qwen --acp mode default',
    'acp goose acp',
    'acp copilot --acp',
    'acp claude-agent-acp mode default',
    'acp codex-acp mode read-only',
  ])
})

test('the example agent has turns of one session, and does what is allowed', async () => {
  const agent = `{ protocol: acp, command: ${process.execPath}, args: [${AGENTS}/reviewer.mjs] }`
  const gateway = await startGateway(`agents: { free: ${agent}, bound: ${agent} }
default: free
routes: [{ when: { agent: bound }, agent: bound, approvals: deny }, { agent: free, approvals: allow }]
`)
  const ask = async (agent: string, text: string) =>
    (await askHttp(gateway.url, 'zene', { text, agent, session: 's', id: `${agent}-${text}` })).text
  const said = [await ask('free', 'hello'), await ask('free', '/time'), await ask('bound', '/time')]
  await gateway.close()
  expect(said).toEqual([
    'You said: hello (turn 1 of this session)',
    expect.stringMatching(/^It is \d{4}-\d\d-\d\dT[\d:.]+Z \(turn 2 of this session\)$/),
    'I may not look at the clock (turn 1 of this session)',
  ])
})
