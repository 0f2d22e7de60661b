/** A real control plane whose data is wiped, and another one that starts from its backup: the same objects, and other keys. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { balancerCommand, controllersCommand, loadPrograms } from '../../../../src/cli/hosting/programs.ts';
import {
  INTERRUPTED,
  type PlaneMember,
  type PlaneSpec,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { createProcessDriver } from '../../../../src/controllers/hosting/drivers/process/driver.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import { CONFIG_MAPS, NAMESPACES, SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { readAuthority } from '../../../../src/local/pki/authority.ts';
import { parsePair } from '../../../../src/local/pki/inspect.ts';
import { listProcesses } from '../../../../src/local/processes/observe.ts';
import { sendProbe } from '../../../../src/local/processes/probe.ts';
import { readState } from '../../../../src/local/state.ts';
import { acquireLock } from '../../../../src/os/lock.ts';
import { pollUntil } from '../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { planeSpec, undisturbed } from '../../../support/hosting/objects.ts';
import { withClient } from '../../../support/kube/with-client.ts';
import { shellEnv } from '../../../support/local-fleet.ts';
import { LONG, slice } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';

const clock = createSystemClock();
const { signal } = new AbortController();
const first = planeSpec('dr', 'first');
const second = planeSpec('dr', 'second');
const dir = join(tempFolder('restore'), 'hosting');
const layout = planeLayout(dir, 'dr');
const backups = join(dir, 'backups', 'dr');
const loading = loadPrograms({ env: shellEnv(), clock, signal }, [], () => undefined);
const ANSWER_MS = 120_000;
const LIMIT = 600_000;
const driver = createProcessDriver({
  dir,
  machine: 'here',
  clock,
  programs: () => loading,
  balancer: balancerCommand,
  controllers: controllersCommand(false),
  endMachines: () => Promise.resolve(),
  version: '0.0.0',
  availableBytes: () => memory,
});
/** The memory that is left. A drill waits for it. */
let memory = Promise.resolve(8e9);

let before: readonly string[];
let objects: readonly KubeObject[];
let oldAdmin: string;
let systemUid: string;

async function start(plane: PlaneSpec, member: PlaneMember): Promise<void> {
  await driver.start(plane, member);
  await until(async () => {
    const { members } = await driver.observe(plane, signal);
    return members.some((each) => each.member === member && each.state === 'Ready');
  });
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadlineMs = clock.monotonicMs() + ANSWER_MS;
  expect(await pollUntil(isDone, { clock, everyMs: 200, deadlineMs })).toBe(true);
}

async function stopAll(plane: PlaneSpec): Promise<void> {
  for (const member of ['kube-apiserver', 'etcd'] as const) {
    await driver.stop(plane, member).catch(() => undefined);
  }
}

/** Every key of etcd as etcd has it: key, value and revisions. */
async function readKeys(): Promise<readonly string[]> {
  const { kvs } = (await askEtcd('range', { key: 'AA==', range_end: 'AA==' })) as {
    readonly kvs: readonly unknown[];
  };
  return kvs.map((each) => JSON.stringify(each));
}

async function askEtcd(what: 'range' | 'put', body: object): Promise<unknown> {
  const { pkiFolder } = layout.etcd;
  const authority = await readAuthority(pkiFolder);
  const client = parsePair(readFileSync(join(pkiFolder, 'client.pem'), 'utf8'));
  const state = await readState(layout.stateFile);
  if (!authority || !client || !state) throw new Error('the control plane is not prepared');
  const url = `https://127.0.0.1:${state.etcdPort}/v3/kv/${what}`;
  const request = { method: 'POST', body: JSON.stringify(body) } as const;
  return JSON.parse((await sendProbe({ url, caPem: authority.certPem, client }, request)).body);
}

async function adminOf(plane: PlaneSpec): Promise<string> {
  return (await driver.access(plane))?.admin ?? '';
}

function isOurs({ metadata }: KubeObject): boolean {
  return metadata.name.startsWith('kept-');
}

async function readObjects(plane: PlaneSpec): Promise<readonly KubeObject[]> {
  return await withClient(await adminOf(plane), async (client) => {
    const [secrets, maps] = [await client.list(SECRETS, {}), await client.list(CONFIG_MAPS, {})];
    return [...secrets.items, ...maps.items].filter(isOurs);
  });
}

async function writeObject(plane: PlaneSpec, index: number): Promise<void> {
  const metadata = { name: `kept-${index}`, namespace: 'default' };
  await withClient(await adminOf(plane), async (client) => {
    const data = { text: 'ä'.repeat(1000 + index) };
    await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    const secret = { text: Buffer.from(`secret ${index}`).toString('base64') };
    await client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data: secret });
  });
}

