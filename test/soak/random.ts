/** Numbers that a seed determines. */
export interface Random {
  /** A whole number from 0, less than this. */
  below(limit: number): number
  /** A whole number from `least`, less than `limit`. */
  between(least: number, limit: number): number
  of<T>(all: readonly T[]): T
}

/** A linear congruential generator (the constants of Numerical Recipes), of which the upper bits are used. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  return { below, between: (least, limit) => least + below(limit - least), of: (all) => all[below(all.length)]! }
}
