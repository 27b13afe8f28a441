import type { Checks } from '../../src/contract/index.ts'
import { suite as code } from './code/checks.ts'
import { suite as rfc } from './rfc/checks.ts'

/** The tests of the structured-IO RFC. */
export const checks: Checks = { suites: { rfc }, program: 'qwen' }

/** The tests of the wire that Qwen Code shipped with. */
export const shippedChecks: Checks = { suites: { code }, program: 'qwen' }
