/** The command of etcd in its pod, run by the real etcd on this machine, with folders for the volumes of the pod. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  ETCD_PKI_FOLDER,
  ETCD_VOLUME_FOLDER,
  PKI_FOLDER,
} from '../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { completeKeys } from '../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import { memberFiles } from '../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import { httpGet } from '../../../src/os/net/http-get.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { startApiServer } from '../control-plane.ts';
import { tempFolder } from '../temp.ts';
import { planeRecord } from './workload.ts';

export interface PodFolders {
  readonly pki: string;
  /** With the certificate of a client of etcd. */
  readonly client: string;
  readonly volume: string;
  readonly snapshots: string;
  /** The memory of the pod of a drill. */
  readonly drill: string;
  readonly program: string;
}

/** `addresses` are those of the Services of etcd, in its certificate. */
export async function podFolders(addresses: readonly string[] = ['10.0.0.2']): Promise<PodFolders> {
  const root = tempFolder('etcd-pod');
  const inRoot = (name: string): string => join(root, name);
  const folders = {
    pki: inRoot('pki'),
    client: inRoot('client'),
    volume: inRoot('volume'),
    snapshots: inRoot('snapshots'),
    drill: inRoot('drill'),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder, { mode: 0o700 });
  const { settings } = planeRecord();
  const names = { apiServerNames: ['10.0.0.3'], etcdNames: addresses };
  const files = completeKeys({}, { cluster: 'ci', settings, now: createSystemClock().now(), ...names });
  const mounted = memberFiles(files, 'https://10.0.0.3:6443');
  writeFiles(folders.pki, mounted['etcd'] ?? {});
  writeFiles(folders.client, mounted['etcd-client'] ?? {});
  const server = await startApiServer();
  onTestFinished(() => server.stop());
  return { ...folders, program: join(dirname(server.kubectl), 'etcd') };
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
}

export interface StartedEtcd {
  readonly healthUrl: string;
  readonly url: string;
  readonly ended: Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Starts what the arguments of a container start. */
export async function startPodEtcd(
  { pki, client: clientPki, volume, snapshots, program }: PodFolders,
  args: readonly string[],
): Promise<StartedEtcd> {
  const [client, health, peer] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const here = args.map((arg) =>
    arg
      .replaceAll(PKI_FOLDER, pki)
      .replaceAll(ETCD_PKI_FOLDER, clientPki)
      .replaceAll(ETCD_VOLUME_FOLDER, volume)
      .replaceAll('/var/lib/snapshots', snapshots)
      .replaceAll('0.0.0.0', '127.0.0.1')
      .replaceAll(':2379', `:${client}`)
      .replaceAll(':2380', `:${peer}`)
      .replaceAll(':2381', `:${health}`),
  );
  const urls = { healthUrl: `http://127.0.0.1:${health}/health`, url: `https://127.0.0.1:${client}` };
  return run(program, here, urls);
}

/** Starts the API server of a container beside that etcd. Resolves to its URL and how it ends. */
export async function startPodServer(
  { client, drill, program }: PodFolders,
  args: readonly string[],
  etcdUrl: string,
): Promise<StartedEtcd> {
  const port = await findFreePort();
  const here = args.map((arg) =>
    arg
      .replaceAll('/var/lib/drill', drill)
      .replaceAll(ETCD_PKI_FOLDER, client)
      .replaceAll('https://127.0.0.1:2379', etcdUrl)
      .replace('--secure-port=6443', `--secure-port=${port}`),
  );
  const url = `https://127.0.0.1:${port}`;
  return run(join(dirname(program), 'kube-apiserver'), here, { healthUrl: url, url });
}

/** Starts it at an address of its own, where it has the ports of a pod. */
export function startPodEtcdAt(
  { pki, program }: PodFolders,
  args: readonly string[],
  { address, volume }: { readonly address: string; readonly volume: string },
): StartedEtcd {
  const here = args.map((arg) =>
    arg.replaceAll(PKI_FOLDER, pki).replaceAll(ETCD_VOLUME_FOLDER, volume).replaceAll('0.0.0.0', address),
  );
  return run(program, here, { healthUrl: `http://${address}:2381/health`, url: `https://${address}:2379` });
}

function run(
  program: string,
  args: readonly string[],
  urls: Pick<StartedEtcd, 'healthUrl' | 'url'>,
): StartedEtcd {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  // Its log is whole when its output is closed, which may be after its end.
  const exit = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    ...urls,
    ended: exit.then(() => log),
    stop: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

export async function isHealthy({ healthUrl }: StartedEtcd): Promise<boolean> {
  const answer = await httpGet(healthUrl, AbortSignal.timeout(5000)).catch(() => undefined);
  return answer?.status === 200;
}
