import { describe, expect, it } from 'vitest';
import { dryRunApply, formatDryRun } from '../../../src/kube/client/dry-run.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

function thing(
  fields: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', ...fields, metadata: { name: 'a', ...metadata } };
}

describe('dryRunApply', () => {
  const resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };

  it.each<[KubeObject | KubeError, string]>([
    [new KubeError('NotFound', 'no'), 'create Thing a'],
    [thing({ spec: 1 }), 'update Thing a\n  ~ spec: 1 → 2'],
    [thing({ spec: 2 }), 'no change to Thing a'],
  ])('formats the result %#', async (live, text) => {
    const desired = thing({ spec: 2 });
    expect(
      formatDryRun(await dryRunApply(server(live, desired), resource, desired, { fieldManager: 'me' })),
    ).toBe(text);
  });

  it.each(['Unreachable', 'Forbidden', 'BadAnswer'] as const)(
    'rejects with %s instead of treating the object as missing',
    async (code) => {
      const desired = thing({});
      const outcome = dryRunApply(server(new KubeError(code, 'x'), desired), resource, desired, {
        fieldManager: 'me',
      });
      await expect(outcome).rejects.toMatchObject({ code });
    },
  );
});

function server(live: KubeObject | KubeError, result: KubeObject): Parameters<typeof dryRunApply>[0] {
  return {
    get: () => (live instanceof KubeError ? Promise.reject(live) : Promise.resolve(live as never)),
    apply: (_, __, { dryRun }) =>
      dryRun ? Promise.resolve(result as never) : Promise.reject(new Error('not dry')),
  };
}
