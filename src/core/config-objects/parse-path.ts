import type { Path } from '../settings/settings-problem.ts'

const part = /\.?([\w$-]+|\*\*\*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy

/**
 * Parses a formatted path, for example `webhooks[0].headers["x y"]`, the inverse of `formatPath`.
 * Parses only the part before the first invalid character.
 */
export function parsePath(text: string): Path {
  return [...text.matchAll(part)].map(([, key, index, quoted]) =>
    index !== undefined ? Number(index) : (key ?? (JSON.parse(quoted ?? '""') as string)),
  )
}
