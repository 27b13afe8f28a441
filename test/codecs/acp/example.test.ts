import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, startGateway } from '../../kit/gateway.ts'

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
