import type { Path } from '../settings/settings-problem.ts'

const part = /\.?([\w$-]+|\*\*\*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy

/**
 * The inverse of `formatPath`. Parses `webhooks[0].headers["x y"]`, up to the first invalid
 * character.
 */
export function parsePath(text: string): Path {
  return [...text.matchAll(part)].map(([, key, index, quoted]) =>
    index !== undefined ? Number(index) : (key ?? (JSON.parse(quoted ?? '""') as string)),
  )
}
