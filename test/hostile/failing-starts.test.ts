/** An agent that cannot be started, ten turns in a row: what each is told, and when the circuit spares the rest of the tries. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askHttp } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { BACKS, type Back, backs } from './kit.ts'

const TURNS = 10
/** Longer than ten turns take on any machine. */
const COOLDOWN = 'breaker: { cooldown: 10m }'
const DIES = 'command: /bin/sh, args: [-c, "exit 3"]'
const COMMANDS: Readonly<Record<string, string>> = {
  'is not there': 'command: no-such-program-anywhere',
  'is not executable': 'command: ./not-executable',
  'is a directory': 'command: ./a-directory',
}

const WHY: Readonly<Record<string, string>> = {
  'is not there':
    '"no-such-program-anywhere" could not be started: it is not on the PATH; install it or give its full path as `command`, then run turnpike check.',
  'is not executable':
    '"not-executable" could not be started: it is not executable; run chmod +x on it or correct `command`.',
  'is a directory': '"a-directory" could not be started: it is a directory; correct `command`.',
}

let gateway: TestGateway

beforeAll(async () => {
  const dying = backs.map((back) => `  dies-${back.replace('@', '-')}: { ${BACKS[back]}, ${DIES}, ${COOLDOWN} }\n`)
  const missing = Object.values(COMMANDS).map(
    (command, at) => `  command-${at}: { protocol: agentproc, ${command}, args: [], ${COOLDOWN} }\n`,
  )
  gateway = await startGateway(`
default: command-0
limits: { grace: 200ms }
agents:
${dying.join('')}${missing.join('')}`)
  mkdirSync(join(gateway.folder, 'a-directory'))
  writeFileSync(join(gateway.folder, 'not-executable'), '#!/bin/sh\n')
  chmodSync(join(gateway.folder, 'not-executable'), 0o644)
})
afterAll(() => gateway.close())

/** What ten turns in a row were told, each once with how many were told so. */
async function told(agent: string): Promise<[string, number][]> {
  const counts = new Map<string, number>()
  for (let turn = 0; turn < TURNS; turn += 1) {
    const { raw } = await askHttp(gateway.url, 'native', { text: 'hi', session: `${agent}-${turn}`, agent })
    const { fault } = JSON.parse(raw) as { fault: { code: string; message: string } }
    const words = `${fault.code}: ${fault.message.replace(/ \d+ s\.$/, ' N s.')}`
    counts.set(words, (counts.get(words) ?? 0) + 1)
  }
  return [...counts]
}

/** A crash may be the request's own fault: it opens no circuit. Where a protocol greets first, it is the agent's. */
const CRASHED = 'agent-crashed: The agent exited with code 3 before it had answered; see its stderr in the gateway log.'
const FAILED = 'agent-crashed: The agent failed (exit code 3); its stderr is in the gateway log.'
const DYING: Readonly<Record<Back, string>> = {
  agentproc: FAILED,
  'agentproc@0.4': FAILED,
  zene: CRASHED,
  'zene-stream': CRASHED,
  zot: 'agent-unavailable: The zot agent "dies-zot" ended before it answered hello: check its arguments and its credentials (its stderr is in the gateway log).',
  qwen: CRASHED,
  'qwen-code':
    'agent-unavailable: The Qwen Code agent "dies-qwen-code" ended before it answered initialize: check its arguments, its model and its credentials (its stderr is in the gateway log).',
  native: CRASHED,
  acp: 'agent-unavailable: The agent "dies-acp" ended before it answered initialize: check its command and arguments (its stderr is in the gateway log).',
  'claude-code':
    'agent-unavailable: The Claude Code agent "dies-claude-code" ended before it answered initialize: check its arguments and its login (its stderr is in the gateway log).',
  codex:
    'agent-unavailable: The Codex agent "dies-codex" ended before it answered initialize: check its arguments and its configuration (its stderr is in the gateway log).',
}

/** Five tries as the configuration says when it says nothing, then none until the circuit lets one through. */
const spared = (agent: string, why: string): [string, number][] => [
  [why, 5],
  [`agent-unavailable: The agent "${agent}" failed 5 times in a row; it is tried again in N s.`, 5],
]

test.each(backs)('%s that dies at its start', async (back) => {
  const agent = `dies-${back.replace('@', '-')}`
  const why = DYING[back]
  expect(await told(agent)).toEqual(why.startsWith('agent-unavailable') ? spared(agent, why) : [[why, TURNS]])
})

test.each(Object.keys(COMMANDS).map((what, at) => [what, at] as const))('a command that %s', async (what, at) => {
  const why = `agent-unavailable: The agent command ${WHY[what]}`
  expect(await told(`command-${at}`)).toEqual(spared(`command-${at}`, why))
})
