/** `1 file`, `2 files`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `0 of 1 machines`: a part of a group is counted in the plural, however many are in the group. */
export function formatShare(part: number, total: number, noun: string): string {
  return `${part} of ${total} ${noun}s`;
}
