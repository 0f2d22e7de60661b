import { expect, it } from 'vitest';
import { createMetrics } from '../../../../src/kube/process/metrics.ts';
import { registerDelivery } from '../../../../src/sync/promote/release/delivery-metrics.ts';

it('DAT-04 counts deliveries by pipeline and stage, from zero on', async () => {
  const metrics = createMetrics();
  const times = registerDelivery(metrics);
  times.pipelineOpened('fleet', ['test', 'prod']);
  const begun = await metrics.text();
  expect(begun).toContain('kubenode_sync_releases_total{pipeline="fleet",event="Reverted"} 0');
  expect(begun).toContain(
    'kubenode_sync_stage_releases_total{pipeline="fleet",stage="prod",event="Failed"} 0',
  );
  expect(begun).toContain('kubenode_sync_stage_lead_seconds_count{pipeline="fleet",stage="test"} 0');
  expect(begun).toContain('kubenode_sync_fleet_lead_seconds_count{pipeline="fleet"} 0');
  expect(begun).toContain('kubenode_sync_restore_seconds_count{pipeline="fleet"} 0');

  times.delivered('fleet', { type: 'Stage', stage: 'prod', event: 'Proven', leadSeconds: 400 });
  times.delivered('fleet', { type: 'Release', event: 'Proven', leadSeconds: 400 });
  times.delivered('fleet', { type: 'Release', event: 'Failed' });
  times.delivered('fleet', { type: 'Restored', seconds: 90 });
  // Another reconcile resets nothing.
  times.pipelineOpened('fleet', ['test', 'prod']);
  const text = await metrics.text();
  expect(text).toContain('kubenode_sync_stage_lead_seconds_sum{pipeline="fleet",stage="prod"} 400');
  expect(text).toContain('kubenode_sync_fleet_lead_seconds_bucket{le="900",pipeline="fleet"} 1');
  expect(text).toContain('kubenode_sync_releases_total{pipeline="fleet",event="Failed"} 1');
  expect(text).toContain('kubenode_sync_restore_seconds_sum{pipeline="fleet"} 90');
});
