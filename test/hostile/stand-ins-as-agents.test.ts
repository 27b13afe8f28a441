import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { hostileAgentRules } from '../../src/conformance/index.ts'
import { suiteOf } from '../kit/conformance.ts'
import { EXAMPLE_AGENTS, ROOT, startGateway, type TestGateway, TURNPIKE } from '../kit/gateway.ts'
import { hostileAgentOutcome } from '../kit/hostile.ts'

/** The hostile kit that users have, on our own stand-ins. Each behaviour is tried on one of them, turn about; `EVERY=1` tries all. */
const EVERY = process.env['EVERY'] === '1'
const FORMATS = ['--input-format', 'stream-json', '--output-format', 'stream-json']
const STAND_INS: Readonly<Record<string, readonly string[]>> = {
  native: ['native'],
  zene: ['zene', 'host', '--protocol', 'v1', '--bridge-compat', '--single-request'],
  'zene@stream': ['zene', 'host', '--protocol', 'v1', '--single-request', 'false'],
  zot: ['zot', 'rpc'],
  agentproc: ['agentproc'],
  'agentproc@0.4': ['agentproc'],
  openharness: ['openharness'],
  qwen: ['qwen', ...FORMATS],
  'qwen-code': ['qwen-code', ...FORMATS, '--include-partial-messages'],
  acp: ['acp'],
}

/** A line of no kind that the RFC knows ends the process, with an error that says so. */
const REFUSED: readonly string[] = ['qwen unknown-messages-and-fields']

vi.setConfig({ maxConcurrency: 3, testTimeout: 60_000 })
const names = Object.keys(STAND_INS)
const cells = (
  await Promise.all(
    names.map(async (protocol, at) => {
      const rules = hostileAgentRules(await suiteOf(protocol))
      return rules.flatMap(({ name }, row) =>
        EVERY || row % names.length === at || rules.length < names.length ? [[protocol, name] as const] : [],
      )
    }),
  )
).flat()

describe('our stand-ins, as the agent of a client that misbehaves', { concurrent: true }, () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(`default: coder\nagents:${EXAMPLE_AGENTS}`)
  })
  afterAll(() => gateway.close())

  test.for(cells)('%s: %s', async ([protocol, name], { expect }) => {
    const program = [process.execPath, TURNPIKE]
    const args = [`TURNPIKE_URL=${gateway.url}`, ...program, 'as', ...STAND_INS[protocol]!]
    const target = { command: '/usr/bin/env', args, cwd: ROOT }
    const found = await hostileAgentOutcome(protocol, name, target)
    expect(found.split(':')[0]).toBe(REFUSED.includes(`${protocol} ${name}`) ? 'warning' : 'passed')
  })
})
