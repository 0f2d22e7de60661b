/** The column that tells in which cluster something is. Pure. */
export interface InCluster {
  /** Absent: the command reads one cluster that is not a hub. */
  readonly cluster?: string;
}

/** The first column of a table, with its cell, when a command shows a fleet. */
export function clusterColumn(isFleet: boolean): {
  readonly names: readonly string[];
  readonly cells: (item: InCluster) => readonly string[];
} {
  return isFleet
    ? { names: ['cluster'], cells: ({ cluster = '-' }) => [cluster] }
    : { names: [], cells: () => [] };
}
