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
import type { KubeObject } from '../../../src/kube/objects/object.ts';
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
  it.each(KINDS.map(({ kind, plural }) => [kind, plural]))('%s is stored unchanged', async (_, plural) => {
    const crd = await installed.server.client.get<Crd>(CRD, { name: `${plural}.kubenode.dev` });
    const conditions = (crd.status?.conditions ?? []).map(({ type, status }) => [type, status] as const);
    // A condition NonStructuralSchema would be listed here too.
    expect(Object.fromEntries(conditions)).toEqual({ Established: 'True', NamesAccepted: 'True' });
  });

  it.each(KINDS.map(({ kind, shortName }) => [kind, shortName]))(
    '%s has a value in every column',
    async (_, shortName) => {
      const table = await kubectl('get', shortName, '-o', 'wide');
      expect(table).not.toMatch(/<none>|<invalid>|<unknown>/);
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

  it('MachineSet has a scale subresource', async () => {
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
