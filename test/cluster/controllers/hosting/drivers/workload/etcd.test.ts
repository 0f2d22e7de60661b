/** The command of etcd in its pod, with the real etcd: an etcd that has had data never begins without. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { memberCommand } from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import {
  isHealthy,
  type PodFolders,
  podFolders,
  type StartedEtcd,
  startPodEtcd,
} from '../../../../../support/hosting/pod-etcd.ts';
import { planeRecord, podParts } from '../../../../../support/hosting/workload.ts';

const READY = { timeout: 60_000, interval: 100 };

function startEtcd(folders: PodFolders, isSealed: boolean): Promise<StartedEtcd> {
  const { args } = memberCommand('etcd', {
    ...podParts(),
    plane: { ...planeRecord(), isSealed },
  });
  return startPodEtcd(folders, args);
}

it('HOS-06 lets an etcd with data start again, and ends one whose volume was wiped, however often it is tried', async () => {
  const folders = await podFolders();
  const first = await startEtcd(folders, false);
  await expect.poll(() => isHealthy(first), READY).toBe(true);
  await first.stop();
  const second = await startEtcd(folders, true);
  await expect.poll(() => isHealthy(second), READY).toBe(true);
  await second.stop();
  rmSync(join(folders.volume, 'data'), { recursive: true });
  for (let time = 0; time < 2; time += 1) {
    const wiped = await startEtcd(folders, true);
    expect(await wiped.ended).toContain('cannot fetch cluster info from peer urls');
  }
});
