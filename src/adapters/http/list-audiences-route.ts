import type { ListAudiences } from '../../core/operator/audience-view.ts'
import { audiencesPath } from './api-paths-and-methods.ts'
import type { Guard, Handler } from './authenticate-and-audit-requests.ts'
import type { HttpServer } from './json-api-server.ts'
import { withoutQuery } from './refuse-query-and-set-etag.ts'
import { ok, toObjectFormat } from './response-codes-and-bodies.ts'

interface Deps extends Pick<HttpServer, 'app'> {
  readonly listAudiences: ListAudiences
  readonly guard: Guard
}

export function addListAudiencesRoute({ app, guard, listAudiences }: Deps): void {
  const list: Handler = async () => ({ answer: ok(JSON.stringify(await listAudiences())) })
  app.get(audiencesPath, guard(audiencesPath, withoutQuery(list), { toRouteFormat: toObjectFormat }))
}
