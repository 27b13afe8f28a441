import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Progress } from '../../src/cli/progress.ts'
import type { AgentTest } from '../../src/conformance/agent.ts'
import type { HostileAgentTest } from '../../src/conformance/hostile-agent.ts'
import { loadSuites, testAgent, testHostileAgent } from '../../src/conformance/index.ts'
import { ROOT } from '../kit/gateway.ts'

/** What a stream gets. */
function stream(isTTY: boolean) {
  const written: string[] = []
  return { isTTY, written, write: (text: string | Uint8Array) => written.push(String(text)) > 0 }
}

describe('progress', () => {
  test('is one line of a terminal, which is cleared at the end', () => {
    const terminal = stream(true)
    const progress = new Progress(terminal)
    progress.step('handshake', 1, 12)
    progress.show('reading')
    progress.end()
    expect(terminal.written).toEqual(['\r\u001b[K1/12 handshake', '\r\u001b[Kreading', '\r\u001b[K'])
  })

  test('is nothing elsewhere', () => {
    const pipe = stream(false)
    const progress = new Progress(pipe)
    progress.step('handshake', 1, 12)
    progress.end()
    expect(pipe.written).toEqual([])
  })
})

describe('a test of an agent tells its progress', () => {
  const program = { command: process.execPath, args: [join(ROOT, 'examples/agents/coder.mjs'), 'rpc'], cwd: ROOT }

  /** What is told while a run of the suite goes on: the number of each step, and of all. */
  async function told(run: (test: AgentTest) => Promise<unknown>): Promise<number[][]> {
    const { suites } = (await loadSuites('zot'))!
    const steps: number[][] = []
    const progress = (_: string, at: number, of: number): void => void steps.push([at, of])
    await run({
      suite: suites['zot'] ?? Object.values(suites)[0]!,
      target: program,
      timeoutMs: 10_000,
      hostEnv: process.env,
      values: {},
      progress,
    })
    return steps
  }

  test('before each scenario', async () => {
    const steps = await told((one) => testAgent({ ...one, only: 'zot.5.2.one-response' }))
    expect(steps.length).toBeGreaterThan(0)
    expect(steps.every(([at, of]) => at! <= of!)).toBe(true)
  })

  test('before each behaviour', async () => {
    const steps = await told((one) => testHostileAgent({ ...one, only: 'answers-well' } as HostileAgentTest))
    expect(steps).toEqual([[1, steps[0]![1]]])
  })
})
