/** All names below it resolve to 127.0.0.1 (RFC 6761 6.3). */
export const domain = 'bench.localhost'

export const hostName = (number: number): string => `h${number}.${domain}`

/** The URL of the receiver with the names of all hosts, from the URL of host 0. */
export const hostUrls = (receiverUrl: string, hosts: number): readonly string[] =>
  Array.from({ length: hosts }, (_, number) => receiverUrl.replace(hostName(0), hostName(number)))
