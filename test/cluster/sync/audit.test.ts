/** S30: the audit record with a real hub, real clusters and real commits, read by the command. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import { NAMESPACE_AUDIT } from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import { createSshSigner } from '../../support/git-server/signer.ts';
import { testIo } from '../../support/test-io.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const ann = createSshSigner('ann');

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

type Entry = Readonly<Record<string, unknown>>;

async function auditOf(server: TestFleet['hub'], ...args: readonly string[]): Promise<readonly Entry[]> {
  const io = testIo({ env: { KUBECONFIG: server.kubeconfig } });
  const code = await runCommandLine(io, ['audit', ...args, '-o', 'json']);
  expect([code, io.stderr.replace(/^warning: the DefenderLedger.*\n/, '')]).toEqual([0, '']);
  return io.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
}

function shown({ object, act, outcome, commit }: Entry): string {
  return `${String(object)} ${String(act)} ${String(outcome)} ${String(commit).slice(0, 12)}`;
}

it('S30 records each write with its commit, also after sync was started again, and names an unsigned author as unverified', async () => {
  const { prod } = fleet.clusters;
  const first = fleet.commit('1', 'first');
  await fleet.pipeline();
  const one = await fleet.sync('one');
  await fleet.allProven(first);
  await one.close();

  const second = fleet.commit('2', 'second');
  await fleet.sync('two');
  await fleet.allProven(second);
  const third = fleet.commitFiles('third', { 'clusters/prod/web/objects.yaml': configMaps('settings') });
  await fleet.allProven(third);
  await expect
    .poll(async () => (await auditOf(prod, '--object', 'ConfigMap/default/settings')).map(shown))
    .toEqual([
      `ConfigMap default/settings Created Succeeded ${first.slice(0, 12)}`,
      `ConfigMap default/settings Updated Succeeded ${second.slice(0, 12)}`,
      `ConfigMap default/settings Updated Succeeded ${third.slice(0, 12)}`,
    ]);
  const [created, updated] = await auditOf(prod, '--object', 'ConfigMap/default/settings');
  expect(created).toMatchObject({
    unit: 'web',
    cluster: 'prod',
    pipeline: 'fleet',
    subject: 'first',
    authorVerified: false,
    plan: (await fleet.planOf(first)).digest,
  });
  expect(created).not.toHaveProperty('signer');
  // Each write continues where the one before ended.
  expect(updated).toMatchObject({ before: created?.['after'] });
  expect((await auditOf(prod, '--commit', second.slice(0, 12))).map(shown)).toHaveLength(1);
  expect((await auditOf(fleet.hub, '--object', 'Cluster/prod')).map(shown)).toEqual([
    `kubenode.dev/Cluster prod Created Succeeded ${first.slice(0, 12)}`,
  ]);
  const text = testIo({ env: { KUBECONFIG: prod.kubeconfig } });
  expect(await runCommandLine(text, ['audit', '--commit', first])).toBe(0);
  expect(text.stdout).toMatch(
    /ConfigMap default\/settings +Created +Succeeded .* \(unverified\) +new in git/,
  );
});

it('S30 records a correction and a deletion, and replaying the record rebuilds the inventory', async () => {
  const { prod } = fleet.clusters;
  const files = { 'clusters/prod/web/objects.yaml': configMaps('a', 'b', 'c') };
  fleet.commit('1', 'first');
  const first = fleet.commitFiles('three', files);
  await fleet.pipeline();
  await fleet.sync('one');
  await fleet.allProven(first);
  const change = { type: 'merge', body: { data: { version: 'hand' } } } as const;
  await prod.client.patch(CONFIG_MAPS, { name: 'b', namespace: 'default' }, change, { fieldManager: 'eve' });
  await expect.poll(async () => (await acts(prod)).at(-1)).toMatch(/default\/b Corrected Succeeded/);
  const second = fleet.commitFiles('two', { 'clusters/prod/web/objects.yaml': configMaps('a', 'b') });
  await fleet.allProven(second);
  await expect.poll(async () => (await acts(prod)).at(-1)).toMatch(/default\/c Deleted Succeeded/);

  const replayed = new Map<string, unknown>();
  for (const { object, act, after } of await auditOf(prod)) {
    if (act === 'Deleted') replayed.delete(String(object));
    else replayed.set(String(object), after);
  }
  const name = { name: 'inventory-web-0', namespace: 'kubenode-system' };
  const { data } = await prod.client.get<{ data: { entries: string } }>(CONFIG_MAPS, name);
  const entries = data.entries
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
  const listed = entries.map(
    (each) =>
      [`${each['kind'] ?? ''} ${each['namespace'] ?? ''}/${each['name'] ?? ''}`, each['applied']] as const,
  );
  expect(Object.fromEntries(replayed)).toEqual(Object.fromEntries(listed));
});

it('S30 names the signer of a signed commit, whatever author the commit states', async () => {
  fleet.commit('1', 'first');
  fleet.commitFiles('signers', { 'keys/signers': ann.entry });
  const first = signHead();
  await fleet.pipeline();
  const source = { signatures: 'Range', signers: [{ name: 'people', keysPath: 'keys/signers' }] };
  const patch = { type: 'merge', body: { spec: { source } } } as const;
  await fleet.hub.client.patch(PIPELINES, { name: 'fleet' }, patch, { fieldManager: 'anna' });
  await fleet.sync('one');
  await fleet.allProven(first);
  const [created] = await auditOf(fleet.clusters.prod, '--object', 'ConfigMap/default/settings');
  expect(created).toMatchObject({
    author: 'Mallory (signed by eve)',
    signer: 'ann@example.com',
    authorVerified: true,
  });

  function signHead(): string {
    const repository = fleet.repository();
    const author = ['--author', 'Mallory (signed by eve) <m@example.com>'];
    repository.git(...ann.flags, 'commit', '--quiet', '--amend', '--no-edit', '-S', ...author);
    repository.push('--force', 'origin', 'HEAD');
    return repository.head();
  }
});

it('S30 applies the fleet all the same in a cluster without the namespace of the record', async () => {
  const { prod } = fleet.clusters;
  const { metadata } = await prod.client.get<{ metadata: { uid: string } }>(NAMESPACES, {
    name: NAMESPACE_AUDIT,
  });
  await prod.client.delete(NAMESPACES, { name: NAMESPACE_AUDIT }, { uid: metadata.uid });
  const first = fleet.commit('1', 'first');
  await fleet.pipeline();
  await fleet.sync('one');
  await fleet.allProven(first);
  expect(fleet.log().lines.filter(({ message }) => message === 'writes not recorded for audit')).toHaveLength(
    1,
  );
});

async function acts(server: TestFleet['hub']): Promise<readonly string[]> {
  return (await auditOf(server)).map(shown);
}

function configMaps(...names: readonly string[]): string {
  return names
    .map(
      (name) =>
        `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {version: "9"}\n`,
    )
    .join('---\n');
}
