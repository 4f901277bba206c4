import { z } from 'zod'
import { refuseNoProxyEntry } from '../network/no-proxy.ts'
import { parseUrl, refuseUrl } from '../network/url.ts'
import { cidr, fileName, oneOf, port, secretText, text, unlessRefused, withMessage } from './value-types.ts'

/* How Hookline connects to endpoints: `network`, and `tls` of a destination. */

export const endpointTls = z
  .strictObject(
    {
      clientCert: text
        .optional()
        .describe(
          'Client certificate (PEM), followed by its intermediate certificates if it has any; requires `clientKey` or `clientKeyFile`.',
        ),
      clientCertFile: fileName
        .optional()
        .describe('File with the client certificate and its intermediate certificates (PEM).'),
      clientKey: secretText
        .optional()
        .describe(
          'Private key (PEM) of the client certificate, without a passphrase. Alternatively, set `clientKeyFile`.',
        ),
      clientKeyFile: fileName
        .optional()
        .describe('File with the private key (PEM) of the client certificate, without a passphrase.'),
      ca: text
        .optional()
        .describe(
          'CA certificates (PEM) to trust for this destination, instead of the public CAs and `network.caFile`.',
        ),
      caFile: fileName.optional().describe('File with the CA certificates (PEM), in place of `ca`.'),
    },
    withMessage('must be a mapping, for example { caFile: ca.pem }'),
  )
  .optional()
  .describe('Client certificate and trusted CAs for the endpoints of this destination (mutual TLS).')

function refuseProxyUrl(value: string): string | undefined {
  const refusal = refuseUrl(value)
  if (refusal !== undefined) return refusal
  const { pathname = '', search = '', hash = '' } = parseUrl(value) ?? {}
  return pathname === '/' && search === '' && hash === '' ? undefined : 'must have only a scheme, host and port'
}

const proxyUserText = 'must not contain colons or control characters'

const proxy = z
  .strictObject(
    {
      url: z
        .string()
        .superRefine(unlessRefused(refuseProxyUrl))
        .describe(
          'URL of the proxy, for example `http://proxy:3128`. With https://, the connection to the proxy is encrypted too.',
        ),
      username: text
        .regex(/^[^:\p{Cc}]+$/u, proxyUserText)
        .optional()
        .describe('User name for the proxy (Basic authentication); requires `passwordFile`.'),
      passwordFile: fileName.optional().describe('File with the password for the proxy; requires `username`.'),
      noProxy: z
        .array(z.string().superRefine(unlessRefused(refuseNoProxyEntry)))
        .default([])
        .describe(
          'Hosts to which Hookline connects without the proxy. An entry is a host name, a domain with a leading dot (`.example.com` for all hosts below it), an IP address or a CIDR block. Addresses and blocks match only URLs whose host is an IP address.',
        ),
      resolve: oneOf(['local', 'proxy'])
        .default('local')
        .describe(
          '`local`: Hookline resolves host names, checks the addresses, and sends the proxy a checked address. `proxy`: Hookline sends the host name, and the proxy must refuse private addresses.',
        ),
    },
    withMessage('must be a mapping, for example { url: http://proxy:3128 }'),
  )
  .optional()
  .describe('HTTP proxy (method CONNECT) for all requests to webhooks and token endpoints. Absent: direct connections.')

export const network = z
  .strictObject({
    allow: z
      .array(cidr)
      .default([])
      .describe(
        'Private addresses, and blocks of private addresses, to which Hookline may send webhook requests. Addresses of cloud metadata services are never allowed.',
      ),
    ports: z
      .array(port)
      .min(1)
      .optional()
      .describe('Ports that webhook URLs may have. Absent: 80, 443 and all ports from 1024.'),
    httpsOnly: z
      .boolean()
      .default(false)
      .describe(
        '`true`: the URLs of webhooks and the OAuth 2.0 token URLs must begin with https://. The key does not apply to other URLs, such as `registry.url`.',
      ),
    caFile: fileName
      .optional()
      .describe('File with CA certificates (PEM) to trust for webhooks in addition to the public CAs.'),
    proxy,
  })
  .prefault({})
  .describe('Rules for connections to webhooks: addresses, ports, https, certificate authorities (CAs) and the proxy.')
