import fastifyStatic from '@fastify/static'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { consolePath } from './api-paths-and-methods.ts'
import type { HttpServer } from './json-api-server.ts'
import { type HttpResponse, problem } from './response-codes-and-bodies.ts'

interface Deps extends Pick<HttpServer, 'app' | 'connections' | 'send' | 'fail'> {
  /** The directory of the built console; `undefined` when not built. */
  readonly directory: string | undefined
}

/**
 * A browser loads files only from this listener, and sends requests only to it. Inline scripts and
 * styles are forbidden, and other pages cannot show the console in a frame.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const consoleHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Adds the routes of the console: files under `/console/assets/`, whose names contain a hash, and
 * one HTML page for all other paths under `/console/`.
 */
export function addConsoleRoutes({ app, connections, send, fail, directory }: Deps): void {
  app.get('/', (request, reply) => send(request, reply, toConsole))
  app.register(
    async console => {
      console.addHook('onRequest', (_request, reply, done) => {
        reply.headers(consoleHeaders)
        done()
      })
      console.addHook('onSend', ({ raw }, reply, _payload, done) => {
        const isLast = connections.isOpen(raw) && (connections.of(raw).isLast || !connections.staysAfter(raw))
        if (isLast) reply.header('connection', 'close')
        done()
      })
      const absent = directory === undefined ? notBuilt : noFile
      console.setNotFoundHandler((request, reply) =>
        send(request, reply, isReading(request) ? absent : methodNotAllowed(request)),
      )
      // `@fastify/static` refuses a malformed path, or one outside of the directory, with a 4xx
      // error.
      console.setErrorHandler((error: FastifyError, request, reply) => {
        if ((error.statusCode ?? 500) < 500) send(request, reply, noFile)
        else fail(request, reply, error)
      })
      if (directory === undefined) return
      const shared = { preCompressed: true, acceptRanges: false, dotfiles: 'deny' } as const
      const options = { ...shared, prefix: '/assets/', index: false, immutable: true, maxAge: '1y' } as const
      await console.register(fastifyStatic, { ...options, root: `${directory}/assets` })
      // No ETag and no Last-Modified: all files of an npm package have the same modification time,
      // so two versions could have the same ETag.
      const uncached = { ...shared, cacheControl: false, etag: false, lastModified: false }
      const sendPage = (_request: FastifyRequest, reply: FastifyReply) =>
        reply.header('cache-control', 'no-cache').sendFile('index.html', directory, uncached)
      console.get('/', sendPage)
      console.get('/*', sendPage)
    },
    { prefix: consolePath },
  )
}

const toConsole: HttpResponse = { code: 'ok', status: 302, headers: { location: `${consolePath}/` }, body: '' }
const notBuilt = problem(
  'not_found',
  "The console is not built: run 'npm run build:console' in the checkout, and start the process again.",
)
const noFile = problem(
  'not_found',
  'The console has no file with this name. The open page may be from an earlier version of the console: reload the page.',
)

const isReading = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'
const methodNotAllowed = ({ method }: FastifyRequest): HttpResponse =>
  problem('method_not_allowed', `This path does not support ${method}: use GET or HEAD.`, {
    allow: 'GET, HEAD, OPTIONS',
  })
