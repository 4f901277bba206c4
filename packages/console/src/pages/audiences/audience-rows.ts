import type { Audience } from '../../api/response-types.ts'

type AudienceDestination = NonNullable<Audience['destinations']>[number]

/** An audience at one destination, or an audience without destinations. */
export interface AudienceRow {
  readonly audience: Audience
  readonly destination: AudienceDestination | undefined
}

export const audienceRows = (audiences: readonly Audience[]): readonly AudienceRow[] =>
  audiences.flatMap<AudienceRow>(audience => {
    const destinations = audience.destinations ?? []
    if (destinations.length === 0) return [{ audience, destination: undefined }]
    return destinations.map(destination => ({ audience, destination }))
  })
