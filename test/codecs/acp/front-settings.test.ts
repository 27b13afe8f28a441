import { describe, expect, test } from 'vitest'
import { fault, type Offers } from '../../../src/model/index.ts'
import { Editor, WORK } from './editor.ts'

const OFFERS: Offers = {
  mode: 'ask',
  modes: [
    { id: 'ask', name: 'Ask' },
    { id: 'plan', description: 'Only plans' },
  ],
  options: [
    { id: 'web', type: 'boolean', value: false, description: 'May search' },
    {
      id: 'effort',
      name: 'Effort',
      category: 'effort',
      type: 'select',
      value: 'low',
      choices: [{ value: 'low', name: 'Low' }, { value: 'high' }],
    },
    {
      id: 'tone',
      type: 'select',
      value: 'dry',
      choices: [{ value: 'dry', group: 'Calm', description: 'Few words' }, { value: 'loud' }],
    },
  ],
  commands: [{ name: 'init', description: 'Begins', hint: 'folder' }, { name: 'review' }],
}
const EFFORT = {
  id: 'effort',
  name: 'Effort',
  category: 'thought_level',
  type: 'select',
  currentValue: 'low',
  options: [
    { value: 'low', name: 'Low' },
    { value: 'high', name: 'high' },
  ],
}
const TONE = {
  id: 'tone',
  name: 'tone',
  type: 'select',
  currentValue: 'dry',
  options: [
    { group: 'Calm', name: 'Calm', options: [{ value: 'dry', name: 'dry', description: 'Few words' }] },
    { group: '', name: 'Other', options: [{ value: 'loud', name: 'loud' }] },
  ],
}
const WEB = { id: 'web', name: 'web', description: 'May search', type: 'boolean', currentValue: false }

function opened(answers: ConstructorParameters<typeof Editor>[0], clientCapabilities: object = {}) {
  const editor = new Editor(answers)
  editor.ask('initialize', { protocolVersion: 1, clientCapabilities })
  const { result } = editor.ask('session/new', WORK)!
  return { editor, result: result!, sessionId: String(result!['sessionId']) }
}

describe('a session whose agent offers settings', () => {
  test('is opened with them, and its commands follow', () => {
    const { editor, result, sessionId } = opened({ 'query.offers': OFFERS })
    expect(result).toEqual({
      sessionId,
      modes: {
        currentModeId: 'ask',
        availableModes: [
          { id: 'ask', name: 'Ask' },
          { id: 'plan', name: 'plan', description: 'Only plans' },
        ],
      },
      configOptions: [EFFORT, TONE],
    })
    expect(editor.read.at(-1)).toMatchObject({
      method: 'session/update',
      params: {
        sessionId,
        update: {
          sessionUpdate: 'available_commands_update',
          availableCommands: [
            { name: 'init', description: 'Begins', input: { hint: 'folder' } },
            { name: 'review', description: '' },
          ],
        },
      },
    })
  })

  test('shows switches to clients that know them', () => {
    const { result } = opened({ 'query.offers': OFFERS }, { session: { configOptions: { boolean: {} } } })
    expect(result['configOptions']).toEqual([WEB, EFFORT, TONE])
  })

  test('is set to a mode', () => {
    const { editor, sessionId } = opened({ 'query.offers': OFFERS })
    expect(editor.ask('session/set_mode', { sessionId, modeId: 'plan' })?.result).toEqual({})
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'config-set', session: { id: sessionId }, mode: 'plan' })
    expect(editor.ask('session/set_mode', { sessionId, modeId: 'odd' })?.error).toMatchObject({
      code: -32602,
      message: 'There is no mode "odd" in this session.',
    })
    editor.answers['config-set'] = fault('invalid-request', 'not now')
    expect(editor.ask('session/set_mode', { sessionId, modeId: 'ask' })?.error).toMatchObject({ message: 'not now' })
  })

  test('is set to values of its options', () => {
    const { editor, sessionId } = opened({ 'query.offers': OFFERS })
    const set = (configId: string, value: unknown) =>
      editor.ask('session/set_config_option', { sessionId, configId, value })
    expect(set('effort', 'high')?.result).toEqual({ configOptions: [{ ...EFFORT, currentValue: 'high' }, TONE] })
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'config-set', option: { id: 'effort', value: 'high' } })
    expect(set('web', true)?.result).toBeDefined()
    expect(set('web', 'true')?.error).toMatchObject({ code: -32602, message: 'The option "web" has no value "true".' })
    expect(set('effort', 'odd')?.error).toMatchObject({ message: 'The option "effort" has no value "odd".' })
    expect(set('odd', 'x')?.error).toMatchObject({ message: 'There is no option "odd" in this session.' })
    expect(set('odd', 7)?.error).toMatchObject({ code: -32602 })
  })

  test('has the options that the agent names once one is set', () => {
    const { editor, sessionId } = opened({ 'query.offers': OFFERS })
    const only = [{ id: 'tone', type: 'select', value: 'b', choices: [{ value: 'b' }] }]
    editor.answers['config-set'] = { options: only }
    const set = editor.ask('session/set_config_option', { sessionId, configId: 'effort', value: 'high' })
    expect(set?.result).toMatchObject({ configOptions: [{ id: 'tone', currentValue: 'b' }] })
    expect(set?.result?.['configOptions']).toHaveLength(1)
    const gone = editor.ask('session/set_config_option', { sessionId, configId: 'effort', value: 'high' })
    expect(gone?.error).toMatchObject({ message: 'There is no option "effort" in this session.' })
  })

  test('says what the agent changes while a turn runs', () => {
    const { editor, sessionId } = opened({ 'query.offers': OFFERS })
    const turn = editor.prompt(sessionId)
    const change = (json: string, exchange?: string) =>
      editor.drive.link.encodeLink!({ turn: null, type: 'session-changed', json }, exchange)
    const before = editor.updates.length
    change('{"mode":"plan"}', turn.exchange)
    change(JSON.stringify({ options: [OFFERS.options![1]], commands: [], title: 'Mending' }), turn.exchange)
    change('7', turn.exchange)
    change('{"mode":"ask"}')
    change('{"mode":"ask"}', 'unknown')
    expect(editor.updates.slice(before)).toEqual([
      { sessionUpdate: 'current_mode_update', currentModeId: 'plan' },
      { sessionUpdate: 'config_option_update', configOptions: [EFFORT] },
      { sessionUpdate: 'available_commands_update', availableCommands: [] },
      { sessionUpdate: 'session_info_update', title: 'Mending' },
    ])
  })

  test('passes on updates of an agent of this protocol that no turn owns', () => {
    const { editor, sessionId } = opened({})
    const { exchange } = editor.prompt(sessionId)
    const frame = '{"method":"session/update","params":{"update":{"sessionUpdate":"usage_update","used":1,"size":2}}}'
    const before = editor.updates.length
    editor.drive.link.encodeLink!({ turn: null, type: 'foreign', protocol: 'acp', frame }, exchange)
    editor.drive.link.encodeLink!({ turn: null, type: 'foreign', protocol: 'acp', frame: '{}' }, exchange)
    editor.drive.link.encodeLink!({ turn: null, type: 'foreign', protocol: 'zot', frame }, exchange)
    expect(editor.updates.slice(before)).toEqual([{ sessionUpdate: 'usage_update', used: 1, size: 2 }])
  })
})

