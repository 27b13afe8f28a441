import { LOG_LEVELS, OTLP_PROTOCOLS } from './types.ts'

/** The keys whose values are closed lists, with their values; the first one is the default, if any. */
export const CHOICES = {
  role: ['user', 'admin'],
  restore: ['fresh', 'fail', 'replay'],
  approvals: ['deny', 'allow'],
  loss: ['report', 'strict'],
  journal: ['full', 'shape', 'wire'],
  secrets: ['keep', 'pass'],
  busy: ['queue', 'reject', 'steer'],
  history: ['resume', 'replay'],
  onDisconnect: ['cancel', 'drain'],
  store: ['sqlite', 'postgres'],
  otlp: OTLP_PROTOCOLS,
  level: LOG_LEVELS,
} as const
