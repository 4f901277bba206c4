import { useRef } from 'preact/hooks'
import { randomText } from './random-text.ts'

/**
 * Returns a function that makes an idempotency key. A body that equals the previous one gets the
 * same key, so a repeated request creates no second job.
 */
export function useIdempotencyKey(): (body: object) => string {
  const last = useRef<{ readonly text: string; readonly key: string }>()
  return body => {
    const text = JSON.stringify(body)
    if (last.current?.text !== text) last.current = { text, key: randomText() }
    return last.current.key
  }
}
