import { describe, expect, it } from 'vitest';
import { ENDPOINT_OUTSIDE, LABEL_MANAGED_BY } from '../../../../src/api/names.ts';
import { writeEndpoint } from '../../../../src/controllers/hosting/execute/publish-endpoint.ts';
import { reportEndpoint } from '../../../../src/controllers/hosting/inside/endpoint.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';

const AT = { host: '192.0.2.10', port: 6443 };
const { signal } = new AbortController();

/** A cluster that has this slice or none. */
function cluster(found?: KubeObject) {
  const done: unknown[] = [];
  const client = {
    get: async () => found,
    apply: async (_: unknown, object: unknown) => void done.push(object),
    delete: async (_: unknown, __: unknown, { uid }: { uid: string }) => void done.push(`delete ${uid}`),
  } as unknown as Client;
  return { client, done };
}

async function written(): Promise<KubeObject> {
  const { client, done } = cluster();
  await writeEndpoint(client, AT, signal);
  const [slice] = done as KubeObject[];
  if (!slice) throw new Error('nothing was applied');
  return { ...slice, metadata: { ...slice.metadata, uid: 'u1' } };
}

describe('the endpoint inside a hosted cluster', () => {
  it('HOS-41 is recognized as it was written, as changed, as that of others, and as missing', async () => {
    const slice = await written();
    expect(slice.metadata).toMatchObject(ENDPOINT_OUTSIDE);
    const { labels = {} } = slice.metadata;
    const labelled = (more: object): KubeObject => ({
      ...slice,
      metadata: { ...slice.metadata, labels: { ...labels, ...more } },
    });
    const endpoints = [{ addresses: [AT.host, '192.0.2.11'], conditions: { ready: true } }];
    expect(reportEndpoint(slice)).toEqual(AT);
    expect(reportEndpoint(undefined)).toBeUndefined();
    expect(reportEndpoint(labelled({ [LABEL_MANAGED_BY]: 'ann' }))).toBe('Foreign');
    const changed = [
      { ...slice, endpoints },
      { ...slice, endpoints: [] },
      { ...slice, ports: [] },
      { ...slice, addressType: 'IPv6' },
      labelled({ 'kubernetes.io/service-name': 'other' }),
    ];
    expect(changed.map(reportEndpoint)).toEqual(changed.map(() => 'Changed'));
  });

  it('HOS-41 is deleted by its uid, and not when others made it', async () => {
    const slice = await written();
    const foreign = { ...slice, metadata: { ...slice.metadata, labels: {} } };
    for (const [found, expected] of [
      [slice, ['delete u1']],
      [foreign, []],
      [undefined, []],
    ] as const) {
      const { client, done } = cluster(found);
      await writeEndpoint(client, undefined, signal);
      expect(done).toEqual(expected);
    }
  });
});
