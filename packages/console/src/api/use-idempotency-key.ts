import { useRef } from 'preact/hooks'
import { randomText } from './random-text.ts'

/**
 * Returns a function that makes the idempotency key of a request to create a job. For the same body
 * as in the previous call, it returns the same key, until the component is removed. So if a request
 * gets no response and the user repeats it, the user gets the job that the first request created.
 */
export function useIdempotencyKey(): (body: object) => string {
  const last = useRef<{ readonly text: string; readonly key: string }>()
  return body => {
    const text = JSON.stringify(body)
    if (last.current?.text !== text) last.current = { text, key: randomText() }
    return last.current.key
  }
}
