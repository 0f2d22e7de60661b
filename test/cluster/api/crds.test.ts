/** The CRDs on a real API server, with the real kubectl. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crds } from '../../../src/api/install/install.ts';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import { loadConfig } from '../../../src/kube/auth/config.ts';
import type { Condition } from '../../../src/kube/objects/conditions.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createHttpsTransport } from '../../../src/kube/transport/https.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { accepted } from '../../api/fixtures/load.ts';
import { writeCase } from '../../api/fixtures/write.ts';
import { type InstalledServer, startInstalledServer } from './installed-server.ts';

const CRD = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
} as const;

interface Crd extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const run = promisify(execFile);
const cache = mkdtempSync(join(tmpdir(), 'kubectl-'));

/** Each kind whose CRD has them. */
const WITH_CONDITIONS = KINDS.filter(({ plural }) =>
  crds().some(
    (crd) => crd.metadata.name === `${plural}.kubenode.dev` && JSON.stringify(crd).includes('"conditions"'),
  ),
);

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer(crds());
  for (const kind of KINDS) await createWhole(kind.kind);
});
afterAll(async () => {
  rmSync(cache, { recursive: true, force: true });
  await installed?.stop();
});

describe('the CRD of', () => {
  it.each(KINDS.map(({ kind, plural }) => [kind, plural]))(
    'MAC-01 %s is stored unchanged, with a structural schema',
    async (_, plural) => {
      const crd = await installed.server.client.get<Crd>(CRD, { name: `${plural}.kubenode.dev` });
      const conditions = (crd.status?.conditions ?? []).map(({ type, status }) => [type, status] as const);
      // A condition NonStructuralSchema would be listed here too.
      expect(Object.fromEntries(conditions)).toEqual({ Established: 'True', NamesAccepted: 'True' });
    },
  );

  it.each(KINDS.map(({ kind, shortName }) => [kind, shortName]))(
    'MAC-01 %s has a value in every column',
    async (_, shortName) => {
      const table = await kubectl('get', shortName, '-o', 'wide');
      expect(table).not.toMatch(/<none>|<invalid>|<unknown>/);
    },
  );

  it.each(['machines', 'machinesets'])(
    'MAC-01 %s has at least five columns in the Table that the API server answers kubectl with',
    async (plural) => {
      const { columnDefinitions, rows } = await tableOf(plural);
      const known = KINDS.find((kind) => kind.plural === plural)?.columns.map(({ name }) => name) ?? [];
      const names = columnDefinitions.map(({ name }) => name);
      expect(names).toEqual(['Name', ...known]);
      const narrow = columnDefinitions.filter(({ name, priority }) => name !== 'Name' && priority === 0);
      expect(narrow.length).toBeGreaterThanOrEqual(5);
      expect(rows.length).toBeGreaterThan(0);
      for (const { cells } of rows) expect(cells.filter((cell) => cell === null || cell === '')).toEqual([]);
    },
  );

  it.each(WITH_CONDITIONS.map(({ kind }) => kind))(
    'MAC-01 %s has one condition of each type, also of two clients, and at most 32',
    async (kind) => {
      const { client } = installed.server;
      const { resource, object } = await firstOf(kind);
      const write = (manager: string, types: readonly string[], reason: string): Promise<KubeObject> =>
        client.apply(
          resource,
          { ...headOf(object), status: { conditions: types.map((type) => conditionAs(type, reason)) } },
          { fieldManager: manager, subresource: 'status', force: true },
        );
      const before = conditionTypes(object);
      await write('one', ['OneOf', 'Shared'], 'First');
      const both = await write('other', ['Shared', 'OtherOf'], 'Second');
      expect(conditionTypes(both)).toEqual([...before, 'OneOf', 'Shared', 'OtherOf'].toSorted());
      expect(both).toMatchObject({
        status: { conditions: expect.arrayContaining([conditionAs('Shared', 'Second')]) as unknown },
      });
      const free = 32 - conditionTypes(both).length;
      const more = Array.from({ length: free + 1 }, (_, index) => `More${index}`);
      await expect(write('many', more, 'First')).rejects.toMatchObject({ code: 'Invalid' });
      expect(conditionTypes(await write('many', more.slice(1), 'First'))).toHaveLength(32);
      await write('many', [], 'First');
    },
  );

  it.each(WITH_CONDITIONS.map(({ kind }) => kind))(
    'MAC-01 %s has a status that only a write of its status changes, and that changes no generation',
    async (kind) => {
      const { client } = installed.server;
      const { resource, object } = await firstOf(kind);
      const { name } = object.metadata;
      const patch = { type: 'merge', body: { status: { observedGeneration: 99 } } } as const;
      const refused = await client.patch(resource, { name }, patch);
      expect(refused).not.toMatchObject({ status: { observedGeneration: 99 } });
      const written = await client.patch(resource, { name }, patch, { subresource: 'status' });
      expect(written).toMatchObject({ status: { observedGeneration: 99 } });
      expect(written.metadata.generation).toBe(object.metadata.generation);
    },
  );

  it('kubectl explain describes every field', async () => {
    expect(await kubectl('explain', 'kms.spec.stormGuard.maxUnhealthy')).toContain(
      'Maximum number of unhealthy machines.',
    );
    expect(await kubectl('explain', 'knr.spec.commit')).toContain('Commit id.');
  });

  it('RemedyOperationJob lets an agent select the jobs of its machine', async () => {
    expect(await jobsOf('n17')).toContain('remedyoperationjob.kubenode.dev/n17-');
    expect(await jobsOf('n18')).toBe('');
  });

  it('MAC-01 MachineSet has a scale subresource', async () => {
    await kubectl('scale', 'kms', '--all', '--replicas=7');
    expect(await kubectl('get', 'kms', '-o', 'jsonpath={.items[*].spec.replicas}')).toBe('7');
    const scale = await kubectl('get', '--raw', '/apis/kubenode.dev/v1alpha1/machinesets/general/scale');
    expect(JSON.parse(scale)).toMatchObject({
      spec: { replicas: 7 },
      status: { replicas: 11, selector: 'kubenode.dev/machineset=general' },
    });
  });

  it('DefenderLedger accepts status and labels without a change of its spec', async () => {
    const { client } = installed.server;
    const resource = await client.resourceFor('kubenode.dev/v1alpha1', 'DefenderLedger');
    const body = { metadata: { labels: { team: 'sre' } } };
    await client.patch(resource, { name: 'default' }, { type: 'merge', body });
    const status = { type: 'merge', body: { status: { casConflicts: 3 } } } as const;
    await client.patch(resource, { name: 'default' }, status, { subresource: 'status' });
    expect(await client.get(resource, { name: 'default' })).toMatchObject({
      ...body,
      status: { casConflicts: 3 },
    });
  });
});

