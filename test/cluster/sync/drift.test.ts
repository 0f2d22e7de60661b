import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CorrectedDrift } from '../../../src/api/generated/types.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { testIo } from '../../support/test-io.ts';
import { STAGES, type Stage, startTestFleet, type TestFleet } from './test-fleet.ts';

const SETTINGS = { name: 'settings', namespace: 'default' };
/** So many times another program takes the same field. */
const FIGHT = 8;

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

describe('drift', () => {
  it('S17 shows which object drifted, who had changed it, and when it was corrected', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.sync('one');
    await fleet.allProven(first);
    expect(await fleet.state('prod')).not.toHaveProperty('drift');

    const { test, prod } = fleet.clusters;
    const edited = await edit(prod.client, 'kubectl-edit');
    const found = await test.client.get(CONFIG_MAPS, SETTINGS);
    await test.client.delete(CONFIG_MAPS, SETTINGS, { uid: found.metadata.uid ?? '' });
    for (const name of STAGES) {
      await expect.poll(() => correctedIn(name)).toMatchObject({ total: 1 });
    }
    expect(await fleet.versions()).toEqual(['1', '1']);
    const row = { object: 'ConfigMap default/settings', unit: 'web', commit: first, count: 1 };
    const { objects } = await correctedIn('prod');
    expect(objects).toMatchObject([
      { ...row, change: 'Changed', fields: ['data.version'], managers: ['kubectl-edit'], changedAt: edited },
    ]);
    const { foundAt = '', correctedAt = '' } = objects?.[0] ?? {};
    expect(Date.parse(correctedAt)).toBeGreaterThanOrEqual(Date.parse(foundAt));
    expect((await correctedIn('test')).objects).toMatchObject([{ ...row, change: 'Deleted' }]);

    const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
    expect(await runCommandLine(io, ['status', 'prod'])).toBe(0);
    expect(io.stdout).toMatch(
      /^drift corrected\n└─ ConfigMap default\/settings: changed, written back \d+s ago\n {5}data\.version: by kubectl-edit \d+s ago\n {5}as in commit [0-9a-f]{12}, unit web\n$/m,
    );
  });

  it('S17 counts a fight with another program in one row, and does not write each correction', async () => {
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    const one = await fleet.sync('one');
    await fleet.allProven(first);
    const totals: unknown[] = [];
    for (let corrections = 1; corrections <= FIGHT; corrections += 1) {
      await edit(fleet.clusters.prod.client, 'operator');
      await expect.poll(() => loggedCorrections('prod')).toBe(corrections);
      totals.push((await correctedIn('prod')).total);
    }
    expect(await fleet.versions()).toEqual(['1', '1']);
    expect(new Set(totals).size).toBeLessThan(FIGHT / 2);
    await expect.poll(() => correctedIn('prod')).toMatchObject({ total: FIGHT });

    // The next process goes on counting.
    await one.close();
    await fleet.sync('two');
    await edit(fleet.clusters.prod.client, 'operator');
    const all = { total: FIGHT + 1, objects: [{ managers: ['operator'], count: FIGHT + 1 }] };
    await expect.poll(() => correctedIn('prod')).toMatchObject(all);
  });
});

/** Returns when the server recorded the change of this manager. */
async function edit(client: Client, fieldManager: string): Promise<string | undefined> {
  const patch = { type: 'merge', body: { data: { version: 'drift' } } } as const;
  const { metadata } = await client.patch(CONFIG_MAPS, SETTINGS, patch, { fieldManager });
  return metadata.managedFields?.find(({ manager }) => manager === fieldManager)?.time;
}

async function correctedIn(name: Stage): Promise<CorrectedDrift> {
  return (await fleet.state(name)).drift ?? {};
}

function loggedCorrections(cluster: Stage): number {
  const { lines } = fleet.log();
  const found = lines.filter(({ message }) => message === 'drift corrected');
  return found.filter(({ fields }) => fields['cluster'] === cluster).length;
}
