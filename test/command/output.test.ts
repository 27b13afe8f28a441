import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { matrixJson, namedDialects, pairsOf } from '../../src/matrix/index.ts'
import { TURNPIKE } from '../kit/gateway.ts'

/** The command with the longest output; it is more than any pipe holds. */
const MATRIX = `"${process.execPath}" "${TURNPIKE}" matrix --format json`

const run = promisify(execFile)

function shell(line: string): Promise<{ stdout: string; stderr: string }> {
  return run('/bin/sh', ['-c', line], { maxBuffer: 64 * 1024 * 1024 })
}

describe('what a command writes to standard output', () => {
  test('is all there behind a pipe', async () => {
    const { stdout, stderr } = await shell(`${MATRIX} | cat`)
    expect(stderr).toBe('')
    expect(stdout).toBe(matrixJson(pairsOf(namedDialects(Object.values(await loadCodecs())))))
  })

  test('may be left unread', async () => {
    expect(await shell(`{ ${MATRIX}; echo "exit code $?" >&2; } | head -c 1`)).toEqual({
      stdout: '{',
      stderr: 'exit code 0\n',
    })
  })

  test.skipIf(!existsSync('/dev/full'))('is no success when it could not be written', async () => {
    const { stderr } = await shell(`${MATRIX} > /dev/full; echo "exit code $?" >&2`)
    expect(stderr).toBe('turnpike: standard output could not be written (ENOSPC)\nexit code 3\n')
  })
})
