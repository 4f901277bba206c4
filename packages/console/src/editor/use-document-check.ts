import { useEffect, useState } from 'preact/hooks'
import { toApiError } from '../api/api-error.ts'
import type { ChangeResult, Problem } from '../api/types.ts'
import { useSession } from '../session/session-context.ts'
import { parseText } from './document-text.ts'

export type Check =
  | { readonly kind: 'unchanged' | 'checking' }
  | { readonly kind: 'valid'; readonly changedFields: readonly string[] }
  | { readonly kind: 'invalid'; readonly message: string; readonly problems: readonly Problem[] }

export interface DocumentToCheck {
  /** The path of the object; `undefined` while it has no id. */
  readonly path: string | undefined
  readonly expects: number | 'absent'
  readonly text: string
  readonly isChanged: boolean
}

/** Milliseconds without a key press after which a text is checked. */
const pauseMs = 500

/** Lets the operator service check a document while the user edits it. The check writes nothing. */
export function useDocumentCheck({ path, expects, text, isChanged }: DocumentToCheck): Check {
  const { api, isPaused } = useSession()
  const [checked, setChecked] = useState<{ text: string; check: Check }>()
  useEffect(() => {
    if (!isChanged || path === undefined || isPaused) return
    let isCurrent = true
    const timer = setTimeout(async () => {
      const check = await checkOf(text, body =>
        api.change<ChangeResult>('PUT', `${path}?dryRun=true`, { body, expects }),
      )
      if (isCurrent) setChecked({ text, check })
    }, pauseMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [api, isPaused, path, expects, text, isChanged])
  if (!isChanged || path === undefined) return { kind: 'unchanged' }
  // While a new check runs, the result of the previous check stays. Otherwise, the problems would
  // disappear for a moment, and the fields below them would jump.
  return checked?.check ?? { kind: 'checking' }
}

async function checkOf(text: string, send: (body: unknown) => Promise<ChangeResult>): Promise<Check> {
  const parsed = parseText(text)
  if (parsed.kind === 'wrong') return { kind: 'invalid', message: parsed.message, problems: [] }
  try {
    return { kind: 'valid', changedFields: (await send(parsed.document)).changedFields ?? [] }
  } catch (failure) {
    const { message, problems } = toApiError(failure)
    return { kind: 'invalid', message, problems }
  }
}