beforeAll(async () => {
  await loading;
  await until(async () => 'versions' in (await driver.observe(first, signal)).programs);
  await driver.prepare(first);
  await start(first, 'etcd');
  await start(first, 'kube-apiserver');
  for (let index = 0; index < 5; index += 1) await writeObject(first, index);
  objects = await readObjects(first);
  systemUid = await withClient(await adminOf(first), async (client) => {
    const { metadata } = await client.get(NAMESPACES, { name: 'kube-system' });
    return metadata.uid ?? '';
  });
  oldAdmin = await adminOf(first);
  // Nothing is written any more, so that everything can be compared.
  await driver.stop(first, 'kube-apiserver');
  before = await readKeys();
  await driver.backups?.take(first, { keep: 7 }, undisturbed());
  await driver.stop(first, 'etcd');
  rmSync(layout.etcd.dataFolder, { recursive: true });
  await driver.remove(first);
}, LIMIT);

beforeEach(async () => {
  await stopAll(second);
  await driver.remove(second);
  await driver.prepare(second);
});

afterAll(async () => {
  for (const plane of [first, second]) await stopAll(plane);
});

async function processesOfDrill(): Promise<readonly unknown[]> {
  return (await listProcesses()).filter(({ command }) =>
    command.some((arg) => arg.includes(`${layout.root}/drill`)),
  );
}

/** The processes and the folder of a drill. */
async function leftOfDrill(): Promise<readonly unknown[]> {
  return [...(await processesOfDrill()), ...readdirSync(layout.root).filter((name) => name === 'drill')];
}

const newest = (): string => readdirSync(backups).toSorted().at(-1) ?? '';
const database = (): string => join(backups, newest(), 'data', 'member', 'snap', 'db');

