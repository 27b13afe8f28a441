import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, clientNames } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const AGENT = new URL('../kit/agents/leaks.mjs', import.meta.url).pathname
const SECRETS = ['sk-literal-1234', 'tok-literal-5678', 'env-secret-9012']

describe('secrets that the configuration gave an agent', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    process.env['LEAK_TEST'] = SECRETS[2]
    gateway = await startGateway(`
default: leaks
agents:
  leaks:
    protocol: agentproc
    command: ${process.execPath}
    args: [${AGENT}, --api-key, ${SECRETS[0]}]
    env: { MY_TOKEN: ${SECRETS[1]}, PLAIN: "\${LEAK_TEST}" }
`)
  })
  afterAll(async () => {
    delete process.env['LEAK_TEST']
    await gateway.close()
  })

  test.each(clientNames)('are not in the error that a %s client is told', async (name) => {
    const { raw, ok } = await askHttp(gateway.url, name, { text: 'hi', session: '', id: `leak-${name}` })
    expect(ok).toBe(false)
    for (const secret of SECRETS) expect(raw).not.toContain(secret)
    // What is left says what the agent said.
    expect(raw).toContain('denied for key *** and *** and ')
  })

  test('are not in the log or the store either', async () => {
    await until(() => gateway.engine.turns.length === 0)
    const bytes = ['turnpike.db', 'turnpike.db-wal'].map((file) => readFileSync(join(gateway.folder, file)))
    const kept = `${Buffer.concat(bytes)}${gateway.logged.join('\n')}`
    for (const secret of SECRETS) expect(kept).not.toContain(secret)
  })
})
