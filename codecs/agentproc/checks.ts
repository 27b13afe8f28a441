import type { Checks } from '../../src/contract/index.ts'
import { suite as v01 } from './v01/checks.ts'
import { suite as v04 } from './v04/checks.ts'

/** The tests of AgentProc, one suite for each wire. */
export const checks: Checks = { suites: { '0.1': v01, '0.4': v04 } }
