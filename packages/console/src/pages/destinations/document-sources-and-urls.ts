import type { ConfigObject } from '../../api/response-types.ts'

export function sourcesOf({ document }: Pick<ConfigObject, 'document'>): readonly string[] {
  const { sources } = document
  return Array.isArray(sources) ? sources.filter(each => typeof each === 'string') : []
}

/** The URLs of the webhooks, without the `/***` that masks their paths. */
export function urlsOf({ document }: Pick<ConfigObject, 'document'>): readonly string[] {
  const { webhooks } = document
  if (!Array.isArray(webhooks)) return []
  return webhooks
    .map((each: unknown) => (each as { url?: unknown } | null)?.url)
    .filter(url => typeof url === 'string')
    .map(url => url.replace(/\/\*\*\*$/, ''))
}