describe('offers that an agent says in its own way', () => {
  test('are read as far as they can be', () => {
    const odd = {
      title: 7,
      mode: 'a',
      modes: [{ id: 'a', name: 7 }, { name: 'none' }, 'x'],
      options: [
        { id: 'x', type: 'range' },
        { id: 'y', type: 'boolean', value: 'no' },
      ],
      commands: { name: 'x' },
    }
    const { editor, result } = opened({ 'query.offers': odd })
    expect(result).toMatchObject({ modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'a' }] } })
    expect(result).not.toHaveProperty('configOptions')
    expect(editor.updates).toEqual([])
  })
})

describe('the models of an agent', () => {
  const MODELS = { 'query.models': { models: [{ id: 'm1' }, { id: 'm2' }] }, 'query.state': { model: 'm2' } }
  const OPTION = {
    id: 'model',
    name: 'Model',
    category: 'model',
    type: 'select',
    currentValue: 'm2',
    options: [
      { value: 'm1', name: 'm1' },
      { value: 'm2', name: 'm2' },
    ],
  }

  test('are an option, which stays when the agent changes its own', () => {
    const { editor, result, sessionId } = opened(MODELS)
    expect(result['configOptions']).toEqual([OPTION])
    const { result: set } = editor.ask('session/set_config_option', { sessionId, configId: 'model', value: 'm1' })!
    expect(set).toEqual({ configOptions: [{ ...OPTION, currentValue: 'm1' }] })
    expect(editor.drive.commands.at(-1)).toMatchObject({ type: 'config-set', model: 'm1' })
    const { exchange } = editor.prompt(sessionId)
    const json = JSON.stringify({ options: [OFFERS.options![1]] })
    editor.drive.link.encodeLink!({ turn: null, type: 'session-changed', json }, exchange)
    expect(editor.updates.at(-1)).toEqual({
      sessionUpdate: 'config_option_update',
      configOptions: [EFFORT, { ...OPTION, currentValue: 'm1' }],
    })
  })

  test.each([
    ['none is known to be used', { ...MODELS, 'query.state': {} }],
    ['another one is used', { ...MODELS, 'query.state': { model: 'm3' } }],
    ['they have no names', { ...MODELS, 'query.models': { models: [7, {}] } }],
    ['they are none', { ...MODELS, 'query.models': [] }],
    ['the agent has none', { ...MODELS, 'query.models': { models: [] } }],
    ['the gateway does not know', { ...MODELS, 'query.models': fault('internal', 'no') }],
    ['its state is not known', { ...MODELS, 'query.state': fault('internal', 'no') }],
    ['nobody can choose', { ...MODELS, 'query.agent': { name: 'a', protocol: 'zene', carries: [] } }],
  ])('are none where %s', (_, answers) => {
    expect(opened(answers).result).not.toHaveProperty('configOptions')
  })

  test('are not offered twice', () => {
    const own = { id: 'llm', category: 'model', type: 'select', value: 'x', choices: [{ value: 'x' }] }
    const { result } = opened({ ...MODELS, 'query.offers': { options: [own] } })
    expect(result['configOptions']).toMatchObject([{ id: 'llm' }])
  })
})
