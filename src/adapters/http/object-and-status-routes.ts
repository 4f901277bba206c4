import { objectKinds } from '../../core/config-objects/config-objects.ts'
import { type ObjectsApi, switches } from '../../core/operator/objects-api.ts'
import {
  changesPath,
  destinationPath,
  destinationStatusPath,
  destinationsPath,
  previewPath,
  rotateKeyPath,
  rotateSecretPath,
  sourcePath,
  sourcesPath,
  statusPath,
  switchPath,
  testPath,
} from './api-paths-and-methods.ts'
import type { Guard, Handler } from './authenticate-and-audit-requests.ts'
import type { HttpServer } from './json-api-server.ts'
import type { RequestBodyDeps } from './json-object-body.ts'
import { createChangeHandlers } from './object-change-handlers.ts'
import { createObjectHandlers } from './object-read-handlers.ts'
import { createPreviewHandler } from './preview-message-handler.ts'
import { withoutQuery } from './refuse-query-and-set-etag.ts'
import { toObjectFormat } from './response-codes-and-bodies.ts'
import { createTestMessageHandler } from './send-test-message-handler.ts'

interface Deps extends RequestBodyDeps, Pick<HttpServer, 'app'> {
  readonly api: ObjectsApi
  readonly guard: Guard
}

const paths = {
  destination: { all: destinationsPath, one: destinationPath },
  source: { all: sourcesPath, one: sourcePath },
} as const

/**
 * Adds the routes for destinations, sources, changes and status. The audit log shows the action of
 * each change, for example `patch_destination` or `rotate_secret`.
 */
export function addObjectRoutes({ guard, app, ...deps }: Deps): void {
  const handlers = { ...createObjectHandlers(deps), ...createChangeHandlers(deps) }
  const guarded = (route: string, handle: Handler, action?: string) =>
    guard(route, handle, { action, toRouteFormat: toObjectFormat })

  for (const kind of objectKinds) {
    const { all, one } = paths[kind]
    app.get(all, guarded(all, handlers.list(kind)))
    app.get(one, guarded(one, withoutQuery(handlers.show(kind))))
    app.put(one, guarded(one, handlers.replace(kind), `put_${kind}`))
    app.patch(one, guarded(one, handlers.patch(kind), `patch_${kind}`))
    app.delete(one, guarded(one, handlers.remove(kind), `delete_${kind}`))
  }
  for (const to of switches)
    app.post(switchPath(to), guarded(switchPath(to), handlers.switchTo(to), `${to}_destination`))
  app.post(rotateSecretPath, guarded(rotateSecretPath, handlers.rotateSecret, 'rotate_secret'))
  app.post(rotateKeyPath, guarded(rotateKeyPath, handlers.rotateKey, 'rotate_key'))
  app.post(testPath, guarded(testPath, withoutQuery(createTestMessageHandler(deps)), 'test_destination'))
  app.post(previewPath, guarded(previewPath, withoutQuery(createPreviewHandler(deps)), 'preview_destination'))
  app.get(destinationStatusPath, guarded(destinationStatusPath, withoutQuery(handlers.destinationStatus)))
  app.get(changesPath, guarded(changesPath, handlers.changes))
  app.get(statusPath, guarded(statusPath, withoutQuery(handlers.status)))
}
