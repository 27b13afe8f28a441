declare const TURNPIKE_BUILD: string | undefined

/** The id of this build of the program; undefined when it runs from its sources, which may change at any time. */
export const build: string | undefined = typeof TURNPIKE_BUILD === 'undefined' ? undefined : TURNPIKE_BUILD
