/** The names of the first local clusters. The first one is the hub. */
const FIRST_NAMES = ['hub', 'test', 'pre', 'prod'] as const;

export function clusterNames(count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) => FIRST_NAMES[index] ?? `prod-${index - FIRST_NAMES.length + 2}`,
  );
}

export const HUB: string = FIRST_NAMES[0];
