import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './gateway.ts'
import { LONGEST } from './sequencer.ts'

test('every file that is to begin first is there, once', () => {
  expect(LONGEST.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  expect(new Set(LONGEST).size).toBe(LONGEST.length)
})
