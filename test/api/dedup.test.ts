import { expect, it } from 'vitest';
import { dedupGroup } from '../../src/api/dedup.ts';
import type { NodeRemedier } from '../../src/api/generated/types.ts';

it.each<[string, NodeRemedier['spec']['dedup'], string]>([
  ['the name of the rule without dedup', undefined, 'disk-pressure'],
  ['the name of the rule with coveredBy only', { coveredBy: ['replace'] }, 'disk-pressure'],
  ['the group that the rule names', { group: 'clean-disk', coveredBy: [] }, 'clean-disk'],
])('dedupGroup is %s', (_, dedup, group) => {
  const spec = (dedup === undefined ? {} : { dedup }) as NodeRemedier['spec'];
  expect(dedupGroup({ metadata: { name: 'disk-pressure' }, spec })).toBe(group);
});
