import type { AskOption } from '../../../src/model/index.ts'
import type { PermissionRequest } from '../schema.ts'

/** Kinds of options; an unknown one is a refusal, so that nothing is allowed by mistake. */
const KINDS: Readonly<Record<string, Pick<AskOption, 'kind' | 'scope'>>> = {
  allow_once: { kind: 'allow', scope: 'once' },
  allow_always: { kind: 'allow', scope: 'always' },
  reject_once: { kind: 'deny', scope: 'once' },
  reject_always: { kind: 'deny', scope: 'always' },
}

/** Reads an option of a permission. */
export function readOption({ optionId, name, kind }: PermissionRequest['options'][number]): AskOption {
  const known = kind != null && Object.hasOwn(KINDS, kind) ? KINDS[kind]! : KINDS['reject_once']!
  return { id: optionId, ...known, ...(name != null && { label: name }) }
}
