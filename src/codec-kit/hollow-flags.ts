/** A flag of a program that its stand-in does not honour, or not wholly. */
export interface HollowFlag {
  /** The reason, as the end of a sentence. */
  readonly why: string
  /** A value follows it. */
  readonly value: boolean
  /** The answer would be another one. */
  readonly changes: boolean
}

/**
 * The flags that a stand-in does not honour, by their names. Each row has flags of one reason, separated by spaces; `=`
 * after a flag says that a value follows. `ignored` flags do not change the answer; `refused` ones would.
 */
export function hollowFlags(
  rows: readonly (readonly ['ignored' | 'refused', why: string, flags: string])[],
): ReadonlyMap<string, HollowFlag> {
  const found = new Map<string, HollowFlag>()
  for (const [effect, why, flags] of rows) {
    for (const written of flags.split(' ')) {
      const flag = written.replace('=', '')
      found.set(flag, { why, value: flag !== written, changes: effect === 'refused' })
    }
  }
  return found
}
