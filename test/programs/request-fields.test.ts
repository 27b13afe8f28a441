import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Request as MessagesRequest } from '../../codecs/anthropic/front/body.ts'
import { Request as ChatRequest } from '../../codecs/openai/chat/front/request.ts'
import { Request as ResponsesRequest } from '../../codecs/openai/responses/front/body.ts'
import { describeWith, installed } from './kit.ts'

const CHAT = installed('openai/resources/chat/completions/completions.d.ts')
const RESPONSES = installed('openai/resources/responses/responses.d.ts')
const MESSAGES = installed('@anthropic-ai/sdk/resources/beta/messages/messages.d.ts')

describeWith(
  'requests and the types of openai 7.59.0 and @anthropic-ai/sdk 1.14.0',
  [CHAT, RESPONSES, MESSAGES],
  () => {
    test.each([
      [CHAT, 'ChatCompletionCreateParamsBase', ChatRequest],
      [RESPONSES, 'ResponseCreateParamsBase', ResponsesRequest],
      [MESSAGES, 'MessageCreateParamsBase', MessagesRequest],
    ])('every member of a request is checked: %s', (file, name, { entries }) => {
      const body = new RegExp(`^export interface ${name} \\{$(.*?)^\\}$`, 'ms').exec(readFileSync(file, 'utf8'))![1]!
      const members = [...body.matchAll(/^ {4}([a-z_]+)\??:/gm)].map(([, member]) => member!)
      expect(members.length).toBeGreaterThan(20)
      expect(members.filter((member) => !Object.hasOwn(entries, member))).toEqual([])
    })
  },
)
