/** HTTP requests as bytes, including invalid ones. */

export type Fields = Readonly<Record<string, string | readonly string[]>>

/** An HTTP/1.1 request. Content-Length is added if a body has no header for its length. */
export function request(line: string, headers: Fields = {}, body: string | Buffer = ''): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const framed = Object.keys(headers).some(name => /^(content-length|transfer-encoding)$/i.test(name))
  const length = bytes.length > 0 && !framed ? { 'Content-Length': String(bytes.length) } : {}
  const fields = Object.entries({ Host: 'collector', ...length, ...headers }).flatMap(([name, values]) =>
    [values].flat().map(value => `${name}: ${value}\r\n`),
  )
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${fields.join('')}\r\n`, 'latin1'), bytes])
}

export const post = (path: string, headers: Fields = {}, body: string | Buffer = '{}'): Buffer =>
  request(`POST ${path}`, headers, body)

export const basic = (user: string, password = ''): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

export function chunk(piece: string | Buffer): Buffer {
  const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

export const chunked = (...pieces: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([...pieces.map(piece => chunk(piece)), Buffer.from('0\r\n\r\n')])
