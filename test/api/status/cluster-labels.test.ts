import { expect, it } from 'vitest';
import { selectableLabels } from '../../../src/api/status/cluster-labels.ts';
import { hostedCluster } from '../../support/hosting/objects.ts';

it('selects a cluster by environment and region of its spec, whatever its labels are', () => {
  const labels = { 'kubenode.dev/environment': 'prod', 'kubenode.dev/region': 'us', team: 'a' };
  const { metadata, spec } = hostedCluster({ metadata: { labels } });
  expect(selectableLabels({ metadata, spec: { ...spec, region: 'eu' } })).toEqual({
    'kubenode.dev/environment': 'test',
    'kubenode.dev/region': 'eu',
    team: 'a',
  });
  expect(selectableLabels({ metadata, spec })).toMatchObject({ 'kubenode.dev/region': 'us' });
});
