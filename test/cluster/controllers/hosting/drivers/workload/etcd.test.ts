/** The command of etcd in its pod, with the real etcd: an etcd that has had data never begins without. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  ETCD_VOLUME_FOLDER,
  memberCommand,
  PKI_FOLDER,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { completeKeys } from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import { memberFiles } from '../../../../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import { httpGet } from '../../../../../../src/os/net/http-get.ts';
import { findFreePort } from '../../../../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { startApiServer } from '../../../../../support/control-plane.ts';
import { planeRecord, podParts } from '../../../../../support/hosting/workload.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const READY = { timeout: 60_000, interval: 100 };

interface PodFolders {
  readonly pki: string;
  readonly volume: string;
  readonly program: string;
}

async function podFolders(): Promise<PodFolders> {
  const root = tempFolder('etcd-pod');
  const [pki, volume] = [join(root, 'pki'), join(root, 'volume')];
  for (const folder of [pki, volume]) mkdirSync(folder, { mode: 0o700 });
  const record = planeRecord();
  const names = { apiServerNames: ['10.0.0.3'], etcdNames: ['10.0.0.2'] };
  const files = completeKeys(
    {},
    { cluster: 'ci', settings: record.settings, now: createSystemClock().now(), ...names },
  );
  for (const [name, text] of Object.entries(memberFiles(files, 'https://10.0.0.3:6443')['etcd'] ?? {})) {
    writeFileSync(join(pki, name), text, { mode: 0o600 });
  }
  const server = await startApiServer();
  onTestFinished(() => server.stop());
  return { pki, volume, program: join(dirname(server.kubectl), 'etcd') };
}

interface StartedEtcd {
  readonly healthUrl: string;
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
}

async function startEtcd({ pki, volume, program }: PodFolders, isSealed: boolean): Promise<StartedEtcd> {
  const [client, health, peer] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const { args } = memberCommand('etcd', { ...planeRecord(), isSealed }, podParts().addresses);
  const here = args.map((arg) =>
    arg
      .replaceAll(PKI_FOLDER, pki)
      .replaceAll(ETCD_VOLUME_FOLDER, volume)
      .replaceAll('0.0.0.0', '127.0.0.1')
      .replaceAll(':2379', `:${client}`)
      .replaceAll(':2380', `:${peer}`)
      .replaceAll(':2381', `:${health}`),
  );
  const child = spawn(program, here, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  // Its log is whole when its output is closed, which may be after its end.
  const exit = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    healthUrl: `http://127.0.0.1:${health}/health`,
    ended: exit.then(() => log),
    stop: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function isHealthy({ healthUrl }: StartedEtcd): Promise<boolean> {
  const answer = await httpGet(healthUrl, AbortSignal.timeout(5000)).catch(() => undefined);
  return answer?.status === 200;
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
