import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ran } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, LAUNCHER, ROOT, startGateway, type TestGateway } from '../kit/gateway.ts'

const REQUEST = '{"request_id":"r1","session_id":"s1","prompt":"hi"}\n'

function run(program: string, args: readonly string[], input: string, env = process.env): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env })
    const ran: Ran = { stdout: '', stderr: '', code: null }
    child.stdout.on('data', (bytes: Buffer) => {
      ran.stdout += String(bytes)
    })
    child.stderr.on('data', (bytes: Buffer) => {
      ran.stderr += String(bytes)
    })
    child.on('close', (code) => resolve({ ...ran, code }))
    child.stdin.end(input)
  })
}

describe('the built program', () => {
  let far: TestGateway
  let folder: string
  let config: string

  beforeAll(async () => {
    far = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
    folder = mkdtempSync(join(tmpdir(), 'turnpike-launcher-'))
    config = join(folder, 'turnpike.yaml')
    const engine = `  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }\n`
    writeFileSync(config, `default: coder\nagents:${EXAMPLE_AGENTS}${engine}store: { kind: sqlite, path: ./t.db }\n`)
  })
  afterAll(async () => {
    await far.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([
    ['helper', 'Turn 1 of this session. You said:\n> hi'],
    ['coder', 'You said: hi (turn 1 of this session)'],
    ['planner', 'You said: hi (session s1)'],
    ['engine', 'Turn 1 of this session. You said:\n> hi'],
  ])('as zene on %s prints exactly one line', async (agent, text) => {
    const own = ['host', '--protocol', 'v1', '--bridge-compat', '--single-request']
    const ran = await run(LAUNCHER, ['as', 'zene', '--config', config, '--agent', agent, ...own], REQUEST)
    expect(ran).toMatchObject({ stderr: '', code: 0 })
    expect(ran.stdout.split('\n')).toHaveLength(2)
    const answer = JSON.parse(ran.stdout) as { usage: { total_tokens: number } }
    expect(answer).toMatchObject({ ok: true, request_id: 'r1', session_id: 's1', text, error_code: null })
    expect(answer.usage.total_tokens).toBeGreaterThan(0)
  })

  test('is found in the folder that a shell runs it from', async () => {
    const ran = await run('sh', ['-c', 'cd "$0" && sh turnpike.sh --version', join(ROOT, 'src/cli')], '')
    expect(ran).toMatchObject({ stdout: expect.stringMatching(/^turnpike \d/), stderr: '', code: 0 })
  })

  test('through a link named zene it is a zene host, through one named zot a zot', async () => {
    const [zene, zot] = ['zene', 'zot'].map((name) => join(folder, name))
    symlinkSync(LAUNCHER, zene!)
    symlinkSync(LAUNCHER, zot!)
    const asked = await run(zene!, ['--config', config, 'host', '--protocol', 'v1', '--bridge-compat'], REQUEST)
    expect(JSON.parse(asked.stdout)).toMatchObject({ ok: true, text: 'You said: hi (turn 1 of this session)' })
    const prompted = await run(zot!, ['rpc', '--config', config], '{"id":"1","type":"ping"}\n')
    expect(JSON.parse(prompted.stdout)).toEqual({
      type: 'response',
      id: '1',
      command: 'ping',
      success: true,
      data: { pong: true },
    })
  })

  test.skipIf(process.platform !== 'linux')(
    'alone, its first agent has the pipes that the launcher made (Linux)',
    async () => {
      const file = join(folder, 'pipes.yaml')
      // Which other processes the agent's parent has: the reaper may have come, a maker of pipes has not.
      const script =
        '[ -p /dev/stdin ] && [ -p /dev/stdout ] && [ -p /dev/stderr ] && ps -o args= --ppid $PPID | grep -c turnpike[-]pipes'
      writeFileSync(
        file,
        `default: a
agents: { a: { protocol: agentproc, command: /bin/sh, args: [-c, '${script}; echo on pipes'] } }
store: { kind: sqlite, path: ":memory:" }
`,
      )
      const ran = await run(LAUNCHER, ['as', 'agentproc', '--config', file], '', {
        ...process.env,
        AGENT_MESSAGE: 'hi',
      })
      expect(ran.stdout.replace(/^AGENT_SESSION:.*\n/, '')).toBe('0\non pipes\n')
    },
  )

  test('alone it keeps the compiled configuration, without a value of the environment, while nothing changes', async () => {
    const file = join(folder, 'kept.yaml')
    const yaml = (text: string): string => `default: a
agents: { a: { protocol: agentproc, command: /bin/sh, args: [-c, 'echo ${text} "$WORD"'], env: { WORD: "\${TEST_WORD}" } } }
store: { kind: sqlite, path: ./kept.db }
`
    const runtime = mkdtempSync(join(folder, 'runtime-'))
    const ask = async (word: string): Promise<string> => {
      const env = { ...process.env, XDG_RUNTIME_DIR: runtime, TEST_WORD: word }
      const args = ['as', 'zene', '--config', file, 'host', '--protocol', 'v1', '--bridge-compat']
      const { stdout, stderr } = await run(LAUNCHER, args, REQUEST, env)
      return stderr + (JSON.parse(stdout) as { text: string }).text
    }
    writeFileSync(file, yaml('first'))
    expect([await ask('word-one'), await ask('word-two')]).toEqual(['first word-one', 'first word-two'])
    const [name] = readdirSync(join(runtime, 'turnpike'))
    const place = join(runtime, 'turnpike', name!)
    const kept = readFileSync(place, 'utf8')
    expect(kept).not.toMatch(/word-one|word-two/)
    // What it says is what is done, until the file has changed.
    writeFileSync(place, kept.replaceAll('echo first', 'echo kept'))
    expect(await ask('word-three')).toBe('kept word-three')
    writeFileSync(file, yaml('other'))
    expect(await ask('word-four')).toBe('other word-four')
  })

  test('version and check', async () => {
    expect((await run(LAUNCHER, ['version'], '')).stdout).toMatch(/^turnpike \d+\.\d+\.\d+\n$/)
    expect(await run(LAUNCHER, ['check', '--config', config], '')).toMatchObject({ stderr: '', code: 0 })
    writeFileSync(join(folder, 'bad.yaml'), 'agents:\n  a: { protocol: zot, comand: zot }\n')
    const bad = await run(LAUNCHER, ['check', '--config', join(folder, 'bad.yaml')], '')
    expect(bad.code).toBe(3)
    expect(bad.stderr).toContain('bad.yaml:2:23')
    expect(bad.stderr).toContain('did you mean "command"?')
  })

  test('check without a file says that it shows the examples', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    const script = `cd ${empty} && unset TURNPIKE_CONFIG && exec ${LAUNCHER} check`
    const { code, stdout, stderr } = await run('sh', ['-c', script], '')
    expect(code).toBe(0)
    expect(stderr).toMatch(/^warning: there is no turnpike.yaml in this folder, .* \(\/.*\/examples\/default.yaml\)\n$/)
    expect(stdout).toContain('planner')
  })
})
