import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runTurnpike } from '../kit/clients.ts'
import { AGENTS, TURNPIKE } from '../kit/gateway.ts'

/** A folder whose name is several words of a shell. */
const folder = join(mkdtempSync(join(tmpdir(), 'turnpike-next-')), 'of mine')
const file = join(folder, 'gateway.yaml')
const HELPER = `agents: { helper: { protocol: agentproc, command: ${AGENTS}/helper.sh, args: [] } }\n`
const REQUEST = '{"request_id":"r1","session_id":"s1","prompt":"hi"}\n'
const taken = createServer()
let port = 0

beforeAll(async () => {
  mkdirSync(folder)
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  port = (taken.address() as { port: number }).port
})
afterAll(() => {
  taken.close()
  rmSync(join(folder, '..'), { recursive: true, force: true })
})

const blocked = (): string => `${HELPER}store: { path: ./gateway.yaml/t.db }\n`

describe('a command that a message says to type next is about the same configuration', () => {
  test.each<[string, string[], () => string | undefined, string, string?]>([
    ['the address is taken', ['serve'], () => `${HELPER}server: { port: ${port} }\n`, 'serve CONFIG --port'],
    ['the file is there already', ['init'], () => HELPER, 'init --force CONFIG'],
    ['the file is written', ['init'], () => undefined, 'check CONFIG\n  turnpike serve CONFIG\n'],
    ['the file is missing', ['check'], () => undefined, 'init CONFIG\n'],
    ['the file is wrong', ['check'], () => 'agent: {}\n', 'check --fix-hints CONFIG\n'],
    ['no gateway runs', ['tail'], () => HELPER, 'serve CONFIG\n'],
    [
      'there are no tables',
      ['store', 'check'],
      () => `${HELPER}store: { path: ./none.db }\n`,
      'serve CONFIG or turnpike store migrate CONFIG creates',
    ],
    [
      'a client finds a wrong file',
      ['as', 'zene'],
      () => 'agent: {}\n',
      'run \\"turnpike check CONFIG\\" to see why',
      REQUEST,
    ],
    ['a client finds no store', ['as', 'zene'], blocked, 'run \\"turnpike store migrate CONFIG\\" to see why', REQUEST],
    [
      'a program is missing',
      ['check'],
      () => 'agents: { a: { protocol: zot, command: no-such } }\n',
      'run turnpike check CONFIG again',
    ],
  ])('%s', async (_, args, text, next, input = '') => {
    rmSync(file, { force: true })
    const written = text()
    if (written !== undefined) writeFileSync(file, written)
    const { stdout, stderr } = await runTurnpike([...args, '--config', file], input, { PATH: join(folder, 'none') })
    expect(`${stdout}${stderr}`.replaceAll(/node \S+\/turnpike\.cjs/g, 'turnpike')).toContain(
      next.replaceAll('CONFIG', `--config '${file}'`),
    )
  })

  test('the store says the same as the client was told to type', async () => {
    writeFileSync(file, blocked())
    const { code, stderr } = await runTurnpike(['store', 'migrate', '--config', file], '')
    expect([code, stderr]).toEqual([3, expect.stringContaining('cannot be created in its folder (EEXIST)')])
  })

  test('TURNPIKE_CONFIG names it for all of them, also for the one that writes it', () => {
    const other = join(folder, 'other.yaml')
    const run = (...args: string[]): string => {
      const env = { ...process.env, TURNPIKE_CONFIG: other, PATH: join(folder, 'none') }
      const { stdout, stderr } = spawnSync(process.execPath, [TURNPIKE, ...args], {
        cwd: folder,
        env,
        encoding: 'utf8',
      })
      return `${stdout}${stderr}`.replaceAll(/node \S+\/turnpike\.cjs/g, 'turnpike')
    }
    expect(run('check')).toMatch(/To write one: turnpike init\n$/)
    expect(run('init')).toContain(`Wrote ${other}.\nTry:\n  turnpike check\n  turnpike serve\n`)
    expect(run('tail')).toMatch(/start it: turnpike serve\n$/)
  })

  test('an option without a value is none', async () => {
    const { code, stderr } = await runTurnpike(['check', '--config', ''], '')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--config needs a value')])
  })
})
