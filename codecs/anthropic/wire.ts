import { extensions, messageMembers } from '../../src/codec-kit/index.ts'

/** The name under which fields of this protocol without a place in the model travel, and of the provider of its seals. */
export const PROTOCOL = 'anthropic'

/** The `ext` of this protocol. */
export const WIRE = extensions(PROTOCOL)
export const { ownExt, ownMember, toExt, entriesExt, unknownExt } = WIRE

/** The member of an `ext` with the further members of the message that begins with the part. */
export const OF_MESSAGE = 'message'
/** The further members of messages. */
export const MESSAGES = messageMembers(WIRE, OF_MESSAGE)

/** The versions of the API that are spoken here (header `anthropic-version`). What a client uses of them is the same. */
export const VERSIONS: readonly string[] = ['2023-06-01', '2026-10-21']
