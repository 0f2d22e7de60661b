import { createPrivateKey } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { balancerCommand } from '../../../../../../src/cli/hosting/programs.ts';
import type { PlaneSpec } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  type PlaneFolder,
  planeLayout,
  readPlane,
} from '../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import type { ControllersCommand } from '../../../../../../src/controllers/hosting/drivers/process/members.ts';
import { readOpenPlane } from '../../../../../../src/controllers/hosting/drivers/process/plane.ts';
import { reportCertificates } from '../../../../../../src/controllers/hosting/drivers/process/preparation/certificates.ts';
import {
  areKeysRecorded,
  reportLostKeys,
} from '../../../../../../src/controllers/hosting/drivers/process/preparation/keys.ts';
import { preparePlane } from '../../../../../../src/controllers/hosting/drivers/process/preparation/prepare.ts';
import { openEntries } from '../../../../../../src/controllers/hosting/drivers/process/preparation/rights.ts';
import { writePlaneRecord } from '../../../../../../src/controllers/hosting/drivers/process/records.ts';
import { settledDifferences } from '../../../../../../src/controllers/hosting/drivers/runs.ts';
import type { Layout } from '../../../../../../src/local/layout.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { NOW } from '../../../../../support/builders.ts';
import { planeSpec } from '../../../../../support/hosting/objects.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const HOUR_MS = 3_600_000;
const plane = planeSpec();

function bed() {
  const dir = join(tempFolder('hosting'), 'hosting');
  const prepare = (at: Date = NOW, spec: PlaneSpec = plane): Promise<void> =>
    preparePlane(spec, {
      dir,
      clock: { ...createSystemClock(), now: () => at },
      freeBytes: async () => 1e12,
    });
  const read = (): Promise<PlaneFolder> => readPlane(dir, plane);
  const due = async (at: Date, spec: PlaneSpec = plane): Promise<readonly string[]> =>
    (await reportCertificates(await read(), spec, at)).flatMap((each) =>
      each.due === undefined ? [] : [each.name],
    );
  return { dir, layout: planeLayout(dir, 'ci'), prepare, read, due };
}

function filesOf({ root }: Layout): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  );
}

function contentsOf(layout: Layout): Readonly<Record<string, string>> {
  return Object.fromEntries(
    filesOf(layout).map((name) => [name, readFileSync(join(layout.root, name), 'utf8')]),
  );
}

const controllers: ControllersCommand = ({ kubeconfig, port }) => ({
  program: 'node',
  args: ['controllers', `--kubeconfig=${kubeconfig}`, `--port=${port}`],
});

/** The key files that the flags of each member name, and those that its kubeconfig names. */
async function readersOf(dir: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { layout, specs } = await readOpenPlane(plane, {
    dir,
    programs: [],
    controllers,
    balancer: balancerCommand,
  });
  return Object.fromEntries(
    specs.map(({ member, command }) => {
      const named = command.args.map((arg) => arg.replace(/^--[\w-]+=/, ''));
      const kubeconfigs = named
        .filter((path) => path.endsWith('kubeconfig'))
        .map((path) => readFileSync(path, 'utf8'));
      const inside = kubeconfigs.flatMap((text) =>
        [...text.matchAll(/client-key: (.*)/g)].map(([, path]) => path ?? ''),
      );
      const keys = [...named, ...inside].filter((path) => path.startsWith(layout.root) && hasKey(path));
      return [member, [...new Set(keys.map((path) => relative(layout.root, path)))].toSorted()];
    }),
  );
}

function hasKey(path: string): boolean {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile && readFileSync(path, 'utf8').includes('PRIVATE KEY');
}

const pki = (...names: string[]): string[] => names.map((name) => `clusters/ci/pki/${name}`);
const minutes = (count: number): Date => new Date(+NOW + (count * HOUR_MS) / 60);

