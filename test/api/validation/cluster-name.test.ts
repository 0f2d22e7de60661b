import { expect, it } from 'vitest';
import { kubeconfigSecret } from '../../../src/api/names.ts';
import { clusterNameReason } from '../../../src/api/validation/cluster-name.ts';
import { HUB_TARGET } from '../../../src/sync/rendered.ts';

it.each(['prod-eu-1', 'a', '1', 'a'.repeat(52)])('accepts %s', (name) => {
  expect(clusterNameReason(name)).toBeUndefined();
  expect(kubeconfigSecret(name).length).toBeLessThanOrEqual(63);
});

it.each(['', 'Prod', '-a', 'a-', 'a.b', 'a b', 'a'.repeat(53), '../x'])('refuses %j', (name) => {
  expect(clusterNameReason(name)).toContain('lower-case letters');
});

it('refuses the name under which a fleet has the objects of its hub', () => {
  expect(clusterNameReason(HUB_TARGET)).toContain('that of the hub itself');
});
