import type { ProtocolSuites } from '../../kit/index.ts'
import { suite as v01 } from './v01/index.ts'
import { suite as v04 } from './v04/index.ts'

/** The tests of AgentProc, one suite for each wire. */
export const conformance: ProtocolSuites = { suites: { '0.1': v01, '0.4': v04 } }
