/** Which attempts are recorded in the attempts topic: see `isRecorded`. */
export const recordedAttempts = ['failures', 'all', 'off'] as const
export type RecordedAttempts = (typeof recordedAttempts)[number]
