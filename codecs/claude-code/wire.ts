import { extensions } from '../../src/codec-kit/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this protocol travel. */
export const PROTOCOL = 'claude-code'

export const { ownExt } = extensions(PROTOCOL)
