import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

/** Agents whose health can be asked for without giving them a turn, sick or well by whether a file is there. */
describe('health checks', () => {
  let folder: string
  let far: TestGateway
  let gateway: TestGateway
  let mute: Server
  const hangUps: string[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-health-'))
    far = await startGateway('agents: {}')
    writeFileSync(
      join(folder, 'agent.sh'),
      '#!/bin/sh\n[ -e "$0.sick" ] && exit 3\n[ "$1" = /bin/sh ] && [ -e "$0.hung" ] && exec sleep 1023\n[ "$2" = self-test ] && exit 0\nexec "$@"\n',
      { mode: 0o755 },
    )
    const health = 'health: { every: 50ms }, breaker: { failures: 1, cooldown: 1h }'
    const run = (script: string, ...args: string[]): string =>
      `command: ${folder}/agent.sh, args: [${[process.execPath, `${AGENTS}/${script}`, ...args].join(', ')}]`
    const reply = JSON.stringify({ type: 'command-reply', turn: null, exchange: 'health', data: { ok: true } })
    const script = `echo '{"type":"agent-ready","turn":null}'; while read -r line; do echo '${reply}'; done`
    const brief =
      'health: { every: 50ms, timeout: 500ms }, breaker: { failures: 1, cooldown: 1h }, limits: { grace: 0 }'
    mute = createServer((request) => request.socket.once('close', () => hangUps.push('closed')))
    mute.listen(0, '127.0.0.1')
    await once(mute, 'listening')
    const { port } = mute.address() as AddressInfo
    gateway = await startGateway(`
agents:
  native: { protocol: native, command: ${folder}/agent.sh, args: [/bin/sh, -c, ${JSON.stringify(script)}], ${brief} }
  mute: { protocol: openharness, url: "http://127.0.0.1:${port}", health: { every: 50ms, timeout: 100ms } }
  zot: { protocol: zot, ${run('coder.mjs', 'rpc')}, ${health} }
  oneshot: { protocol: zene, command: ${folder}/agent.sh, args: [zene, host], ${health} }
  far: { protocol: openharness, url: "${far.url}/v1/openharness", ${health} }
`)
  })
  afterAll(async () => {
    await gateway.close()
    mute.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const state = (name: string): string => gateway.engine.breakers.state(gateway.engine.settings.agents.get(name)!)

  test.each(['zot', 'oneshot'])(
    'open the circuit of %s when it is sick, and close it when it is well',
    async (name) => {
      writeFileSync(join(folder, 'agent.sh.sick'), '')
      await until(() => state(name) === 'open')
      rmSync(join(folder, 'agent.sh.sick'))
      await until(() => state(name) === 'closed')
      expect(gateway.logged.some((line) => line.startsWith('an agent works again') && line.includes(name))).toBe(true)
    },
  )

  test('open the circuit of an HTTP agent that cannot be reached', async () => {
    expect(state('far')).toBe('closed')
    await far.close()
    await until(() => state('far') === 'open')
  })

  test('go on after one that was not answered, and leave nothing of it', async () => {
    writeFileSync(join(folder, 'agent.sh.hung'), '')
    await until(() => state('native') === 'open')
    rmSync(join(folder, 'agent.sh.hung'))
    await until(() => state('native') === 'closed')
    await until(() => pidsOf('sleep\u00001023').length === 0)
    await until(() => hangUps.length > 1)
  })

  test('leave no process behind', async () => {
    await gateway.close()
    await until(() => pidsOf(`${folder}/agent.sh`).length === 0)
  })
})
