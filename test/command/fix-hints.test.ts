import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runTurnpike } from '../kit/clients.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-hints-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'turnpike.yaml')

/** The errors of a file, without its name. */
async function hints(yaml: string, ...args: string[]): Promise<{ code: number; lines: string[] }> {
  writeFileSync(file, yaml)
  const { code, stdout, stderr } = await runTurnpike(['check', '--config', file, ...args], '')
  expect(stdout).toBe('')
  return { code: code!, lines: stderr.replaceAll(`${file}:`, '').trimEnd().split('\n') }
}

const WRONG = `server: { prot: 1, port: many, limits: { body: soon } }
agents:
  a: { protocol: zott, command: zot }
  b: { protocol: agentproc, command: x, stdn: none }
routes: [{ agent: a, journal: wirre, secret: hunter22 }]
`

test('every error comes with what to write instead, and nothing of the file', async () => {
  const { code, lines } = await hints(WRONG, '--fix-hints')
  expect(code).toBe(3)
  expect(lines.filter((line) => line.startsWith('  fix: '))).toEqual([
    '  fix: in line 1 write "port" for "prot"',
    '  fix: 0 means any free port, which serve prints. Value: 0 to 65535; default 8484.',
    '  fix: Time limit for a whole body, or for the first line of a body in lines. Value: time; default 2m.',
    '  fix: in line 3 write zot',
    '  fix: in line 4 write "stdin" for "stdn"',
    '  fix: in line 5 write wire',
    '  fix: in line 5 write "secrets" for "secret"',
  ])
  expect(lines.join('\n')).not.toContain('hunter22')
  const without = await hints(WRONG)
  expect([without.code, without.lines.some((line) => line.includes('fix:'))]).toEqual([3, false])
})

test('a file without errors is printed as ever; other arguments are refused', async () => {
  writeFileSync(file, 'agents: {}\n')
  expect(await runTurnpike(['check', '--config', file, '--fix-hints'], '')).toMatchObject({ code: 0 })
  expect(await runTurnpike(['check', '--fix-hint'], '')).toMatchObject({ code: 2 })
})
