/** The rotation of authorities in real files: each phase, the return, lost keys, and a crash at any write. */
import { X509Certificate } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { nextPhase } from '../../../../../../src/controllers/hosting/drivers/authorities/record.ts';
import { readAccess } from '../../../../../../src/controllers/hosting/drivers/process/access.ts';
import { planeLayout, readPlane } from '../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import { reportCertificates } from '../../../../../../src/controllers/hosting/drivers/process/preparation/certificates.ts';
import { reportLostKeys } from '../../../../../../src/controllers/hosting/drivers/process/preparation/keys.ts';
import { preparePlane } from '../../../../../../src/controllers/hosting/drivers/process/preparation/prepare.ts';
import { openEntries } from '../../../../../../src/controllers/hosting/drivers/process/preparation/rights.ts';
import {
  readRotation,
  recordRotationStart,
  writeRotation,
} from '../../../../../../src/controllers/hosting/drivers/process/rotation/record.ts';
import { rotatePlane } from '../../../../../../src/controllers/hosting/drivers/process/rotation/rotate.ts';
import type { RotationStep } from '../../../../../../src/controllers/hosting/drivers/rotation.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { planeSpec } from '../../../../../support/hosting/objects.ts';
import { LONG } from '../../../../../support/sweep-size.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const clock = createSystemClock();
const plane = planeSpec();
const ID = '2026';
const KEYS = [
  'etcd-pki/ca.pem',
  'clusters/ci/pki/ca.pem',
  'clusters/ci/pki/front-proxy-ca.pem',
  'clusters/ci/pki/sa.key',
];
const CAS = KEYS.slice(0, 3);
type Phase = RotationStep['phase'];

let dir: string;
beforeEach(async () => {
  dir = join(tempFolder('rotation'), 'hosting');
  await preparePlane(plane, { dir, clock, freeBytes: async () => 1e12 });
});

function rootOf(folder = dir): string {
  return planeLayout(folder, 'ci').root;
}

async function rotate(phase: Phase, folder = dir, id = ID): Promise<void> {
  await rotatePlane(plane, { id, phase }, { dir: folder, clock, freeBytes: async () => 1e12 });
}

async function rotateTo(...phases: readonly Phase[]): Promise<void> {
  for (const phase of phases) await rotate(phase);
}

function read(name: string, folder = dir): string {
  return readFileSync(join(rootOf(folder), name), 'utf8');
}

function certificatesIn(text: string): readonly X509Certificate[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
  return found.map((pem) => new X509Certificate(pem));
}

function subjects(text: string): readonly string[] {
  return certificatesIn(text).map(({ subject }) => subject);
}

/** Which authorities each file of trusted ones has, and which one signed a certificate: as `old` and `new`. */
function trust(former: Readonly<Record<string, string>>, folder = dir): readonly string[] {
  return CAS.map((name) => {
    const ages = certificatesIn(read(name.replace('.pem', '.crt'), folder)).map((each) =>
      former[name]?.includes(each.subject) ? 'old' : 'new',
    );
    return ages.join('+');
  });
}

function authorities(): Readonly<Record<string, string>> {
  return Object.fromEntries(CAS.map((name) => [name, subjects(read(name)).join()]));
}

/** The authority that signed what the API server serves. */
function serverIssuer(): string | undefined {
  return certificatesIn(read('clusters/ci/pki/apiserver.pem'))[0]?.issuer;
}

async function problems(folder = dir): Promise<readonly string[]> {
  const found = await readPlane(folder, plane);
  const due = await reportCertificates(found, plane, clock.now());
  const open = await openEntries(found.layout, 'ci');
  return [
    ...(await reportLostKeys(found)).lostKeys,
    ...due.flatMap(({ name, due: why }) => (why ? [`${name}: ${why}`] : [])),
    ...open,
  ];
}

