import { type KnownMembers, reportFurther } from '../../../../src/codec-kit/index.ts'
import type { Report } from '../../part-loss.ts'
import type { Item } from './events.ts'

const named = (names: string): KnownMembers => Object.fromEntries(names.split(' ').map((name) => [name, true as const]))

/** The members of a whole response that are read, or that it only repeats of its request. */
export const BODY: KnownMembers = {
  ...named('id object created_at completed_at status error incomplete_details model output output_text usage'),
  ...named(
    'background billing conversation instructions max_output_tokens max_tool_calls metadata parallel_tool_calls',
  ),
  ...named('previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning'),
  ...named(
    'safety_identifier service_tier store temperature text tool_choice tools top_logprobs top_p truncation user',
  ),
  ...named('frequency_penalty presence_penalty'),
}

/** The members of output items that are read: of a call of the server, its arguments and its result. */
const ITEM: KnownMembers = {
  ...named('type id status role phase content summary encrypted_content'),
  ...named('call_id name namespace arguments input action output results error'),
}
const PART = named('type text refusal annotations logprobs')

/** Reports the members of an item that its client is not shown; an item of an unknown type is passed on whole. */
export function reportItem(item: Item, report: Report): void {
  if (!isRead(item)) return
  reportFurther(item, ITEM, report)
  for (const part of [...(item.content ?? []), ...(item.summary ?? [])]) reportFurther(part, PART, report)
}

function isRead({ type }: Item): boolean {
  return type === 'message' || type === 'reasoning' || type.endsWith('_call')
}
