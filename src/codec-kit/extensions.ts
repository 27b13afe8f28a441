import { type Ext, type JsonText, type Members, member, object, type Pairs, rest } from '../model/index.ts'

/** Reads and makes the `ext` of one protocol: the fields of its messages that the model has no place for. */
export interface Extensions {
  /** Returns the fields of an `ext` of this protocol; undefined for every other `ext`. */
  ownExt(ext: Ext | undefined): JsonText | undefined
  /** Returns one field of an `ext` of this protocol, raw. */
  ownMember(ext: Ext | undefined, key: string): JsonText | undefined
  /** Makes an `ext` of a JSON object; undefined stays undefined. */
  toExt(json: JsonText | undefined): Ext | undefined
  /** Makes an `ext` of the members that have a value; undefined when none has. */
  entriesExt(...groups: readonly (Members | Pairs)[]): Ext | undefined
  /** Makes an `ext` of the members of a message that are not in `known`; undefined when there are none. */
  unknownExt(json: JsonText, value: object, known: ReadonlySet<string>): Ext | undefined
}

/** Makes the functions for the `ext` of the protocol with this name. */
export function extensions(protocol: string): Extensions {
  const ownExt = (ext: Ext | undefined): JsonText | undefined => (ext?.protocol === protocol ? ext.json : undefined)
  const toExt = (json: JsonText | undefined): Ext | undefined => (json === undefined ? undefined : { protocol, json })
  return {
    ownExt,
    ownMember: (ext, key) => (ext?.protocol === protocol ? member(ext.json, key) : undefined),
    toExt,
    entriesExt(...groups) {
      const json = object(...groups)
      return json === '{}' ? undefined : { protocol, json }
    },
    unknownExt: (json, value, known) => toExt(unknownMembers(json, value, known)),
  }
}

/**
 * Returns the members of a message that are not in `known`, raw, as one object; undefined when there are none. `value`
 * is the parsed `json`, so that messages without unknown members are not read a second time.
 */
export function unknownMembers(json: JsonText, value: object, known: ReadonlySet<string>): JsonText | undefined {
  for (const key in value) if (!known.has(key)) return rest(json, known)
  return undefined
}

/** The keys that a schema of objects knows, for `unknownMembers` and `rest`. */
export function keysOf({ entries }: { entries: object }): ReadonlySet<string> {
  return new Set(Object.keys(entries))
}
