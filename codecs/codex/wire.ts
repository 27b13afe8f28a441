import { extensions } from '../../src/codec-kit/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this protocol travel. */
export const PROTOCOL = 'codex'

export const { ownExt, toExt, entriesExt } = extensions(PROTOCOL)
