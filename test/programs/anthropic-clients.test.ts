import { expect, test } from 'vitest'
import { MODELS } from '../kit/models/index.ts'
import { anthropicSdk, CLIENTS, FILES } from './anthropic-clients.ts'
import { add, describeClients } from './client-cases.ts'
import { describeWith } from './kit.ts'
import { PARAMETERS } from './openai-clients.ts'

describeWith('clients of Anthropic’s Messages', FILES, () => {
  const scene = describeClients(
    {
      clients: CLIENTS,
      ends: () => ({ whole: 'end_turn', calls: 'tool_use' }),
      callId: /^toolu_[\w-]+$/,
    },
    MODELS['messages']!,
  )

  test('the SDK gives thinking back as it got it, and the model gets it as it was', async () => {
    const sdk = await anthropicSdk({ url: scene.gateway.url })
    scene.scripts = [
      { pieces: [{ reasoning: 'Hm, 2 and 3.', seal: 'c2VhbA+/==' }, add(2, 3)], stop: 'tools' },
      { pieces: [{ text: '5' }] },
    ]
    const body = {
      model: 'model',
      max_tokens: 2000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [{ name: 'add', input_schema: PARAMETERS }],
      messages: [{ role: 'user', content: 'Add.' }] as object[],
    }
    const first = await sdk.messages.stream(body).finalMessage()
    expect(first.content[0]).toEqual({ type: 'thinking', thinking: 'Hm, 2 and 3.', signature: 'c2VhbA+/==' })
    const result = { type: 'tool_result', tool_use_id: first.content[1].id, content: '5' }
    body.messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: [result] })
    const second = await sdk.messages.create(body)
    expect(second.content).toEqual([{ type: 'text', text: '5' }])
    const sent = { type: 'thinking', thinking: 'Hm, 2 and 3.', signature: 'c2VhbA+/==' }
    expect(scene.requests[1]!.body).toMatchObject({
      thinking: body.thinking,
      messages: [{}, { role: 'assistant', content: [sent, { type: 'tool_use', id: 'add-2' }] }, {}],
    })
    // In a turn of its own, with the whole conversation, it is the same.
    body.messages.push({ role: 'assistant', content: second.content }, { role: 'user', content: 'And?' })
    await sdk.messages.create(body)
    expect(scene.requests[2]!.body).toMatchObject({ messages: [{}, { content: [sent, {}] }, {}, {}, {}] })
  })

  test('the SDK counts tokens, and lists the agents as models', async () => {
    const sdk = await anthropicSdk({ url: `${scene.gateway.url}/anthropic` })
    const counted = await sdk.messages.countTokens({
      model: 'helper',
      messages: [{ role: 'user', content: 'hi there' }],
    })
    expect(counted).toEqual({ input_tokens: 10 })
    const listed = []
    for await (const { type, id } of sdk.models.list()) listed.push([type, id])
    expect(listed).toContainEqual(['model', 'helper'])
    expect(await sdk.models.retrieve('coder')).toMatchObject({ id: 'coder', display_name: 'coder' })
    const gone = sdk.models.retrieve('gone')
    await expect(gone).rejects.toMatchObject({ status: 404, error: { error: { type: 'not_found_error' } } })
  })

  test('the SDK knows the type of an error, before and in a stream, and the id of its request', async () => {
    const sdk = await anthropicSdk({ url: scene.gateway.url })
    const body = { model: 'model', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
    scene.scripts = [{ error: { status: 429, code: 'rate_limit_error', message: 'Slow.' } }]
    const early = await sdk.messages.create(body).catch((error: unknown) => error)
    expect(early).toMatchObject({ status: 429, type: 'rate_limit_error', requestID: expect.stringMatching(/^req_/) })
    scene.scripts = [{ pieces: [{ text: 'Half' }], error: { status: 529, code: 'overloaded_error', message: 'Busy.' } }]
    const late = await sdk.messages
      .stream(body)
      .finalMessage()
      .catch((error: unknown) => error)
    expect(late).toMatchObject({ type: 'overloaded_error' })
  })
})
