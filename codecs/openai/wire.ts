import { extensions } from '../../src/codec-kit/index.ts'

/** The name under which fields of this protocol without a place in the model travel. */
export const PROTOCOL = 'openai'

/** The `ext` of this protocol. */
export const WIRE = extensions(PROTOCOL)
export const { ownExt, ownMember, toExt, entriesExt, unknownExt } = WIRE
