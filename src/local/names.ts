/** The names of local clusters, in the order in which a fleet grows. The first one is the hub. */
const FIRST = ['hub', 'test', 'pre', 'prod'] as const;

export function clusterNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => FIRST[index] ?? `prod-${index - FIRST.length + 2}`);
}

export const HUB: string = FIRST[0];
