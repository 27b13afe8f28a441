declare const TURNPIKE_BUILD: string | undefined

/** Tells one build of the program from all others; undefined when it runs from its sources, which may change at any time. */
export const build: string | undefined = typeof TURNPIKE_BUILD === 'undefined' ? undefined : TURNPIKE_BUILD
