import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLE_AGENTS, LAUNCHER, ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'

/** A stand-in for the real bridge, with its rules for what it accepts. */
const BRIDGE = join(ROOT, 'test/kit/clawbridge.mjs')

interface Verdict {
  status: number
  body: { text?: string; error?: string }
  attempts: number
}

describe('clawbridge accepts the Zene stand-in on every agent in one attempt', () => {
  let far: TestGateway
  let folder: string
  let config: string

  beforeAll(async () => {
    far = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
    folder = mkdtempSync(join(tmpdir(), 'turnpike-bridge-'))
    config = join(folder, 'turnpike.yaml')
    const engine = `  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }\n`
    writeFileSync(config, `default: helper\nagents:${EXAMPLE_AGENTS}${engine}store: { kind: sqlite, path: ./t.db }\n`)
  })
  afterAll(async () => {
    await far.close()
    rmSync(folder, { recursive: true, force: true })
  })

  function bridge(agent: string, prompt: string): Promise<Verdict> {
    const own = ['host', '--protocol', 'v1', '--bridge-compat', '--single-request']
    const turnpike = [LAUNCHER, 'as', 'zene', '--config', config, '--agent', agent, ...own]
    return new Promise((resolve, reject) => {
      execFile(process.execPath, [BRIDGE, '--prompt', prompt, '--', ...turnpike], (_error, stdout) => {
        try {
          resolve(JSON.parse(stdout) as Verdict)
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  test.each(['helper', 'coder', 'planner', 'engine'])('%s', async (agent) => {
    // The bridge makes its key of the prompt: another agent under one key would be refused.
    const prompt = `What is there to do, ${agent}?`
    const verdict = await bridge(agent, prompt)
    expect(verdict).toMatchObject({ status: 200, attempts: 1 })
    expect(verdict.body.text).toContain(prompt)
  })
})
