/** A value or a promise of it: embedded drivers answer synchronously, remote ones do not. */
export type Awaitable<T> = T | Promise<T>

/**
 * The identity of a lease: the process that has it, and its epoch. A process that serves a name takes it over from an
 * earlier one with a greater epoch.
 */
export interface LeaseRef {
  owner: string
  epoch: number
}
