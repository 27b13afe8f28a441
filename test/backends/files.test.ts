import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { serveFile } from '../../src/backends/files.ts'
import { processBackend } from '../../src/backends/index.ts'
import { config } from './kit.ts'

let top: string
let root: string

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'turnpike-files-'))
  root = join(top, 'root')
  mkdirSync(join(root, 'sub'), { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\n')
  writeFileSync(join(top, 'secret.txt'), 'secret')
  mkdirSync(join(top, 'rooted'))
  writeFileSync(join(top, 'rooted/b.txt'), 'next door')
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const read = (path: string, more: { line?: number; limit?: number } = {}) =>
  serveFile({ kind: 'read', path, roots: [root], ...more })
const write = (path: string, text = 'new') => serveFile({ kind: 'write', path, roots: [root], text })

describe('reading', () => {
  test.each([
    [{}, 'one\ntwo\nthree\n'],
    [{ line: 2 }, 'two\nthree\n'],
    [{ line: 2, limit: 1 }, 'two'],
    [{ line: 0, limit: 2 }, 'one\ntwo'],
    [{ limit: 0 }, ''],
    [{ line: 9 }, ''],
  ])('%j', async (lines, text) => expect(await read(join(root, 'a.txt'), lines)).toEqual({ text }))

  test('a link within the folder', async () => {
    symlinkSync(join(root, 'a.txt'), join(root, 'link'))
    expect(await read(join(root, 'link'), { limit: 1 })).toEqual({ text: 'one' })
  })

  test('a root that is a link', async () => {
    symlinkSync(root, join(top, 'alias'))
    const result = await serveFile({
      kind: 'read',
      path: join(top, 'alias/a.txt'),
      roots: ['/nowhere', join(top, 'alias')],
    })
    expect(result).toEqual({ text: 'one\ntwo\nthree\n' })
  })

  test.each([
    ['../secret.txt', 'outside'],
    ['sub/../../secret.txt', 'outside'],
    ['gone/../../secret.txt', 'outside'],
    ['../rooted/b.txt', 'outside'],
    ['gone.txt', 'missing'],
    ['a.txt/x', 'missing'],
    ['sub', 'no-file'],
  ])('%s: %s', async (path, failure) => expect(await read(`${root}/${path}`)).toEqual({ failure }))

  test('a relative path is outside, and so is everything without roots', async () => {
    expect(await read('a.txt')).toEqual({ failure: 'outside' })
    const path = join(root, 'a.txt')
    expect(await serveFile({ kind: 'read', path, roots: [] })).toEqual({ failure: 'outside' })
  })

  test('a link that leads out', async () => {
    symlinkSync(join(top, 'secret.txt'), join(root, 'link'))
    symlinkSync(top, join(root, 'up'))
    expect([await read(join(root, 'link')), await read(join(root, 'up/secret.txt'))]).toEqual([
      { failure: 'outside' },
      { failure: 'outside' },
    ])
  })

  test('a pipe is no file, and is not waited for', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')])
    expect([await read(join(root, 'pipe')), await write(join(root, 'pipe'))]).toEqual([
      { failure: 'no-file' },
      { failure: 'no-file' },
    ])
  })

  test('a very large file', async () => {
    truncateSync(join(root, 'a.txt'), 9 * 1024 * 1024)
    expect(await read(join(root, 'a.txt'))).toEqual({ failure: 'too-large' })
  })

  test('a path that no system takes', async () => {
    expect(await read(join(root, 'a\0b'))).toEqual({ failure: 'failed' })
  })
})

describe('writing', () => {
  test('a file that is there, and a new one in new folders', async () => {
    expect([await write(join(root, 'a.txt')), await write(join(root, 'x/y/z.txt'), 'ü')]).toEqual([
      { text: '' },
      { text: '' },
    ])
    expect([readFileSync(join(root, 'a.txt'), 'utf8'), readFileSync(join(root, 'x/y/z.txt'), 'utf8')]).toEqual([
      'new',
      'ü',
    ])
  })

  test.each(['../secret.txt', '../new.txt', 'gone/../../new.txt', '../rooted/b.txt'])('%s is outside', async (path) => {
    expect(await write(`${root}/${path}`)).toEqual({ failure: 'outside' })
    expect(readFileSync(join(top, 'secret.txt'), 'utf8')).toBe('secret')
  })

  test('a link that leads out, or nowhere', async () => {
    symlinkSync(join(top, 'secret.txt'), join(root, 'link'))
    symlinkSync(join(top, 'new.txt'), join(root, 'dangling'))
    symlinkSync(top, join(root, 'up'))
    const results = [
      await write(join(root, 'link')),
      await write(join(root, 'dangling')),
      await write(join(root, 'up/new.txt')),
    ]
    expect(results).toEqual([{ failure: 'outside' }, { failure: 'missing' }, { failure: 'outside' }])
    expect(readFileSync(join(top, 'secret.txt'), 'utf8')).toBe('secret')
    expect(await read(join(root, 'up/new.txt'))).toEqual({ failure: 'outside' })
  })

  test('a folder is no file', async () => expect(await write(join(root, 'sub'))).toEqual({ failure: 'no-file' }))
})

test('an agent on this machine has them', async () => {
  const backend = processBackend(config())
  expect(await backend.file!({ kind: 'read', path: join(root, 'a.txt'), roots: [root], limit: 1 })).toEqual({
    text: 'one',
  })
  await backend.close(0)
})
