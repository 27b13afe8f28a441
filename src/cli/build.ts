declare const TURNPIKE_BUILD: string | undefined
declare const TURNPIKE_LOAD: ((file: string) => unknown) | undefined

/** The id of this build of the program; undefined when it runs from its sources, which may change at any time. */
export const build: string | undefined = typeof TURNPIKE_BUILD === 'undefined' ? undefined : TURNPIKE_BUILD

/** Loads a file of the build at once; the same one only once. */
export function loadBuilt(file: string): unknown {
  return TURNPIKE_LOAD!(file)
}
