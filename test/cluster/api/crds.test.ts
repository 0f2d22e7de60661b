import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crdOf } from '../../../src/api/generate/crd.ts';
import { GROUP, KINDS, VERSION } from '../../../src/api/registry.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';

const CRD = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
} as const;

interface CrdStatus {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
  }[];
}

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(async () => await server.stop());

describe('a real API server', () => {
  it.each(KINDS.map((kind) => [kind.kind, kind] as const))('accepts the CRD of %s', async (_, kind) => {
    const crd = crdOf(kind, GROUP, VERSION);
    await server.client.apply(CRD, crd, { fieldManager: 'test' });
    expect(await settled(crd.metadata.name)).toEqual({ Established: 'True', NamesAccepted: 'True' });
  });
});

/** The conditions once the server has made up its mind. */
async function settled(name: string): Promise<Record<string, string>> {
  for (;;) {
    const crd = await server.client.get<KubeObject & { status?: CrdStatus }>(CRD, { name });
    const conditions = (crd.status?.conditions ?? []).map(({ type, status }) => [type, status] as const);
    const found = Object.fromEntries(conditions);
    if (found['Established'] === 'True' || found['NonStructuralSchema'] === 'True') return found;
  }
}
