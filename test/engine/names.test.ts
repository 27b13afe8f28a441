import { expect, test } from 'vitest'
import { nameFault } from '../../src/engine/dispatch/names.ts'
import type { Command } from '../../src/model/index.ts'
import { start } from '../kit/plain.ts'

const session = (name: object): Command => ({ exchange: 'e', type: 'session-clear', session: name })
const setting = (set: object): Command => ({ exchange: 'e', type: 'config-set', ...set })

/** Every name that the gateway keeps: a command with it, the most that it may have, and the words of its fault. */
const NAMES: readonly [words: string, most: number, command: (text: string) => Command][] = [
  ['name of the session', 512, (id) => session({ id })],
  ['name of the conversation', 512, (conversation) => session({ conversation })],
  ['name of the channel', 512, (channel) => session({ channel })],
  ['title of the session', 512, (name) => session({ name })],
  ['name of the session', 512, (id) => start({ session: { id } })],
  ['id of the request', 512, (request) => start({ request })],
  ['name of the agent', 512, (agent) => start({ agent })],
  ['idempotency key', 512, (key) => start({ once: { key, duplicate: 'join', replay: 'success' } })],
  ['name of the model', 512, (model) => start({ options: { model } })],
  ['effort', 512, (effort) => start({ options: { effort } })],
  ['name of the user', 4096, (user) => start({ user })],
  ['path of the folder', 4096, (cwd) => start({ cwd })],
  ['name of the model', 512, (model) => setting({ model })],
  ['name of the mode', 512, (mode) => setting({ mode })],
  ['effort', 512, (effort) => setting({ effort })],
  ['name of the option', 512, (id) => setting({ option: { id, value: true } })],
  ['value of the option', 4096, (value) => setting({ option: { id: 'o', value } })],
]

test.each(NAMES)('the %s has at most %i characters (%#)', (words, most, command) => {
  expect(nameFault(command('x'.repeat(most)))).toBeUndefined()
  expect(nameFault(command('x'.repeat(most + 1)))).toEqual({
    code: 'invalid-request',
    message: `The ${words} has ${most + 1} characters; send at most ${most}.`,
    retryable: false,
  })
})

test('commands without names have no fault', () => {
  expect(nameFault({ exchange: 'e', type: 'query', what: 'health' })).toBeUndefined()
})
