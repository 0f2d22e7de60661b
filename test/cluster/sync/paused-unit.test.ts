/** One unit of one cluster is halted with `kubenode release halt`, with a running sync and real API servers. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { wholeSeconds } from '../../../src/os/dates.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { slice } from '../../support/sweep-size.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const clock = createSystemClock();
const OBJECT = ['--cluster', 'test', '--object', 'ConfigMap default/web-a'] as const;
/** Long enough to see what is paused, on a busy machine. */
const PAUSE_MS = 30_000;
const SLOW = { interval: 500 };
const UNIT = ['--cluster', 'test', '--unit', 'web'] as const;

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

async function run(...args: string[]): Promise<TestIo & { readonly code: number }> {
  const io = testIo({ env: { KUBECONFIG: fleet.hub.kubeconfig } });
  const code = await runCommandLine(io, args);
  return Object.assign(io, { code });
}

function configMaps(objects: Readonly<Record<string, string>>): string {
  return Object.entries(objects)
    .map(
      ([name, value]) =>
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {value: "${value}"}\n`,
    )
    .join('---\n');
}

/** Of the units web and db in the cluster test. */
function unitFiles(
  web: Readonly<Record<string, string>> | undefined,
  db: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return {
    'clusters/test/web/more.yaml': web && configMaps(web),
    'clusters/test/db/more.yaml': configMaps(db),
  };
}

interface LiveMap {
  readonly uid: string;
  readonly version: string;
  readonly value: string;
  readonly unit: string;
}

async function readMap(name: string): Promise<LiveMap> {
  const { metadata, data } = await fleet.clusters.test.client.get(CONFIG_MAPS, {
    name,
    namespace: 'default',
  });
  const { value } = data as { readonly value: string };
  const { uid = '', resourceVersion: version = '', labels } = metadata;
  return { uid, version, value, unit: labels?.['kubenode.dev/unit'] ?? '' };
}

async function readMaps(names: readonly string[]): Promise<Record<string, LiveMap>> {
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readMap(name)] as const)),
  );
}

async function edit(name: string): Promise<void> {
  const patch = { type: 'merge', body: { data: { value: 'by hand' } } } as const;
  await fleet.clusters.test.client.patch(CONFIG_MAPS, { name, namespace: 'default' }, patch, {
    fieldManager: 'anna',
  });
}

/** An edit that arrives before the pause is corrected: sync needs a moment to learn of the pause. */
async function editUntilPaused(name: string, reason: string): Promise<void> {
  await expect
    .poll(async () => {
      await edit(name);
      return fleet.condition('test', 'Synced');
    }, SLOW)
    .toMatchObject({ status: 'False', reason });
}

const HALTED = ['web-a', 'web-removed', 'web-moves', 'db-moves'];
const BEFORE = unitFiles(
  { 'web-a': '1', 'web-removed': '1', 'web-moves': '1' },
  { 'db-a': '1', 'db-moves': '1' },
);
const AFTER = unitFiles({ 'web-a': '2', 'db-moves': '2' }, { 'db-a': '2', 'web-moves': '2' });

async function proven(): Promise<void> {
  fleet.commit('1', 'first');
  const commit = fleet.commitFiles('units', BEFORE);
  await fleet.pipeline();
  await fleet.sync('one');
  await fleet.allProven(commit);
}

describe('release halt --unit', () => {
  it('S30 writes and deletes nothing in the unit, whatever is committed, until it is resumed', async () => {
    await proven();
    const before = await readMaps(HALTED);
    const halted = await run('release', 'halt', 'fleet', ...UNIT, '--reason', 'ticket 7');
    expect([halted.code, halted.stdout]).toEqual([
      0,
      'unit web of cluster test halted: nothing is written until it is resumed. Resume it with: kubenode release resume fleet --cluster test --unit web\n',
    ]);

    const commit = fleet.commitFiles('change both', AFTER);
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit, state: 'Paused' });
    expect(await readMap('db-a')).toMatchObject({ value: '2' });
    expect(await readMaps(HALTED)).toEqual(before);
    const { waiting, state } = await fleet.stageOf(commit, 'test');
    expect([state, waiting?.reason]).toEqual(['Promoting', 'UnitPaused']);
    expect(await fleet.state('prod')).not.toMatchObject({ commit });
    const { status } = await fleet.hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' });
    expect(status?.phase).not.toBe('UpToDate');

    const planned = await run('plan', '--repo', fleet.repository().dir);
    expect(planned.stderr).toContain('Cluster test: unit web is paused: to resume it, run');

    // A commit that removes the whole unit waits, too; in another unit it deletes.
    const removal = fleet.commitFiles('remove the unit', {
      ...unitFiles(undefined, { 'db-moves': '1' }),
      'clusters/test/web/objects.yaml': undefined,
    });
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: removal, state: 'Paused' });
    await expect(readMap('db-a')).rejects.toMatchObject({ code: 'NotFound' });
    expect(await readMaps(HALTED)).toEqual(before);

    const back = fleet.commitFiles('change both again', AFTER);
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: back, state: 'Paused' });
    expect(await readMaps(HALTED)).toEqual(before);

    const resumed = await run('release', 'resume', 'fleet', ...UNIT);
    expect([resumed.code, resumed.stdout]).toEqual([0, 'unit web of cluster test resumed\n']);
    await expect.poll(async () => (await readMap('web-a')).value).toBe('2');
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: back, state: 'Proven' });
    // What moved between the units is the object that it was.
    expect(await readMaps(['web-moves', 'db-moves'])).toMatchObject({
      'web-moves': { uid: before['web-moves']?.uid, value: '2', unit: 'db' },
      'db-moves': { uid: before['db-moves']?.uid, value: '2', unit: 'web' },
    });
    expect((await run('release', 'resume', 'fleet', ...UNIT)).stdout).toBe(
      'unit web of cluster test was not halted: nothing changed\n',
    );
  });

  it('S30 shows drift in the unit and does not correct it, and corrects it in the others', async () => {
    await proven();
    await run('release', 'halt', 'fleet', ...UNIT, '--reason', 'ticket 7');
    await editUntilPaused('web-a', 'UnitPaused');
    const edited = await readMap('web-a');
    await edit('db-a');
    await expect.poll(async () => (await readMap('db-a')).value).toBe('1');
    await expect
      .poll(() => fleet.condition('test', 'Synced'))
      .toMatchObject({
        status: 'False',
        reason: 'UnitPaused',
      });
    expect(await readMap('web-a')).toEqual(edited);

    const { stdout, code } = await run('status', 'test');
    // What is paused is not as the commit has it.
    expect(code).toBe(2);
    expect(stdout).toContain('web: Paused ');
    expect(stdout).toContain('by kubernetes-admin: ticket 7');
    expect(stdout).toContain('unblocks: kubenode release resume fleet --cluster test --unit web');
    expect(stdout).toContain('ConfigMap default/web-a: UnitPaused');
    expect(stdout).toContain('correct: changed in the cluster: data.value');
    expect((await run('status')).stdout).toContain('Cluster test: unit web is paused: to resume it, run');

    await run('release', 'resume', 'fleet', ...UNIT);
    await expect.poll(async () => (await readMap('web-a')).value).toBe('1');
    await expect.poll(() => fleet.condition('test', 'Synced')).toMatchObject({ status: 'True' });
  });

  it('S30 pauses one object, shows its drift, writes the rest, and ends at the time that the halt names', async () => {
    await proven();
    const until = wholeSeconds(new Date(+clock.now() + PAUSE_MS));
    const halted = await run('release', 'halt', 'fleet', ...OBJECT, '--until', until, '--reason', 'ticket 7');
    expect([halted.code, halted.stdout]).toEqual([
      0,
      `object ConfigMap/default/web-a of cluster test halted: nothing is written until ${until}, or until it is resumed. Resume it with: kubenode release resume fleet --cluster test --object ConfigMap/default/web-a\n`,
    ]);
    await expect
      .poll(async () => (await run('status')).stdout)
      .toContain('Cluster test: object ConfigMap/default/web-a is paused: to resume it, run');
    await editUntilPaused('web-a', 'ObjectPaused');
    const edited = await readMap('web-a');
    await edit('web-removed');
    await expect.poll(async () => (await readMap('web-removed')).value).toBe('1');
    await expect
      .poll(() => fleet.condition('test', 'Synced'))
      .toMatchObject({ status: 'False', reason: 'ObjectPaused' });
    const { stdout } = await run('status', 'test');
    expect(stdout).toContain('ConfigMap/default/web-a: Paused ');
    expect(stdout).toContain('ConfigMap default/web-a: ObjectPaused');
    expect(stdout).toContain('correct: changed in the cluster: data.value');
    expect(await readMap('web-a')).toEqual(edited);
    await expect.poll(async () => (await readMap('web-a')).value, { timeout: 2 * PAUSE_MS }).toBe('1');
    expect(+clock.now()).toBeGreaterThanOrEqual(Date.parse(until));
  });

  it('S30 names a pause of an object that does not exist in the condition Synced', async () => {
    await proven();
    await run('release', 'halt', 'fleet', '--cluster', 'test', '--object', 'ConfigMap/default/wbe-a');
    await expect
      .poll(async () => (await fleet.condition('test', 'Synced'))?.message)
      .toContain('neither git nor the inventory lists: ConfigMap/default/wbe-a');
  });

  it.each(
    slice(
      [
        ['misspelt unit', ['--cluster', 'test', '--unit', 'wbe'], 65, 'use one of: db, web'],
        [
          'object without its cluster',
          ['--object', 'ConfigMap/default/web-a'],
          64,
          'add --cluster: kubenode release halt fleet --cluster NAME --object ConfigMap/default/web-a',
        ],
        ['unit and object', [...UNIT, '--object', 'ConfigMap/default/web-a'], 64, 'give one of them'],
        ['misspelt cluster', ['--cluster', 'tset', '--unit', 'web'], 65, 'use one of: prod, test'],
        [
          'missing cluster',
          ['--unit', 'web'],
          64,
          'add --cluster: kubenode release halt fleet --cluster NAME',
        ],
      ],
      1,
    ),
  )('names what exists for a %s, and changes nothing', async (_, flags, code, hint) => {
    await proven();
    for (const verb of ['halt', 'resume']) {
      const refused = await run('release', verb, 'fleet', ...flags);
      expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(hint)]);
    }
  });
});
