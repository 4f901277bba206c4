/** Returns a number with its noun: `1 topic`, `2 topics`. */
export const countWithNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