/** With a status in which every column has something to show. */
async function createWhole(kind: string): Promise<void> {
  const file = join(import.meta.dirname, 'crds.statuses.yaml');
  const statuses = parse(readFileSync(file, 'utf8')) as Readonly<Record<string, object>>;
  const written = accepted().find((each) => each.kind === kind);
  if (!written) throw new Error(`the corpus has no ${kind}`);
  await writeCase(installed.server.client, {
    ...written,
    object: { ...written.object, status: statuses[kind] },
  });
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { kubectl: program, kubeconfig } = installed.server;
  const { stdout } = await run(program, [`--kubeconfig=${kubeconfig}`, `--cache-dir=${cache}`, ...args]);
  return stdout;
}

async function jobsOf(machine: string): Promise<string> {
  return await kubectl('get', 'kroj', `--field-selector=spec.machine.name=${machine}`, '-o', 'name');
}

/** An object of the kind as it is stored. */
async function firstOf(kind: string): Promise<{ resource: Resource; object: KubeObject }> {
  const { client } = installed.server;
  const resource = await client.resourceFor('kubenode.dev/v1alpha1', kind);
  const [object] = (await client.list(resource)).items;
  if (!object) throw new Error(`no ${kind} was created`);
  return { resource, object };
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** The answer to the request that kubectl sends for `get`. */
async function tableOf(plural: string): Promise<Table> {
  const { connection } = await loadConfig({
    kubeconfig: installed.server.kubeconfig,
    clock: createSystemClock(),
  });
  const transport = createHttpsTransport(connection);
  try {
    const { body } = await transport.request({
      method: 'GET',
      path: `/apis/kubenode.dev/v1alpha1/${plural}`,
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    return JSON.parse(body) as Table;
  } finally {
    await transport.close();
  }
}

function conditionAs(type: string, reason: string): Condition {
  return { type, status: 'True', reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
}

function conditionTypes(object: KubeObject): readonly string[] {
  return listAt(object, 'status', 'conditions')
    .map((each) => textAt(each, 'type') ?? '')
    .toSorted();
}

function headOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name: metadata.name } };
}
