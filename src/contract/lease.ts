/** A value or a promise of it: embedded drivers answer synchronously, remote ones do not. */
export type Awaitable<T> = T | Promise<T>

/**
 * Names a lease: the process that has it, and which of its leases it is. A process that serves a name takes it over
 * from the one before it with a greater epoch, so the two are told apart.
 */
export interface LeaseRef {
  owner: string
  epoch: number
}