describe('the keys of a control plane', () => {
  it('HOS-20 are in files of this user, and each member reads only its own', async () => {
    const { dir, layout, prepare } = bed();
    await prepare();
    const withKeys = filesOf(layout).filter((name) =>
      /PRIVATE KEY|client-key-data/.test(contentsOf(layout)[name] ?? ''),
    );
    expect(withKeys.filter((name) => (statSync(join(layout.root, name)).mode & 0o777) !== 0o600)).toEqual([]);
    const readers = await readersOf(dir);
    expect(readers).toEqual({
      etcd: ['etcd-pki/etcd.pem'],
      'kube-apiserver': [
        ...pki('apiserver.pem', 'front-proxy.pem', 'kubelet-client.pem', 'sa.key'),
        'etcd-pki/client.pem',
      ],
      'kube-controller-manager': pki('apiserver.pem', 'ca.pem', 'controller-manager.pem', 'sa.key'),
      'kube-scheduler': pki('apiserver.pem', 'scheduler.pem'),
      'kubenode-controllers': pki('controllers.pem'),
    });
    const read = new Set(Object.values(readers).flat());
    // No member reads these: hosting signs with them, or hands them to people and to sync.
    expect(withKeys.filter((name) => !read.has(name)).toSorted()).toEqual([
      'clusters/ci/kubeconfig',
      ...pki('admin.pem', 'front-proxy-ca.pem', 'sync.pem'),
      'etcd-pki/ca.pem',
      'kubeconfig',
    ]);
  });

  it('HOS-20 are all different, so that each has one use', async () => {
    const { layout, prepare } = bed();
    await prepare();
    const pems = Object.entries(contentsOf(layout)).filter(([name]) => /\.(pem|key)$/.test(name));
    const keys = pems.map(([, text]) =>
      createPrivateKey(text.slice(text.search(/-----BEGIN (EC )?PRIVATE/))).export({
        type: 'pkcs8',
        format: 'pem',
      }),
    );
    expect(pems).toHaveLength(14);
    expect(new Set(keys).size).toBe(pems.length);
  });

  it('are recorded by digest, so that a loss is found after a crash at any write', async () => {
    const { layout, prepare, read } = bed();
    await prepare();
    const { record } = await read();
    if (!record) throw new Error('expected a record');
    expect(areKeysRecorded(record)).toBe(true);
    const { keys: _, isDataMarked: __, ...crashed } = record;
    await writePlaneRecord(layout.root, crashed);
    expect((await reportLostKeys(await read())).lostKeys).toEqual([]);
    await prepare();
    expect((await read()).record).toEqual(record);
    expect(JSON.stringify(record)).not.toContain('PRIVATE');
  });

  it('of an earlier version are lost when only the copy of the certificate is there', async () => {
    const { layout, prepare, read } = bed();
    await prepare();
    const { record } = await read();
    const { keys: _, ...earlier } = record ?? {
      format: 1,
      cluster: 'ci',
      uid: 'u',
      version: 'v',
      isDestroying: false,
    };
    await writePlaneRecord(layout.root, earlier);
    rmSync(join(layout.etcd.pkiFolder, 'ca.pem'));
    expect((await reportLostKeys(await read())).lostKeys).toEqual(['etcd-pki/ca.pem is missing or damaged']);
    await expect(prepare()).rejects.toThrow('keys of the control plane are lost: etcd-pki/ca.pem');
  });
});

