import { expect, test } from 'vitest'
import { codec } from '../../../codecs/openai/index.ts'
import { fault } from '../../../src/model/index.ts'
import { driveFront } from '../../kit/drive.ts'
import { errorOf, json } from './kit.ts'

/** A client that asks for the models, or for one of them, and is told of two agents. */
function asked(model?: string) {
  const context = { transport: 'http', method: 'GET', path: '/v1/models', ...(model && { params: { model } }) } as const
  const drive = driveFront(codec, { dialect: 'chat', ...context })
  drive.link.decode('')
  expect(drive.commands).toEqual([{ exchange: 'f1', type: 'query', what: 'agents' }])
  const agents = [
    { name: 'coder', protocol: 'zot' },
    { name: 'writer', protocol: 'agentproc' },
  ]
  drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', data: json({ agents }) })
  return drive
}

const CODER = { id: 'coder', object: 'model', created: 0, owned_by: 'zot' }

test('every agent is a model', () => {
  const writer = { ...CODER, id: 'writer', owned_by: 'agentproc' }
  expect(asked().sent.map((frame) => JSON.parse(String(frame)))).toEqual([{ object: 'list', data: [CODER, writer] }])
})

test('there may be none', () => {
  const drive = driveFront(codec, { dialect: 'chat', transport: 'http', method: 'GET' })
  drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', data: '{"agents":[]}' })
  expect(drive.sent).toEqual(['{"object":"list","data":[]}'])
})

test('one can be asked for by its name', () => {
  expect(asked('coder').sent.map((frame) => JSON.parse(String(frame)))).toEqual([CODER])
  const drive = asked('nobody')
  expect(drive.faults).toMatchObject([{ http: 404, fault: { code: 'agent-not-found' } }])
  expect(errorOf(drive)).toEqual({
    message: 'There is no model "nobody"; there are: coder, writer.',
    type: 'invalid_request_error',
    code: 'model_not_found',
    param: 'model',
  })
})

test('other events say nothing here, and failures are errors', () => {
  const drive = driveFront(codec, { dialect: 'chat', transport: 'http', method: 'GET' })
  drive.link.encode({ type: 'turn-started', turn: 't' }, 'f1', {} as never)
  drive.link.encodeLink!({ turn: null, type: 'agent-ready' })
  drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', fault: fault('internal', 'It broke.') })
  expect(errorOf(drive)).toMatchObject({ message: 'It broke.' })
  drive.link.encodeFault(fault('forbidden', 'No.'), 'f1', 'continues')
  expect(errorOf(drive)).toMatchObject({ message: 'No.', type: 'permission_error' })
})
