import { describe, expect, it } from 'vitest';
import type { Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { registerFleetMetrics } from '../../../src/observability/fleet/register.ts';
import { repairJob } from '../../controllers/remedyjob/jobs.ts';
import { condition, fleet, machine } from '../../support/builders.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function bed(list: readonly Machine[]) {
  const metrics = createMetrics();
  const state = { list, jobs: [] as readonly RemedyOperationJob[], synced: true, reads: 0 };
  const clock = virtualClock();
  const store = {
    hasSynced: () => state.synced,
    list: () => {
      state.reads += 1;
      return state.list;
    },
  };
  const jobs = { store: { hasSynced: () => state.synced, list: () => state.jobs } };
  registerFleetMetrics(metrics, { machines: { store }, jobs }, clock);
  const lines = async (): Promise<readonly string[]> =>
    (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { state, clock, lines };
}

describe('registerFleetMetrics', () => {
  it('DAT-01 tells nothing until the list of machines is complete: no SLO counts a fleet of 0', async () => {
    const { state, lines } = bed(fleet('done behind'));
    state.synced = false;
    expect(await lines()).toEqual([]);
    state.synced = true;
    expect(await lines()).toContain('kubenode_machines{state="Ready"} 2');
  });

  it('DAT-01 counts the repairs that have not ended, and none before their list is complete', async () => {
    const { state, lines } = bed([]);
    const settled = condition('Settled', 'True', { reason: 'Succeeded' });
    state.jobs = [repairJob(), repairJob({ status: { conditions: [settled] } })];
    expect(await lines()).toContain('kubenode_remedy_open_jobs 1');
    state.synced = false;
    expect((await lines()).filter((line) => line.startsWith('kubenode_remedy_open'))).toEqual([]);
  });

  it('DAT-12 counts once for all gauges of a scrape, and again for the next one', async () => {
    const { state, clock, lines } = bed(fleet('done'));
    await lines();
    expect(state.reads).toBe(1);
    state.list = [];
    await clock.advance(15_000);
    expect(await lines()).toContain('kubenode_machines{state="Ready"} 0');
    expect(state.reads).toBe(2);
  });

  it('DAT-12 has as many series for 10,000 machines as for two, whatever flaps', async () => {
    const { state, clock, lines } = bed(fleet('done behind'));
    const few = (await lines()).length;
    for (let round = 0; round < 3; round += 1) {
      state.list = Array.from({ length: 10_000 }, (_, index) =>
        machine(`r${round}-${index}`, { status: { conditions: [] } }),
      );
      await clock.advance(15_000);
      expect((await lines()).length).toBe(few);
    }
  });

  it('DAT-12 leaves out components beyond 200, which people name, and tells how many', async () => {
    const { clock, lines } = bed(
      Array.from({ length: 300 }, (_, index) =>
        machine(`m-${index}`, {
          status: {
            conditions: [],
            components: [{ name: `c-${index}`, state: 'Committed', currentRef: 'x' }],
          },
        }),
      ),
    );
    await lines();
    await clock.advance(15_000);
    const found = await lines();
    expect(found.filter((line) => line.startsWith('kubenode_component_differing')).length).toBe(200);
    expect(found).toContain('kubenode_metric_series_left_out{metric="component_differing_seconds"} 101');
  });
});
