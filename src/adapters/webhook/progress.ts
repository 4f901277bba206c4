import { isIP, type Socket } from 'node:net'
import type { CallPhase } from '../../core/ports.ts'

/** How far a connection has come: what is being waited for, and what has failed when it breaks. */
export type ConnectionPhase = Exclude<CallPhase, 'address' | 'deadline'>

export interface Progress {
  readonly phase: ConnectionPhase
  /** On the monotonic clock. */
  readonly dialledAt: number
}

/** Follows a connection from the moment that it is dialled. */
export function followProgress(socket: Socket, host: string, isTls: boolean, dialledAt: number): Progress {
  const progress: { phase: ConnectionPhase; readonly dialledAt: number } = {
    phase: isIP(host) === 0 ? 'dns' : 'connect',
    dialledAt,
  }
  const enter = (next: ConnectionPhase) => () => {
    progress.phase = next
  }
  socket.once('lookup', enter('connect'))
  socket.once('connect', enter(isTls ? 'tls' : 'exchange'))
  if (isTls) socket.once('secureConnect', enter('exchange'))
  return progress
}
