import { afterAll, describe, expect, test } from 'vitest'
import { type ProcessConfig, processBackend } from '../../src/backends/index.ts'
import type { Backend } from '../../src/contract/index.ts'
import { config, eventually, gone, isGone, node, numbers, open, run, startedIn, WAYS } from './kit.ts'

describe.each(WAYS)('%s', (way) => {
  const started = startedIn(way)
  const backends: Backend[] = []

  /** A backend of the fixtures that is closed with the tests. */
  function backend(more: Partial<ProcessConfig> = {}): Backend {
    const made = processBackend(config({ ...started, ...more }))
    backends.push(made)
    return made
  }

  afterAll(async () => {
    await Promise.all(backends.map((one) => one.close(0)))
  })

  describe('input and output', () => {
    test('what is written comes back, and the end with exit code 0', async () => {
      const call = open(backend(), { kind: 'process', stdin: 'open' })
      expect(call.handle.write('one\n')).toBe(true)
      call.handle.write('two 😀\n')
      call.handle.endInput()
      call.handle.endInput()
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
      expect(call.handle.pid).toBeGreaterThan(0)
      expect(call.text()).toBe('one\ntwo 😀\n')
      expect(call.said).toStrictEqual(['started', 'data', 'end'])
      expect(call.handle.write('late')).toBe(true)
      call.handle.endInput()
      call.handle.pause()
      call.handle.resume()
      call.handle.stop('cancelled', 0)
    })

    test('`stdin: end` ends the input after the frames of the same step', async () => {
      const call = open(backend(), { kind: 'process', stdin: 'end', call: 'c1' })
      call.handle.write('one\n')
      expect(await call.ended).toStrictEqual({ call: 'c1', why: 'closed', exitCode: 0 })
      expect(call.text()).toBe('one\n')
    })

    test('arguments are given as they are, never read by a shell', async () => {
      const args = ['$HOME', '`id`', 'a b', '*', "'", '"', '; exit 1', '']
      const call = open(backend(), run(process.execPath, '-p', 'JSON.stringify(process.argv.slice(1))', '--', ...args))
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
      expect(JSON.parse(call.text())).toStrictEqual(args)
    })

    test('configured command and arguments are used when the call names none', async () => {
      const call = open(backend({ command: 'echo', args: ['configured'] }), { kind: 'process', stdin: 'end' })
      await call.ended
      expect(call.text()).toBe('configured\n')
    })

    test('the environment is the minimal one, the configured one, that of the call, and the trace context', async () => {
      const hostEnv = { PATH: process.env['PATH'], SECRET: 's', KEY: 'k', TRACEPARENT: 'stale' }
      const call = open(
        backend({ hostEnv, inherit: ['KEY'], env: { A: '1', B: '1' } }),
        { kind: 'process', command: 'env', args: ['-0'], env: { B: '2' }, stdin: 'end' },
        { traceparent: '00-1-2-01' },
      )
      await call.ended
      const env = Object.fromEntries(
        call
          .text()
          .split('\0')
          .filter((line) => line !== '')
          .map((line) => line.split(/=(.*)/s).slice(0, 2)),
      )
      expect(env).toStrictEqual({
        PATH: process.env['PATH'],
        KEY: 'k',
        A: '1',
        B: '2',
        TRACEPARENT: '00-1-2-01',
        TURNPIKE_COOKIE: expect.stringMatching(/^\d+-[0-9a-z]+-[0-9a-z]+\.\d+\.$/),
      })
    })

    test('it leads a process group of its own', async () => {
      const call = open(backend(), run('sh', '-c', 'echo $$; ps -o pgid= -p $$; cat'))
      await call.until(() => numbers(call.text()).length === 2)
      expect(numbers(call.text())).toStrictEqual([call.handle.pid, call.handle.pid])
      call.handle.endInput()
      await call.ended
    })

    test('its parent is who was to start it', async () => {
      const call = open(backend(), run('sh', '-c', 'echo $PPID'))
      await call.ended
      expect(numbers(call.text())).toStrictEqual([started.starter?.pid ?? process.pid])
    })

    test('a character never arrives in halves, and a broken one at the end is replaced', async () => {
      const call = open(backend(), node('halve-characters.mjs'))
      await call.until(() => call.log() === 'half\n')
      expect(call.text()).toBe('')
      call.handle.write('go\n')
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0, stderr: 'half\n' })
      expect(call.text()).toBe('😀\ufffd')
    })

    test('an agent that ends without reading 1 MiB of input breaks nothing', async () => {
      const call = open(backend(), run('sh', '-c', 'exec 0<&-; echo answer'))
      call.handle.write('x'.repeat(1024 * 1024))
      call.handle.endInput()
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
      expect(call.text()).toBe('answer\n')
    })

    test('`write` says when more than its mark is waiting, and keeps it all the same', async () => {
      const call = open(backend(), node('answer-lines.mjs'))
      const big = `${'x'.repeat(3 * 1024 * 1024)}\n`
      expect(call.handle.write(big)).toBe(false)
      call.handle.endInput()
      await call.ended
      expect(call.text().replaceAll('answer ', '')).toBe(big)
    })

    test('1 MiB on stderr before the answer blocks nothing; its beginning and its end are kept', async () => {
      const call = open(backend(), node('flood-stderr.mjs'))
      const end = await call.ended
      expect(call.text()).toBe('answer\n')
      expect(call.log()).toBe(`first ${'x'.repeat(1024 * 1024)} last`)
      expect(end).toStrictEqual({
        why: 'closed',
        exitCode: 0,
        stderr: `first ${'x'.repeat(3834)}\n[${1024 * 1024 + 11 - 2 * 3840} characters left out]\n${'x'.repeat(3835)} last`,
      })
    })

    test('paused, nothing is read but stderr; resumed, nothing is missing', async () => {
      const call = open(backend(), node('answer-lines.mjs'))
      call.handle.write('one\n')
      await call.until(() => call.text() === 'answer one\n')
      call.handle.pause()
      const before = call.log().length
      call.handle.write('two\n')
      await call.until(() => call.log().length > before)
      await new Promise((next) => setImmediate(next))
      expect(call.text()).toBe('answer one\n')
      call.handle.resume()
      await call.until(() => call.text() === 'answer one\nanswer two\n')
      call.handle.endInput()
      await call.ended
    })

    test.each([
      ['before it starts', ['pause', 'resume'], []],
      ['before it starts, twice', ['pause', 'resume', 'pause', 'resume'], []],
      ['from before its start until after it', ['pause'], ['resume']],
      ['before its start and after it', ['pause', 'resume'], ['pause', 'resume']],
      ['after its start', [], ['pause', 'resume']],
      ['never, although it is resumed', ['resume'], ['resume']],
    ] as const)('paused %s, nothing is missing', async (_, early, late) => {
      const call = open(backend(), { kind: 'process', stdin: 'open' })
      for (const step of early) call.handle[step]()
      call.handle.write('one\n')
      await call.until(() => call.said.includes('started'))
      for (const step of late) call.handle[step]()
      call.handle.endInput()
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
      expect(call.text()).toBe('one\n')
    })

    test('paused while 4 MiB come, and after the exit, all of it is read in the end', async () => {
      const call = open(backend(), node('flood-stdout.mjs'))
      await call.until(() => call.text() !== '')
      call.handle.pause()
      const read = call.text().length
      expect(read).toBeLessThan(4 * 1024 * 1024)
      await new Promise((next) => setImmediate(next))
      expect(call.text().length).toBe(read)
      call.handle.resume()
      await call.ended
      expect(call.text().length).toBe(4 * 1024 * 1024)
      expect(call.log()).toBe('written\n')
    })
  })

  describe('the end', () => {
    test('exit code and stderr', async () => {
      const call = open(backend(), run('sh', '-c', 'echo oops >&2; exit 3'))
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 3, stderr: 'oops\n' })
    })

    test('a signal', async () => {
      const call = open(backend(), run('sh', '-c', 'kill -9 $$'))
      expect(await call.ended).toStrictEqual({ why: 'closed', signal: 'SIGKILL' })
    })

    test('a grandchild that holds the output delays nothing and is killed with its group', async () => {
      const call = open(backend(), run('./hold-output.sh'))
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
      expect(call.text()).toMatch(/^answer \d+\n$/)
      await gone(...numbers(call.text()))
      expect(call.said).toStrictEqual(['started', 'data', 'end'])
    })

    test('a grandchild that left the group and holds the output is found when the agent has ended', async () => {
      const call = open(backend(), run('./hold-output-outside.sh'))
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
      expect(call.text()).toMatch(/^answer \d+\n$/)
      await gone(...numbers(call.text()))
    })

    test('a grandchild that writes for ever is cut off', async () => {
      const call = open(backend(), run('./write-for-ever.sh'))
      expect(await call.ended).toMatchObject({ why: 'closed', exitCode: 0 })
      const [writer] = numbers(call.text().match(/answer \d+/)?.[0] ?? '')
      await gone(writer ?? 0)
    })

    test('paused, the output of an ended process waits', async () => {
      const call = open(backend(), run('./hold-output.sh'))
      await call.until(() => call.said.includes('started'))
      call.handle.pause()
      await eventually(() => isGone(call.handle.pid ?? 0))
      expect(call.said).not.toContain('end')
      call.handle.resume()
      expect(await call.ended).toStrictEqual({ why: 'closed', exitCode: 0 })
      expect(call.text()).toMatch(/^answer \d+\n$/)
    })
  })
})
