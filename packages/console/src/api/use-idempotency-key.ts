import { useRef } from 'preact/hooks'
import { randomText } from './random-text.ts'

/**
 * Returns a function that makes the idempotency key of a request to create a job. While the body
 * stays the same, so does the key: a repeated request creates no second job.
 */
export function useIdempotencyKey(): (body: object) => string {
  const last = useRef<{ readonly text: string; readonly key: string }>()
  return body => {
    const text = JSON.stringify(body)
    if (last.current?.text !== text) last.current = { text, key: randomText() }
    return last.current.key
  }
}
