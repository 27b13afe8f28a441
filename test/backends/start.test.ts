import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ProcessConfig, processBackend } from '../../src/backends/index.ts'
import { spawnFault } from '../../src/backends/spawn-fault.ts'
import type { Call, CallEnd } from '../../src/contract/index.ts'
import { fault } from '../../src/model/index.ts'
import { config, open, startedIn, WAYS } from './kit.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-start-')))
mkdirSync(join(folder, 'allowed', 'inner'), { recursive: true })
mkdirSync(join(folder, 'allowed-not'))
symlinkSync(join(folder, 'allowed-not'), join(folder, 'allowed', 'link'))
writeFileSync(join(folder, 'plain.sh'), '#!/bin/sh\n')
writeFileSync(join(folder, 'lost.sh'), '#!/no/such/interpreter\n')
chmodSync(join(folder, 'lost.sh'), 0o755)

afterAll(() => rmSync(folder, { recursive: true }))

const failed = (code: string, message: string, retryable: boolean) => ({
  ended: { why: 'failed', fault: { code, message, retryable } },
  said: ['end'],
  text: '',
})

const unavailable = (name: string, what: string) =>
  failed('agent-unavailable', `The agent command "${name}" could not be started: ${what}.`, false)

describe.each(WAYS)('%s', (way) => {
  const started = startedIn(way)

  /** How a call of the configuration ends, and what was said before. */
  async function end(more: Partial<ProcessConfig>, call: Partial<Extract<Call, { kind: 'process' }>> = {}) {
    const backend = processBackend(config({ ...started, cwd: folder, ...more }))
    const watched = open(backend, { kind: 'process', stdin: 'end', ...call })
    const ended: CallEnd = await watched.ended
    await backend.close(0)
    return { ended, said: watched.said, text: watched.text() }
  }

  describe('a start that fails says why and what to do, and nothing private', () => {
    test('not on the PATH', async () => {
      expect(await end({ command: 'no-such-command', env: { KEY: 'secret' } })).toStrictEqual(
        unavailable(
          'no-such-command',
          'it is not on the PATH; install it or give its full path as `command`, then run turnpike check',
        ),
      )
    })

    test('no such file', async () => {
      expect(await end({ command: '/no/such/file' })).toStrictEqual(
        unavailable('file', 'there is no such file; install it or correct `command`'),
      )
      expect(await end({ command: './missing.sh' })).toStrictEqual(
        unavailable('missing.sh', 'there is no such file; install it or correct `command`'),
      )
    })

    test('not executable', async () => {
      expect(await end({ command: './plain.sh' })).toStrictEqual(
        unavailable('plain.sh', 'it is not executable; run chmod +x on it or correct `command`'),
      )
    })

    test('a directory', async () => {
      expect(await end({ command: join(folder, 'allowed') })).toStrictEqual(
        unavailable('allowed', 'it is a directory; correct `command`'),
      )
    })

    test('a script whose interpreter is missing', async () => {
      expect(await end({ command: './lost.sh' })).toStrictEqual(
        unavailable(
          'lost.sh',
          'the interpreter that its first line names does not exist; install that or correct the line',
        ),
      )
    })

    test.each([
      ['no-such-command --key=secret', 'no-such-command …'],
      ['/no/such/program ./secret.mjs', 'program …'],
    ])('a command line in place of a command: %s', async (command, name) => {
      expect(await end({ command })).toStrictEqual(
        unavailable(name, '`command` is a program and holds no arguments; put them into `args`'),
      )
    })

    test('a file whose name has spaces is one', async () => {
      writeFileSync(join(folder, 'a plain file'), '')
      expect(await end({ command: './a plain file' })).toStrictEqual(
        unavailable('a plain file', 'it is not executable; run chmod +x on it or correct `command`'),
      )
    })

    test('no command', async () => {
      expect(await end({ command: '' })).toStrictEqual(
        failed('agent-unavailable', 'The agent has no command; configure a `command` for it.', false),
      )
    })

    test('a missing working directory', async () => {
      expect(await end({ command: 'echo', cwd: join(folder, 'missing') })).toStrictEqual(
        unavailable('echo', 'its working directory does not exist; create it or correct `cwd`'),
      )
      expect(await end({ command: 'echo' }, { cwd: 'missing' })).toStrictEqual(
        unavailable('echo', 'its working directory does not exist; create it or correct `cwd`'),
      )
    })

    test('a working directory that is a file', async () => {
      expect(await end({ command: 'echo', cwd: join(folder, 'plain.sh') })).toStrictEqual(
        unavailable('echo', 'its working directory is not a directory; correct `cwd`'),
      )
    })

    test('an argument or variable too large for the system', async () => {
      const large = 'secret'.repeat(40_000)
      const tooLarge = failed(
        'payload-too-large',
        'The arguments and environment of "echo" are larger than the operating system allows; ' +
          'send less, or let the agent read the message from its standard input.',
        false,
      )
      expect(await end({ command: 'echo' }, { args: [large] })).toStrictEqual(tooLarge)
      expect(await end({ command: 'echo' }, { env: { MESSAGE: large } })).toStrictEqual(tooLarge)
    })

    test('NUL in an argument or variable', async () => {
      const nul = failed(
        'invalid-request',
        'An argument or environment variable of "echo" holds a NUL character, which no process can be given; remove it.',
        false,
      )
      expect(await end({ command: 'echo' }, { args: ['secret\0'] })).toStrictEqual(nul)
      expect(await end({ command: 'echo' }, { env: { MESSAGE: 'secret\0' } })).toStrictEqual(nul)
    })

    test('an HTTP call', async () => {
      const backend = processBackend(config(started))
      const call = open(backend, { kind: 'http', call: 'c', method: 'POST', body: '', answer: 'body' })
      expect(await call.ended).toStrictEqual({
        call: 'c',
        why: 'failed',
        fault: {
          code: 'internal',
          message:
            'The agent is configured as a command, but its protocol asked for an HTTP call; configure a `url` for it.',
          retryable: false,
        },
      })
      expect(call.handle.write('x')).toBe(true)
      call.handle.endInput()
      call.handle.pause()
      call.handle.resume()
      call.handle.stop('cancelled', 0)
      expect(call.said).toStrictEqual(['end'])
    })
  })

  describe('the working directory', () => {
    const pwd = { command: 'pwd', env: {} }
    const forbidden = failed(
      'forbidden',
      'The requested working directory is outside the folders that the agent may run in; choose another or add it to `workspaces`.',
      false,
    )

    test('is the configured one, or the one of the call counted from it', async () => {
      expect((await end(pwd)).text).toBe(`${folder}\n`)
      expect((await end(pwd, { cwd: 'allowed/inner' })).text).toBe(`${folder}/allowed/inner\n`)
      expect((await end(pwd, { cwd: '/' })).text).toBe('/\n')
    })

    test('of a call lies within the roots', async () => {
      const roots = [join(folder, 'allowed'), join(folder, 'missing')]
      expect((await end({ ...pwd, roots })).text).toBe(`${folder}\n`)
      expect((await end({ ...pwd, roots }, { cwd: '.' })).text).toBe(`${folder}\n`)
      expect((await end({ ...pwd, roots }, { cwd: 'allowed' })).text).toBe(`${folder}/allowed\n`)
      expect((await end({ ...pwd, roots }, { cwd: 'allowed/inner' })).text).toBe(`${folder}/allowed/inner\n`)
      expect((await end({ ...pwd, roots: ['/'] }, { cwd: '/' })).text).toBe('/\n')
      expect(await end({ ...pwd, roots }, { cwd: 'allowed-not' })).toStrictEqual(forbidden)
      expect(await end({ ...pwd, roots }, { cwd: 'allowed/../..' })).toStrictEqual(forbidden)
      expect(await end({ ...pwd, roots: [] }, { cwd: 'allowed' })).toStrictEqual(forbidden)
    })

    test('does not leave the roots through a symbolic link', async () => {
      expect(await end({ ...pwd, roots: [join(folder, 'allowed')] }, { cwd: 'allowed/link' })).toStrictEqual(forbidden)
    })

    test('that does not exist is called missing also where it is outside the roots', async () => {
      expect((await end({ ...pwd, roots: [] }, { cwd: 'missing' })).ended.fault?.message).toBe(
        'The agent command "pwd" could not be started: its working directory does not exist; create it or correct `cwd`.',
      )
    })
  })
})

describe('a code of the system', () => {
  test.each([
    ['EAGAIN', 'overloaded', 'the system has no room for another process (EAGAIN); try again later or run fewer'],
    ['EMFILE', 'overloaded', 'the system has no room for another process (EMFILE); try again later or run fewer'],
    ['ETXTBSY', 'agent-unavailable', 'the system said ETXTBSY; run it by hand to see why'],
    ['ESTARTER', 'overloaded', 'the process that starts agents has ended; try again'],
  ] as const)('%s is %s', (code, found, what) => {
    const error = Object.assign(new Error('secret'), { code })
    expect(spawnFault(error, { command: '/bin/echo', cwd: folder })).toStrictEqual(
      fault(found, `The agent command "echo" could not be started: ${what}.`),
    )
  })

  test('an error without a code', () => {
    expect(spawnFault('secret', { command: '/bin/echo', cwd: folder })).toStrictEqual({
      code: 'agent-unavailable',
      message:
        'The agent command "echo" could not be started: the system said unknown error; run it by hand to see why.',
      retryable: true,
    })
  })
})