describe('a control plane whose members are all wiped', () => {
  it.each<readonly [string, (path: string) => void]>([
    ['truncated', (path) => truncateSync(path, 4096)],
    ['changed in one byte', flipByte],
    ['missing', (path) => rmSync(path)],
  ])('HOS-32 starts from no backup whose database is %s, and is left without data', async (_, damage) => {
    copyFileSync(database(), `${dir}/saved`);
    damage(database());
    const restoring = driver.backups?.restore(second, 'latest');
    await expect(restoring).rejects.toThrow('its files are not those that were written');
    copyFileSync(`${dir}/saved`, database());
    expect((await driver.observe(second, signal)).data).toBe('Empty');
    expect(readdirSync(layout.root)).not.toContain('restore');
  });

  it('HOS-32 starts from no backup that has fewer keys than it had, also when its digest is right', async () => {
    const path = join(backups, newest(), 'snapshot.json');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace(/"keys":\d+/, '"keys":1'));
    await expect(driver.backups?.restore(second, 'latest')).rejects.toThrow('expected 1 keys');
    writeFileSync(path, text);
    expect((await driver.observe(second, signal)).data).toBe('Empty');
  });

  it(
    'HOS-32 is restored in a drill: an API server serves it, and nothing of it is left',
    async () => {
      await driver.backups?.drill(second, undisturbed());
      const { backup } = await driver.observe(second, signal);
      expect(backup?.drill).toEqual({ at: expect.any(Date) as Date, checked: expect.any(Object) as object });
      const { checked } = backup?.drill ?? {};
      expect(checked).toMatchObject({ backup: newest(), clusterUid: systemUid, namespaces: 4, ours: 0 });
      expect(checked?.objects).toBeGreaterThan(50);
      expect(await leftOfDrill()).toEqual([]);
      expect((await driver.observe(second, signal)).data).toBe('Empty');
    },
    LIMIT,
  );

  it.each(
    slice<readonly [string, string, string]>(
      [
        ['cut', 'secrets default/cut', 'k8s\0\n\f\n\u0002v1\u0012\u0006Secret\u0012\u007fcut'],
        [
          'encrypted with a key that is missing',
          'secrets default/locked',
          'k8s:enc:aescbc:v1:key1:0123456789',
        ],
        ['of no kind', 'podtemplates default/plain', 'text'],
      ],
      1,
    ),
  )(
    'HOS-32 fails a drill of a backup that etcd opens, and whose API server cannot read a value that is %s',
    { timeout: LIMIT },
    async (_, object, value) => {
      await driver.backups?.restore(second, 'latest');
      await start(second, 'etcd');
      const key = `/dr/${object.replace(' ', '/')}`;
      await askEtcd('put', { key: base64(key), value: base64(value) });
      await driver.backups?.take(second, { keep: 7 }, undisturbed());
      await driver.stop(second, 'etcd');
      const broken = newest();
      const drilling = driver.backups?.drill(second, undisturbed());
      await expect(drilling).rejects.toThrow(
        `${broken} was not restored: the API server cannot read ${object}: `,
      );
      const { backup } = await driver.observe(second, signal);
      expect(backup?.drill?.problem).toContain(object);
      expect(await leftOfDrill()).toEqual([]);
      rmSync(join(backups, broken), { recursive: true });
    },
  );

  it.runIf(LONG)(
    'HOS-32 keeps no member from its start and its end while a backup is restored in a drill',
    {
      timeout: LIMIT,
    },
    async () => {
      const gate = Promise.withResolvers<number>();
      memory = gate.promise;
      const drilling = driver.backups?.drill(second, undisturbed());
      await start(second, 'etcd');
      await driver.stop(second, 'etcd');
      memory = Promise.resolve(8e9);
      gate.resolve(8e9);
      await drilling;
      const { backup } = await driver.observe(second, signal);
      expect(backup?.drill?.problem).toBeUndefined();
    },
  );

  it.each(slice(['Copying', 'Opening', 'Serving'] as const, 1))(
    'HOS-32 ends a drill at any step when its signal aborts, and leaves no process and no file: %s',
    { timeout: LIMIT },
    async (step) => {
      const stop = new AbortController();
      const onStep = (reached: string): void => {
        if (reached === step) stop.abort();
      };
      await expect(driver.backups?.drill(second, { signal: stop.signal, onStep })).rejects.toThrow(
        /abort|was not restored/,
      );
      expect(await leftOfDrill()).toEqual([]);
      const { backup } = await driver.observe(second, signal);
      expect(backup?.drill?.problem).toBe(INTERRUPTED);
    },
  );

  it.each(slice(['Copying', 'Opening', 'Serving'] as const, 1))(
    'HOS-32 leaves no process when hosting is killed in a drill, and no file after the next one: %s',
    { timeout: LIMIT },
    async (step) => {
      const program = join(import.meta.dirname, 'drill-process.ts');
      const child = spawn(process.execPath, [program, dir, second.name, second.uid], {
        env: shellEnv(),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'close');
      for await (const reached of createInterface({ input: child.stdout })) {
        if (reached === step) child.kill('SIGKILL');
      }
      expect(await ended).toEqual([null, 'SIGKILL']);
      await until(async () => (await processesOfDrill()).length === 0);
      expect(statSync(join(layout.root, 'drill')).mode & 0o777).toBe(0o700);
      await driver.backups?.drill(second, undisturbed());
      expect(await leftOfDrill()).toEqual([]);
    },
  );

  it('HOS-32 removes no control plane before its drill has ended', { timeout: LIMIT }, async () => {
    const stop = new AbortController();
    const gate = Promise.withResolvers<number>();
    memory = gate.promise;
    const order: string[] = [];
    const note = (what: string) => () => void order.push(what);
    const control = { signal: stop.signal, onStep: () => undefined };
    const drilling = driver.backups?.drill(second, control).then(note('drilled'), note('ended'));
    const removing = driver.remove(second).then(note('removed'));
    memory = Promise.resolve(8e9);
    stop.abort();
    gate.resolve(8e9);
    await Promise.all([drilling, removing]);
    expect(order).toEqual(['ended', 'removed']);
    expect(existsSync(layout.root)).toBe(false);
  });

  it.runIf(LONG)('HOS-32 fails a drill with another object than was there', { timeout: LIMIT }, async () => {
    const path = join(backups, newest(), 'snapshot.json');
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/"canary":"[0-9a-f]{64}"/);
    writeFileSync(path, text.replace(/"canary":"[0-9a-f]{64}"/, '"canary":"00"'));
    await expect(driver.backups?.drill(second, undisturbed())).rejects.toThrow(
      'the object kube-system is not the one',
    );
    writeFileSync(path, text);
    const { backup } = await driver.observe(second, signal);
    expect(backup?.drill?.problem).toContain('the object kube-system is not the one');
    expect(readdirSync(layout.root)).not.toContain('drill');
  });

  it('HOS-32 is not restored in a drill where memory is short, or while another one is made', async () => {
    memory = Promise.resolve(500e6);
    await expect(driver.backups?.drill(second, undisturbed())).rejects.toThrow(
      'this machine has 500 MB of memory left',
    );
    memory = Promise.resolve(8e9);
    const lock = await acquireLock(`${dir} drill`);
    await expect(driver.backups?.drill(second, undisturbed())).rejects.toThrow('another drill is being made');
    await lock.release();
    const { backup } = await driver.observe(second, signal);
    expect(backup?.drill).toBeUndefined();
  });

  it(
    'HOS-32 has every key and every object again, byte for byte, with other keys and an API server that serves them',
    async () => {
      await driver.backups?.restore(second, 'latest');
      const { backup } = await driver.observe(second, signal);
      expect(backup?.restoredFrom).toBe(newest());
      await start(second, 'etcd');
      expect(before.length).toBeGreaterThan(50);
      expect(await readKeys()).toEqual(before);
      await start(second, 'kube-apiserver');
      expect(objects).toHaveLength(10);
      expect(await readObjects(second)).toEqual(objects);
      await writeObject(second, 99);
      expect(await readObjects(second)).toHaveLength(12);
      // The former credentials belong to another CA.
      const server = (await driver.access(second))?.server ?? '';
      const stale = oldAdmin.replace(/server: \S+/, `server: ${server}`);
      await expect(withClient(stale, (client) => client.list(SECRETS, {}))).rejects.toThrow(/certificate/);
    },
    LIMIT,
  );
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function flipByte(path: string): void {
  const content = readFileSync(path);
  content.writeUInt8(content.readUInt8(content.length - 100) ^ 1, content.length - 100);
  writeFileSync(path, content);
}
