/** An event without the members that its sender adds to all of its events: its turn, and those named in `K`. */
export type BodyOf<E, K extends string = never> = E extends unknown ? Omit<E, 'turn' | K> : never
