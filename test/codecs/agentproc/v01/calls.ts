import { expect } from 'vitest'
import { codec } from '../../../../codecs/agentproc/index.ts'
import { type BackDrive, driveBack } from '../../../kit/drive.ts'

const PROCESS = { command: 'agent', args: [] as string[], env: {}, cwd: '/work' }

/** Opens a back whose process is `agent` in `/work`, with these differences. */
export function drive(
  process: Partial<typeof PROCESS> = {},
  options: Record<string, unknown> = {},
  env: Record<string, string> = {},
): BackDrive {
  return driveBack(codec, { process: { ...PROCESS, ...process }, options, env })
}

/** The one process that was started. */
export function callOf({ calls }: BackDrive) {
  const [call] = calls
  if (calls.length !== 1 || call?.kind !== 'process') throw new Error('no single process')
  return call
}

/** The fault of a turn that was refused before anything was started. */
export function refusal({ calls, events }: BackDrive) {
  expect(calls).toEqual([])
  expect(events).toHaveLength(1)
  const [end] = events
  if (end?.type !== 'turn-end') throw new Error('no end')
  expect(end).toMatchObject({ outcome: 'failed', stop: 'error', turn: 't1' })
  return end.fault
}
