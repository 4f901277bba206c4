import { useEffect, useState } from 'preact/hooks'
import { type ApiError, toApiError } from '../api/api-error.ts'
import type { ChangeResult, Problem } from '../api/response-types.ts'
import { useSession } from '../session/session-context.ts'
import { parseText } from './document-text.ts'

export type Check =
  /** `unknown`: the last check had no result, and is repeated. */
  | { readonly kind: 'unchanged' | 'checking' | 'unknown' }
  | { readonly kind: 'valid'; readonly changedFields: readonly string[] }
  | { readonly kind: 'invalid'; readonly message: string; readonly problems: readonly Problem[] }

export interface DocumentToCheck {
  /** The path of the object in the operator API; `undefined` while the object has no id. */
  readonly path: string | undefined
  readonly expects: number | 'absent'
  readonly text: string
  readonly isChanged: boolean
}

/** Milliseconds without a key press after which a text is checked. */
const pauseMs = 500
/** Milliseconds until a check without a result is repeated. */
export const repeatMs = 5000

/** Lets the operator service check a document while the user edits it. Nothing is saved. */
export function useDocumentCheck({ path, expects, text, isChanged }: DocumentToCheck): Check {
  const { api, isPaused } = useSession()
  const [checked, setChecked] = useState<{ text: string; check: Check }>()
  useEffect(() => {
    if (!isChanged || path === undefined || isPaused) return
    let isCurrent = true
    let timer: ReturnType<typeof setTimeout>
    const run = async (): Promise<void> => {
      const check = await checkOf(text, body =>
        api.change<ChangeResult>('PUT', `${path}?dryRun=true`, { body, expects }),
      )
      if (!isCurrent) return
      setChecked({ text, check })
      if (check.kind === 'unknown') timer = setTimeout(run, repeatMs)
    }
    timer = setTimeout(run, pauseMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [api, isPaused, path, expects, text, isChanged])
  if (!isChanged || path === undefined) return { kind: 'unchanged' }
  // The previous result stays during a check, so that the fields do not jump.
  return checked?.check ?? { kind: 'checking' }
}

async function checkOf(text: string, send: (body: unknown) => Promise<ChangeResult>): Promise<Check> {
  const parsed = parseText(text)
  if (parsed.kind === 'wrong') return { kind: 'invalid', message: parsed.message, problems: [] }
  try {
    return { kind: 'valid', changedFields: (await send(parsed.document)).changedFields ?? [] }
  } catch (failure) {
    const error = toApiError(failure)
    const { message, problems } = error
    return isAboutDocument(error) ? { kind: 'invalid', message, problems } : { kind: 'unknown' }
  }
}

/**
 * Whether an error is about the document or its version, and not about the session, the rate of
 * requests, or an unavailable service.
 */
const isAboutDocument = ({ status }: ApiError): boolean =>
  status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)
