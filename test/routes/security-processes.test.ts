import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resourceLimiter } from '../../src/backends/index.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

const PRLIMIT = spawnSync('prlimit', ['--version']).status === 0
const BWRAP =
  spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--', '/bin/true'], { stdio: 'ignore' }).status === 0

test('what a process may take becomes arguments of prlimit, and nothing where it may take all', () => {
  expect(resourceLimiter({})).toEqual([])
  expect(resourceLimiter({ memory: 1_048_576, cpu: 1500, files: 64, processes: 9, fileSize: 10 })).toEqual([
    'prlimit',
    '--core=0',
    '--data=1048576',
    '--cpu=2',
    '--nofile=64',
    '--nproc=9',
    '--fsize=10',
    '--',
  ])
})

describe('agents', () => {
  let gateway: TestGateway

  /** An agent that answers with what a shell says. */
  const shell = (script: string, more: string): string =>
    `{ protocol: agentproc, command: /bin/sh, args: [-c, ${JSON.stringify(script)}], ${more} }`

  beforeAll(async () => {
    const eats = `process.stdout.write(String(Buffer.alloc(400 * 1024 * 1024, 1).length))`
    gateway = await startGateway(`
agents:
  free: ${shell('ulimit -n; ulimit -t; ulimit -f; ulimit -c', '')}
  limited: ${shell('ulimit -n; ulimit -t; ulimit -f; ulimit -c', 'resources: { files: 33, cpu: 9s, fileSize: 1MiB }')}
  writes: ${shell('head -c 2000000 /dev/zero > big; wc -c < big', 'resources: { fileSize: 4KiB }')}
  spins: ${shell('while :; do :; done', 'resources: { cpu: 1s }')}
  eats: { protocol: agentproc, command: ${process.execPath}, args: [-e, ${JSON.stringify(eats)}], resources: { memory: 300MiB } }
  wrapped: ${shell('echo "$WRAPPED:$0:$1"', 'wrap: [/usr/bin/env, WRAPPED=yes], env: { WRAPPED: no }')}
  script: { protocol: agentproc, command: /bin/echo, args: ["$(id); ${'`'}id${'`'} && id"], wrap: [./wrap.sh, "a b"] }
  unwrapped: ${shell('echo ran', 'wrap: [/nowhere/box]')}
  boxed: ${shell('echo $$; touch /etc/turnpike-was-here 2>&1', 'wrap: [bwrap, --ro-bind, /, /, --proc, /proc, --unshare-pid, --die-with-parent, --]')}
`)
    const wrapper = join(gateway.folder, 'wrap.sh')
    writeFileSync(wrapper, '#!/bin/sh\nprintf "<%s> " "$@"\n')
    chmodSync(wrapper, 0o755)
  })
  afterAll(() => gateway.close())

  const ask = async (
    agent: string,
  ): Promise<{ outcome: string; text: string; fault?: { code: string; message: string } }> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${gateway.url}/v1/turns/${agent}`, {
      method: 'POST',
      headers,
      body: '{"input":"hi"}',
    })
    return (await response.json()) as Awaited<ReturnType<typeof ask>>
  }

  test.runIf(PRLIMIT)(
    'may take what is configured: files, time, size of a file, and no core dumps [needs prlimit]',
    async () => {
      expect((await ask('limited')).text).toBe('33\n9\n2048\n0')
      const [files] = (await ask('free')).text.split('\n')
      expect(Number(files)).toBeGreaterThan(33)
      expect((await ask('writes')).text).toBe('4096')
    },
  )

  test.runIf(PRLIMIT)('that take more end, and their turns fail [needs prlimit]', async () => {
    expect(await ask('spins')).toMatchObject({ outcome: 'failed', fault: { code: 'agent-crashed' } })
    expect(await ask('eats')).toMatchObject({ outcome: 'failed', fault: { code: 'agent-crashed' } })
  })

  test('run under a program that gets them as arguments, never as a line for a shell', async () => {
    expect((await ask('wrapped')).text).toBe('yes:/bin/sh:')
    expect((await ask('script')).text.trim()).toBe('<a b> </bin/echo> <$(id); `id` && id>')
  })

  test('are not started without it where it is missing', async () => {
    expect(await ask('unwrapped')).toMatchObject({
      outcome: 'failed',
      fault: {
        code: 'agent-unavailable',
        message:
          'The agent command "box" could not be started: there is no such file; install it or correct `command`.',
      },
    })
  })

  test.runIf(BWRAP)('run in a sandbox of bubblewrap [needs bwrap]', async () => {
    const { text } = await ask('boxed')
    expect(text).toMatch(/^\d\n.*Read-only file system/)
  })
})
