/** The forwarders resolve all names below this domain to 127.0.0.1. */
export const domain = 'bench.localhost'

export const hostName = (number: number): string => `h${number}.${domain}`

/** The URLs of all hosts, made from the URL of host 0. */
export const hostUrls = (receiverUrl: string, hosts: number): readonly string[] =>
  Array.from({ length: hosts }, (_, number) => receiverUrl.replace(hostName(0), hostName(number)))
