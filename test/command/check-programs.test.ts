import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runTurnpike } from '../kit/clients.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-programs-'))
  mkdirSync(join(folder, 'bin'))
  for (const name of ['there', 'bin/elsewhere', 'plain']) writeFileSync(join(folder, name), '#!/bin/sh\n')
  for (const name of ['there', 'bin/elsewhere']) chmodSync(join(folder, name), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([
  ['a program on the PATH', 'command: sh', undefined],
  ['one that is not', 'command: no-such-agent', 'no-such-agent cannot be started: it is not on the PATH'],
  ['a path from the file', 'command: ./there', undefined],
  ['a path, which is from the file too where the agent has a folder', 'command: ./bin/elsewhere, cwd: bin', undefined],
  ['no such file', 'command: ./gone', 'FOLDER/gone cannot be started: there is no such program'],
  ['a folder', 'command: ./bin', 'FOLDER/bin cannot be started: there is no such program'],
  ['a PATH of its own', `command: elsewhere, env: { PATH: FOLDER/bin }`, undefined],
  [
    'one that is known',
    'command: no/codex',
    'FOLDER/no/codex cannot be started: there is no such program',
    ' (npm install -g @openai/codex@latest)',
  ],
  ['a server', 'url: "http://127.0.0.1:1"', undefined],
])('turnpike check says what agents need that is not there: %s', async (_name, agent, told, how = '') => {
  const protocol = agent.startsWith('url') ? 'openharness' : agent.endsWith('codex') ? 'codex' : 'zot'
  const file = join(folder, 'turnpike.yaml')
  writeFileSync(file, `agents: { a: { protocol: ${protocol}, ${agent.replace('FOLDER', folder)} } }\n`)
  const { code, stderr } = await runTurnpike(['check', '--config', file], '')
  const warning = `warning: agent a: ${told?.replace('FOLDER', folder)}; install it${how}, or correct agents.a.command, then run turnpike check --config ${file} again\n`
  expect([code, stderr]).toEqual([0, told === undefined ? '' : warning])
})

test('turnpike check says how a file becomes a program', async () => {
  const file = join(folder, 'turnpike.yaml')
  writeFileSync(file, 'agents: { a: { protocol: zot, command: ./plain } }\n')
  const { code, stderr } = await runTurnpike(['check', '--config', file], '')
  const plain = join(folder, 'plain')
  expect([code, stderr]).toEqual([
    0,
    `warning: agent a: ${plain} cannot be started: it is not executable; type: chmod +x ${plain}\n`,
  ])
})
