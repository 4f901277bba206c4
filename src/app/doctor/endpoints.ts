import type { Destination } from '../../core/settings.ts'
import { revealed } from '../../core/units.ts'

/** One place that connections go to, however many webhooks are there. */
export interface Endpoint {
  /** Its origin: what comes behind it may hold a secret. */
  readonly url: URL
  /** `crm/0, erp/0 https://hooks.example.com` */
  readonly which: string
}

/** Those of destinations that are switched on, each once; paused ones too. */
export function endpointsOf(destinations: readonly Destination[]): readonly Endpoint[] {
  const webhooks = destinations
    .filter(({ enabled }) => enabled)
    .flatMap(destination =>
      destination.webhooks.map(({ label, url }) => ({
        name: `${destination.id}/${label}`,
        url: new URL(revealed(url)),
      })),
    )
  return [...Map.groupBy(webhooks, ({ url }) => url.origin)].map(([origin, those]) => ({
    url: new URL(origin),
    which: `${namesOf(those.map(({ name }) => name))} ${origin}`,
  }))
}

const mostNames = 3

function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ')
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown
}