function keptFiles(folder = dir): readonly string[] {
  const names = readdirSync(rootOf(folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(old|new)\.|\.tmp$/.test(name));
}

/** The authorities in the kubeconfigs of the administrator and of sync. */
async function bundles(): Promise<readonly string[]> {
  const access = await readAccess(await readPlane(dir, plane));
  return [access?.admin ?? '', access?.sync ?? ''].map((text) => {
    const { clusters } = parse(text) as { clusters: { cluster: Record<string, string> }[] };
    return Buffer.from(clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64').toString('utf8');
  });
}

describe('the rotation of authorities in files', () => {
  it('HOS-22 trusts both, issues by the new ones, and trusts only them, in this order', async () => {
    const former = authorities();
    const token = read('clusters/ci/pki/sa.key');
    const leaf = read('clusters/ci/pki/admin.pem');
    await rotate('TrustBoth');
    expect(trust(former)).toEqual(['old+new', 'old+new', 'old+new']);
    expect([read('clusters/ci/pki/admin.pem') === leaf, await problems()]).toEqual([true, []]);
    expect(read('clusters/ci/pki/sa.key').startsWith(token)).toBe(true);
    await rotate('IssueNew');
    expect(trust(former)).toEqual(['new+old', 'new+old', 'new+old']);
    expect([read('clusters/ci/pki/admin.pem') === leaf, await problems()]).toEqual([false, []]);
    expect(read('clusters/ci/pki/sa.key').endsWith(token)).toBe(true);
    expect(serverIssuer()).toBe(former['clusters/ci/pki/ca.pem']);
    await rotate('ServeNew');
    expect([serverIssuer(), await problems()]).toEqual([subjects(read('clusters/ci/pki/ca.pem'))[0], []]);
    await rotate('TrustNew');
    expect(trust(former)).toEqual(['new', 'new', 'new']);
    expect(read('clusters/ci/pki/sa.key')).not.toContain(token);
    await rotate('Completed');
    expect([await problems(), keptFiles(), (await readRotation(rootOf()))?.phase]).toEqual([
      [],
      [],
      'Completed',
    ]);
  });

  it('HOS-22 hands the trusted authorities of each phase to every kubeconfig', async () => {
    for (const phase of ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew'] as const) {
      await rotate(phase);
      const trusted = read('clusters/ci/pki/ca.crt');
      expect([phase, await bundles()]).toEqual([phase, [trusted, trusted]]);
    }
  });

  it('HOS-22 is taken back with every file as it was, but for certificates that were issued again', async () => {
    const before = [...KEYS, ...CAS.map((name) => name.replace('.pem', '.crt'))];
    const contents = before.map((name) => read(name));
    await rotateTo('TrustBoth', 'IssueNew', 'TrustBoth', 'TrustOld', 'Aborted');
    expect(before.map((name) => read(name))).toEqual(contents);
    expect([await problems(), keptFiles(), await readRotation(rootOf())]).toEqual([[], [], undefined]);
    await rotate('TrustBoth');
    expect((await readRotation(rootOf()))?.phase).toBe('TrustBoth');
  });

  it('HOS-22 begins another rotation after one, with keys that neither had', async () => {
    await rotateTo('TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew', 'Completed');
    const second = authorities();
    await rotate('TrustBoth', dir, '2027');
    expect([trust(second), await problems()]).toEqual([['old+new', 'old+new', 'old+new'], []]);
  });

  it.each<[phases: readonly Phase[], refused: Phase]>([
    [[], 'IssueNew'],
    [[], 'Completed'],
    [['TrustBoth'], 'TrustNew'],
    [['TrustBoth'], 'Completed'],
    [['TrustBoth'], 'Aborted'],
    [['TrustBoth', 'IssueNew'], 'TrustOld'],
    [['TrustBoth', 'IssueNew'], 'TrustNew'],
    [['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew'], 'TrustBoth'],
    [['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew', 'Completed'], 'IssueNew'],
  ])('HOS-22 refuses to skip a phase: after %j never %s', async (phases, refused) => {
    await rotateTo(...phases);
    await expect(rotate(refused)).rejects.toMatchObject({ code: 'RotationOutOfOrder' });
    expect(await problems()).toEqual([]);
  });

  it('HOS-22 changes nothing when a phase is asked for twice, and makes no other key', async () => {
    for (const phase of ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew'] as const) {
      await rotate(phase);
      const contents = KEYS.map((name) => read(name));
      const leaf = read('clusters/ci/pki/admin.pem');
      await rotate(phase);
      expect([KEYS.map((name) => read(name)), read('clusters/ci/pki/admin.pem')]).toEqual([contents, leaf]);
    }
  });

  it('HOS-22 finds a kept key that is lost, and starts nothing with another one', async () => {
    await rotate('TrustBoth');
    const lost = join(rootOf(), 'clusters/ci/pki/ca.new.pem');
    const text = readFileSync(lost, 'utf8');
    rmSync(lost);
    expect(await problems()).toEqual(['clusters/ci/pki/ca.new.pem is missing, damaged or another one']);
    await expect(rotate('IssueNew')).rejects.toMatchObject({ code: 'KeysLost' });
    writeFileSync(lost, text, { mode: 0o600 });
    await rotate('IssueNew');
    expect(await problems()).toEqual([]);
  });

  it('HOS-22 is taken back without a new key that is lost and never issued anything', async () => {
    const former = KEYS.map((name) => read(name));
    await rotate('TrustBoth');
    rmSync(join(rootOf(), 'clusters/ci/pki/front-proxy-ca.new.pem'));
    const { lostKeys, lostUnused } = await reportLostKeys(await readPlane(dir, plane));
    expect([lostKeys, lostUnused]).toEqual([lostUnused, [expect.stringContaining('front-proxy-ca.new.pem')]]);
    await expect(rotate('IssueNew')).rejects.toMatchObject({ code: 'KeysLost' });
    await rotateTo('TrustOld', 'Aborted');
    expect([KEYS.map((name) => read(name)), keptFiles(), await problems()]).toEqual([former, [], []]);
  });

  it.each(['clusters/ci/pki/ca.new.pem', 'clusters/ci/pki/sa.new.key'])(
    'HOS-22 uses only the recorded key, and keeps it again, where %s is damaged',
    async (name) => {
      await rotateTo('TrustBoth', 'IssueNew');
      const kept = read(name);
      writeFileSync(join(rootOf(), name), 'damaged', { mode: 0o600 });
      expect(await problems()).toEqual([]);
      await rotate('ServeNew');
      expect([read(name), await problems()]).toEqual([kept, []]);
      writeFileSync(join(rootOf(), name), 'damaged', { mode: 0o600 });
      await rotateTo('TrustNew', 'Completed');
      expect([read(name.replace('.new', '')), keptFiles(), await problems()]).toEqual([kept, [], []]);
    },
  );

  it('HOS-22 removes no kept key before members have it', async () => {
    await rotateTo('TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew');
    const kept = read('clusters/ci/pki/ca.new.pem');
    writeFileSync(join(rootOf(), 'clusters/ci/pki/ca.pem'), 'damaged', { mode: 0o600 });
    await rotate('Completed');
    expect([read('clusters/ci/pki/ca.pem'), keptFiles(), await problems()]).toEqual([kept, [], []]);
  });

  it('HOS-22 makes the files of members again that somebody removed, from the kept keys', async () => {
    await rotateTo('TrustBoth', 'IssueNew');
    const contents = KEYS.map((name) => read(name));
    for (const name of KEYS) rmSync(join(rootOf(), name));
    await preparePlane(plane, { dir, clock, freeBytes: async () => 1e12 });
    expect([KEYS.map((name) => read(name)), await problems()]).toEqual([contents, []]);
  });

  it('HOS-22 counts a member as started only when the files of its phase were there', async () => {
    await rotate('TrustBoth');
    await recordRotationStart(rootOf(), 'etcd');
    const record = await readRotation(rootOf());
    expect(record?.members).toEqual({ etcd: 1 });
    if (!record) throw new Error('expected a record');
    await writeRotation(rootOf(), nextPhase(record, 'IssueNew'));
    await recordRotationStart(rootOf(), 'etcd');
    expect((await readRotation(rootOf()))?.members).toEqual({ etcd: 1 });
    await rotate('IssueNew');
    await recordRotationStart(rootOf(), 'etcd');
    expect((await readRotation(rootOf()))?.members).toEqual({ etcd: 2 });
  });
});

const STRIDE = LONG ? 1 : 4;
const PATHS: readonly (readonly [way: string, path: readonly Phase[]])[] = [
  ['forward', ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew', 'Completed']],
  ['back', ['TrustBoth', 'IssueNew', 'TrustBoth', 'TrustOld', 'Aborted']],
  ['back from its end', ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustBoth', 'TrustOld', 'Aborted']],
];

/** Returns the files that differ, in the order in which they were written. */
function changedFiles(before: string, after: string): readonly string[] {
  const names = readdirSync(rootOf(after), { recursive: true, encoding: 'utf8' });
  const isChanged = (name: string): boolean =>
    statSync(join(rootOf(after), name)).isFile() &&
    name !== 'rotation.json' &&
    (!existsSync(join(rootOf(before), name)) || read(name, before) !== read(name, after));
  const time = (name: string): bigint => statSync(join(rootOf(after), name), { bigint: true }).mtimeNs;
  return names.filter(isChanged).toSorted((a, b) => (time(a) < time(b) ? -1 : 1));
}

describe('a rotation that is killed', () => {
  it.each(PATHS)('HOS-22 continues with the same keys after a crash at any write: %s', async (_, path) => {
    let states = 0;
    for (const phase of path) {
      const before = join(tempFolder('before'), 'hosting');
      cpSync(dir, before, { recursive: true, preserveTimestamps: true });
      await rotate(phase);
      const changed = changedFiles(before, dir);
      for (let count = 0; count <= changed.length; count += STRIDE) {
        const crashed = join(tempFolder('crashed'), 'hosting');
        cpSync(before, crashed, { recursive: true });
        await enter(crashed, phase);
        for (const name of changed.slice(0, count)) {
          cpSync(join(rootOf(), name), join(rootOf(crashed), name), { recursive: true });
        }
        await rotate(phase, crashed);
        const which = `${phase} ${count}`;
        expect([which, await problems(crashed)]).toEqual([which, []]);
        expect([which, KEYS.map((name) => read(name, crashed))]).toEqual([
          which,
          KEYS.map((name) => read(name)),
        ]);
        expect([which, keptFiles(crashed).length]).toEqual([which, keptFiles().length]);
        rmSync(dirname(crashed), { recursive: true });
        states += 1;
      }
    }
    expect(states).toBeGreaterThan(path.length);
  });

  it.each<[end: Phase, path: readonly Phase[]]>([
    ['Completed', ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew']],
    ['Aborted', ['TrustBoth', 'TrustOld']],
  ])('HOS-22 ends with no kept key after a crash while they are removed: %s', async (end, path) => {
    await rotateTo(...path);
    const record = await readRotation(rootOf());
    if (!record) throw new Error('expected a record');
    await writeRotation(rootOf(), { ...record, isEnding: true });
    for (const name of keptFiles()) rmSync(join(rootOf(), name));
    expect(await problems()).toEqual([]);
    await rotate(end);
    expect([await problems(), keptFiles(), (await readRotation(rootOf()))?.phase]).toEqual([
      [],
      [],
      end === 'Completed' ? 'Completed' : undefined,
    ]);
  });

  /** Records the phase as the process did before it was killed, with the keys once they were made. */
  async function enter(folder: string, phase: Phase): Promise<void> {
    const [own, killed] = [await readRotation(rootOf()), await readRotation(rootOf(folder))];
    if (own && !killed) {
      // The first phase: the keys of the folder are the recorded ones.
      for (const name of keptFiles()) cpSync(join(rootOf(), name), join(rootOf(folder), name));
      await writeRotation(rootOf(folder), { ...own, isApplied: false });
    } else if (killed && phase !== 'Aborted' && phase !== 'Completed') {
      await writeRotation(rootOf(folder), nextPhase(killed, phase));
    }
  }
});
