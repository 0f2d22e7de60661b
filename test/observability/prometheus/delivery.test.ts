/** The real promtool evaluates the recording rules; where it is missing these tests are skipped. */
import { describe, expect, it } from 'vitest';
import { COMPONENT_GROUP, RELEASE_GROUP } from '../../../src/observability/prometheus/delivery.ts';
import { expectRecorded, hasPromtool, type Sample } from './promtool.ts';

/** Ten samples within ten hours, evaluated at the last one. */
async function evaluate(
  series: Readonly<Record<string, string>>,
  name: string,
  expected: readonly Sample[],
): Promise<void> {
  const groups = [RELEASE_GROUP, COMPONENT_GROUP];
  await expectRecorded({ groups, series, interval: '1h', at: '10h' }, name, expected);
}

const release = (pipeline: string, event: string, instance = 'a'): string =>
  `kubenode_sync_releases_total{pipeline="${pipeline}",event="${event}",instance="${instance}"}`;

const rollouts = (component: string, event: string): string =>
  `kubenode_component_rollouts_total{component="${component}",event="${event}"}`;

describe.skipIf(!hasPromtool)('DAT-04 the change failure rate in a real promtool', () => {
  it('DAT-04 counts what failed and what was reverted, of all processes that led', async () => {
    const series = {
      [release('fleet', 'Started')]: '0+1x10',
      [release('fleet', 'Started', 'b')]: '0+1x10',
      [release('fleet', 'Failed')]: '0x4 1x5',
      [release('fleet', 'Reverted', 'b')]: '0 1x9',
      [release('idle', 'Started')]: '0x10',
      [release('idle', 'Failed')]: '0x10',
    };
    const result = evaluate(series, 'kubenode:change_failure:ratio_rate7d', [['{pipeline="fleet"}', 0.1]]);
    await expect(result).resolves.toBeUndefined();
  });

  it('DAT-04 has one ratio for each component', async () => {
    const series = {
      [rollouts('kubelet', 'Started')]: '0+1x10',
      [rollouts('kubelet', 'Stopped')]: '0x5 2x5',
      [rollouts('kubelet', 'RolledBack')]: '0x5 3x5',
      [rollouts('kubelet', 'BatchStarted')]: '0+9x10',
      [rollouts('runc', 'Started')]: '0+2x10',
      [rollouts('runc', 'Stopped')]: '0x10',
      [rollouts('runc', 'RolledBack')]: '0x10',
    };
    const result = evaluate(series, 'kubenode:component_change_failure:ratio_rate30d', [
      ['{component="kubelet"}', 0.5],
      ['{component="runc"}', 0],
    ]);
    await expect(result).resolves.toBeUndefined();
  });
});
