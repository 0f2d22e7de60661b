/** The faults of a control plane of real processes: in its files, on its ports, and beside its processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PlaneDriver, PlaneMember } from '../../../src/controllers/hosting/drivers/driver.ts';
import { planeLayout } from '../../../src/controllers/hosting/drivers/process/folder.ts';
import { openEntries } from '../../../src/controllers/hosting/drivers/process/preparation/rights.ts';
import {
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
} from '../../../src/local/pki/certificate.ts';
import { readState } from '../../../src/local/state.ts';
import { NOW } from '../builders.ts';
import type { KeyFile, LeafFile, PlaneFaults, Repair } from './contract/faults.ts';
import { planeSpec } from './objects.ts';

const NAME = 'ci';
const LARGE = 20 * 1024 ** 2;

export function processFaults(dir: string, driver: PlaneDriver): PlaneFaults {
  const plane = planeSpec();
  const layout = planeLayout(dir, NAME);
  const { dataFolder, pkiFolder: etcdPki } = layout.etcd;
  const { pkiFolder } = layout.cluster(NAME);
  const log = join(layout.logs, 'etcd.log');
  const keyFile = (key: KeyFile): string => {
    if (key === 'etcd-ca') return join(etcdPki, 'ca.pem');
    return join(pkiFolder, key === 'service-accounts' ? 'sa.key' : `${key}.pem`);
  };
  const leafFile = (leaf: LeafFile): string => join(leaf === 'etcd' ? etcdPki : pkiFolder, `${leaf}.pem`);
  const pidOf = async (member: PlaneMember): Promise<number> => {
    const { members } = await driver.observe(plane, new AbortController().signal);
    const identity = members.find((each) => each.member === member)?.identity;
    return Number(identity?.split(' ')[0]);
  };

  return {
    kill: async (member) => void process.kill(await pidOf(member), 'SIGKILL'),
    breakEtcd: async () => {
      const snapshots = join(dataFolder, 'member', 'snap');
      await writeFile(snapshots, 'a file, and not a folder');
      return () => rm(snapshots);
    },
    takePort: async () => {
      // Without this a connection would stay open, and keep the port in use.
      const server = createServer((socket) => void socket.destroy());
      server.listen((await readState(layout.stateFile))?.etcdPort, '127.0.0.1');
      await once(server, 'listening');
      const close = async (): Promise<void> => {
        if (!server.listening) return;
        server.close();
        await once(server, 'close');
      };
      onTestFinished(close);
      return close;
    },
    wipeData: async () => {
      await rm(dataFolder, { recursive: true });
      await mkdir(dataFolder, { mode: 0o700 });
    },
    wipeFolder: () => rm(layout.root, { recursive: true }),
    bringData: async () => {
      const other = { ...plane, name: 'other', uid: 'uid-other' };
      await driver.prepare(other);
      const member = join(planeLayout(dir, 'other').etcd.dataFolder, 'member');
      await rm(join(dataFolder, 'member'), { recursive: true });
      await cp(member, join(dataFolder, 'member'), { recursive: true });
      await mkdir(join(dataFolder, 'member', 'wal'));
    },
    loseKey: (key) => moveAway(keyFile(key)),
    replaceKey: async (key) => {
      const { certPem, keyPem } = createAuthority('by hand', NOW, 1);
      await writeFile(
        keyFile(key),
        key === 'service-accounts' ? createServiceAccountKey() : certPem + keyPem,
      );
    },
    damageCertificate: async (leaf) => {
      const content = await readFile(leafFile(leaf), 'utf8');
      await writeFile(leafFile(leaf), content.slice(0, content.length / 2));
    },
    forgeCertificate: async (leaf) => {
      const seconds = 365 * 86_400;
      // As old as those that it takes the place of.
      const now = new Date(Date.parse((await stat(leafFile(leaf))).mtime.toISOString()) - 300 * 86_400_000);
      const request = { subject: { commonName: leaf }, usage: 'peer', now, seconds } as const;
      const { certPem, keyPem } = issueCertificate(createAuthority('by hand', now, 3650), request);
      await writeFile(leafFile(leaf), certPem + keyPem);
    },
    damageRecord: () => writeFile(join(layout.root, 'plane.json'), '{'),
    openRights: async () => {
      await chmod(layout.root, 0o755);
      await chmod(keyFile('ca'), 0o644);
      await chmod(layout.cluster(NAME).kubeconfig, 0o640);
    },
    openEntries: () => openEntries(layout, NAME),
    growLog: () => writeFile(log, Buffer.alloc(LARGE, 'x'), { flag: 'a' }),
    logBytes: async () => (await stat(log)).size,
    impersonate: async () => {
      const args = ['-e', 'setInterval(() => {}, 1000)', '--', `--data-dir=${dataFolder}`];
      const similar = spawn(process.execPath, args, { argv0: 'notetcd', stdio: 'ignore' });
      onTestFinished(() => void similar.kill('SIGKILL'));
      await once(similar, 'spawn');
      return () => similar.exitCode === null && similar.signalCode === null;
    },
  };
}

async function moveAway(path: string): Promise<Repair> {
  await rename(path, `${path}.backup`);
  return () => rename(`${path}.backup`, path);
}
