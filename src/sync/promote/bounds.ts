/** Bounds of lists in the status of our kinds. Counts beside a bounded list are not bounded. */

export const MAX_NAMES = 20;
