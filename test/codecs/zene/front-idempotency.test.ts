import { describe, expect, test } from 'vitest'
import { plainTurn } from '../../kit/drive.ts'
import { accepted, lines, run, statuses, stream } from './stream-kit.ts'

describe('idempotency', () => {
  test('a run asks for replays of successes inside the time to live', () => {
    const drive = stream({ ZENE_IDEMPOTENCY_TTL_SEC: '5' })
    drive.feed(run('r'))
    expect(drive.commands[0]).toMatchObject({
      once: { key: 'k-r', duplicate: 'tell', replay: 'success', ttlMs: 5000 },
    })
  })

  test('a duplicate is only told of the run', () => {
    const drive = stream()
    drive.feed(run('r1', { idempotency_key: 'k' }), run('r2', { idempotency_key: 'k' }))
    drive.play([accepted('new')], 'f1')
    drive.play([accepted('joined', 'elsewhere')], 'f3')
    expect(lines(drive).at(-1)).toMatchObject({
      request_id: 'r2',
      status: 'DUPLICATE_IN_PROGRESS',
      existing_request_id: 'r1',
    })
    drive.play(plainTurn('late'), 'f3')
    expect(drive.sent).toHaveLength(3)
  })

  test('a duplicate of a run in another process', () => {
    const drive = stream()
    drive.feed(run('r2'), run('r3'))
    drive.play([accepted('joined', 'r1')], 'f1')
    drive.play([accepted('joined')], 'f3')
    expect(lines(drive).map((line) => line['existing_request_id'])).toEqual(['r1', 'unknown'])
  })

  test.each([
    [{}, true],
    [{ ZENE_IDEMPOTENCY_REPLAY_MARKER: ' YES ' }, true],
    [{ ZENE_IDEMPOTENCY_REPLAY_MARKER: 'on' }, undefined],
    [{ ZENE_IDEMPOTENCY_REPLAY_MARKER: '' }, undefined],
  ])('a replay is a final without an ack (%j)', (env, marker) => {
    const drive = stream(env as Record<string, string>)
    drive.feed(run('r2'))
    drive.play([accepted('replayed'), ...plainTurn('again').slice(1)])
    expect(statuses(drive)).toEqual(['OK'])
    expect(lines(drive)[0]).toMatchObject({ request_id: 'r2', text: 'again' })
    expect(lines(drive)[0]!['replayed']).toBe(marker)
  })

  test('with the table full, a key that is not in it runs again', () => {
    const drive = stream({ ZENE_IDEMPOTENCY_MAX_KEYS: '1' })
    const replays = ['1', '2', '1', '1'].map((id) => {
      drive.feed(run(id))
      const command = drive.commands.at(-1)!
      drive.play(plainTurn('x'))
      return command.type === 'turn-start' && command.once?.replay
    })
    expect(replays).toEqual(['success', 'never', 'never', 'success'])
  })

  test('a running request_id with another key, or with none, is refused', () => {
    const drive = stream()
    drive.feed(run('r'), run('r', { idempotency_key: 'other' }), run('r', { idempotency_key: null }))
    expect(drive.commands).toHaveLength(1)
    expect(lines(drive)).toMatchObject([
      {
        type: 'error',
        request_id: 'r',
        error: { code: 'INVALID_REQUEST', message: 'request_id is already in progress' },
      },
      { type: 'error', request_id: 'r' },
    ])
    expect(drive.exitCode).toBeUndefined()
  })
})
