import { extensions } from '../../src/codec-kit/index.ts'

/** The `ext` protocol of AGENT_ variables without a place in the model, and of an agent's own exit code. */
export const EXT_01 = 'agentproc'

/** The `ext` protocol of unknown members of wire 0.4. */
export const EXT_04 = 'agentproc@0.4'

export const { ownExt, toExt, unknownExt } = extensions(EXT_04)
