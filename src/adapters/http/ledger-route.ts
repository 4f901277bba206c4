import type { JsonObject } from '../../core/message/json.ts'
import { ledgerQueryOf, type ReadLedger } from '../../core/operator/ledger-query-and-view.ts'
import type { Clock } from '../../core/ports.ts'
import { ledgerPath } from './api-paths-and-methods.ts'
import type { Guard, Handler } from './authenticate-and-audit-requests.ts'
import type { HttpServer } from './json-api-server.ts'
import { invalidQuery } from './refuse-query-and-set-etag.ts'
import { ok, toObjectFormat } from './response-codes-and-bodies.ts'

interface Deps extends Pick<HttpServer, 'app'> {
  readonly readLedger: ReadLedger
  readonly guard: Guard
  readonly clock: Pick<Clock, 'now'>
}

export function addLedgerRoute({ app, guard, readLedger, clock }: Deps): void {
  const ledger: Handler = async ({ request }) => {
    const read = ledgerQueryOf(request.query as JsonObject, clock.now())
    if (read.kind === 'invalid') return { answer: invalidQuery(read.problems) }
    return { answer: ok(JSON.stringify(await readLedger(read.query))) }
  }
  app.get(ledgerPath, guard(ledgerPath, ledger, { toRouteFormat: toObjectFormat }))
}
