import { extensions } from '../../src/codec-kit/index.ts'

/** The name under which unknown fields (`ext`) and unknown messages (`foreign`) of this protocol travel. */
export const PROTOCOL = 'acp'

/** The version of the protocol that is spoken here, as `initialize` names it. */
export const PROTOCOL_VERSION = 1

/** The name under which Turnpike presents itself to the other side. */
export const NAME = 'turnpike'

export const { ownExt, ownMember, toExt, entriesExt, unknownExt } = extensions(PROTOCOL)