describe('the certificates of a control plane', () => {
  const hourly = { ...plane, settings: { ...plane.settings, leafLifetimeSeconds: 3600 } };

  it('HOS-21 of an hour are renewed after 42 minutes, again and again, and not between', async () => {
    const { layout, prepare, due } = bed();
    await prepare(NOW, hourly);
    let start = 0;
    for (let round = 0; round < 3; round += 1) {
      const before = contentsOf(layout);
      for (const at of [0, 10, 41]) {
        expect([at, await due(minutes(start + at), hourly)]).toEqual([at, []]);
        await prepare(minutes(start + at), hourly);
      }
      expect(contentsOf(layout)).toEqual(before);
      start += 43;
      expect(await due(minutes(start), hourly)).toHaveLength(10);
      await prepare(minutes(start), hourly);
      expect(await due(minutes(start), hourly)).toEqual([]);
      const changed = Object.entries(contentsOf(layout)).filter(([name, text]) => before[name] !== text);
      // The kubeconfigs contain their certificates.
      expect(
        changed
          .map(([name]) => name)
          .filter((name) => !name.includes('pki/'))
          .toSorted(),
      ).toEqual(['clusters/ci/kubeconfig', 'kubeconfig']);
      expect(changed).toHaveLength(12);
    }
  });

  it('HOS-21 are renewed when their lifetime is made shorter, and need no other control plane', async () => {
    const { prepare, read, due } = bed();
    await prepare();
    const { plane: settings } = (await read()).state?.clusters[0] ?? {};
    const settled = settings && { version: plane.version, settings };
    expect([settled?.version, settledDifferences(settled, hourly)]).toEqual([plane.version, []]);
    expect(await due(NOW, hourly)).toHaveLength(10);
    await prepare(NOW, hourly);
    expect([await due(NOW, hourly), await due(minutes(43), hourly)]).toEqual([[], expect.any(Array)]);
    const [sync] = await reportCertificates(await read(), hourly, NOW);
    expect(sync?.notAfter).toEqual(minutes(60));
    // A longer one takes effect at once, too: what is left is little of it.
    expect(await due(minutes(1))).toHaveLength(10);
    await prepare(minutes(1));
    expect(await due(minutes(2))).toEqual([]);
  });

  it('HOS-21 are renewed when the clock was ahead while they were made', async () => {
    const { prepare, due } = bed();
    await prepare(new Date(+NOW + 48 * HOUR_MS));
    expect(await due(NOW)).toHaveLength(10);
    await prepare();
    expect(await due(NOW)).toEqual([]);
  });

  it('are none where it is not prepared, or belongs to another Cluster', async () => {
    const { dir, read } = bed();
    expect(await reportCertificates(await read(), plane, NOW)).toEqual([]);
    const other = planeSpec('ci', 'other');
    await preparePlane(other, { dir, clock: createSystemClock(), freeBytes: async () => 1e12 });
    expect(await reportCertificates(await read(), plane, NOW)).toEqual([]);
  });
});

describe('the rights on the files of a control plane', () => {
  it('HOS-41 are taken from others at the next preparation, but for certificates without a key', async () => {
    const { layout, prepare } = bed();
    await prepare();
    const key = join(layout.cluster('ci').pkiFolder, 'sa.key');
    chmodSync(key, 0o644);
    chmodSync(layout.etcd.pkiFolder, 0o755);
    expect((await openEntries(layout, 'ci')).toSorted()).toEqual([key, layout.etcd.pkiFolder].toSorted());
    await prepare();
    expect(await openEntries(layout, 'ci')).toEqual([]);
    expect(statSync(join(layout.etcd.pkiFolder, 'ca.crt')).mode & 0o777).toBe(0o644);
    expect(statSync(key).mode & 0o777).toBe(0o600);
  });

  it('are not looked at in a control plane that is not there', async () => {
    expect(await openEntries(planeLayout('/does/not/exist', 'ci'), 'ci')).toEqual([]);
  });
});

it('a preparation changes nothing any more once the destruction was begun', async () => {
  const { layout, prepare, read } = bed();
  await prepare();
  const { record } = await read();
  if (record) await writePlaneRecord(layout.root, { ...record, isDestroying: true });
  writeFileSync(join(layout.cluster('ci').pkiFolder, 'sync.pem'), '');
  const before = contentsOf(layout);
  await prepare();
  expect(contentsOf(layout)).toEqual(before);
});
