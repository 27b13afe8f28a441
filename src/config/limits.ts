import type { Limits } from '../contract/index.ts'

/** The limits of a configuration that sets none. */
export const DEFAULT_LIMITS: Limits = {
  start: 30_000,
  firstEvent: 60_000,
  idle: 120_000,
  total: 1_800_000,
  ask: 300_000,
  grace: 5000,
  line: 16 * 1024 * 1024,
  body: 10 * 1024 * 1024,
  answer: 128 * 1024 * 1024,
  queue: 64,
}

/** The limits, overridden by those of a narrower scope. */
export function overlayLimits(limits: Limits, narrower: Partial<Limits> | undefined): Limits {
  return { ...limits, ...definedLimits(narrower) }
}

/** The value without its undefined keys, which would hide a limit below. */
export function definedLimits(limits: Partial<Limits> | undefined): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits ?? {}).filter(([, limit]) => limit !== undefined))
}
