import { describe, expect, it } from 'vitest';
import { truncateToSchema } from '../../../src/api/validation/truncate-to-schema.ts';
import { validate } from '../../../src/api/validation/validate.ts';

const PIPELINE = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Pipeline', metadata: { name: 'fleet' } };
const SINCE = '2030-01-01T00:00:00Z';

function pipelineWith(status: object): typeof PIPELINE & { readonly status: object } {
  return { ...PIPELINE, status };
}

describe('truncateToSchema', () => {
  it('truncates a text to the length that its field may have', () => {
    const waiting = { reason: 'StageBusy', since: SINCE, message: 'x'.repeat(300) };
    const { status } = truncateToSchema(pipelineWith({ conditions: [], waiting }));
    expect(status).toEqual({ conditions: [], waiting: { ...waiting, message: `${'x'.repeat(255)}…` } });
  });

  it('counts code points, as the API server does', () => {
    const head = { message: '😀'.repeat(1100) };
    const { status } = truncateToSchema(pipelineWith({ conditions: [], head }));
    expect(status).toEqual({ conditions: [], head: { message: `${'😀'.repeat(1023)}…` } });
  });

  it('truncates a list and the texts of the entries that stay', () => {
    const failure = { object: 'o'.repeat(400), reason: 'Invalid', message: 'm'.repeat(400) };
    const sync = { failures: Array.from({ length: 30 }, () => failure) };
    const cluster = {
      ...PIPELINE,
      kind: 'Cluster',
      spec: { environment: 'test', connection: { inCluster: true } },
      status: { conditions: [], sync },
    };
    const after = truncateToSchema(cluster);
    expect(after.status.sync.failures).toEqual(
      Array.from({ length: 20 }, () => ({
        object: `${'o'.repeat(319)}…`,
        reason: 'Invalid',
        message: `${'m'.repeat(255)}…`,
      })),
    );
    expect(validate(after)).toEqual([]);
  });

  it('replaces lone surrogates, as the API server does', () => {
    const { status } = truncateToSchema(pipelineWith({ head: { message: 'a\ud800b' } }));
    expect(status).toEqual({ head: { message: 'a\ufffdb' } });
  });

  it('leaves an object that fits equal, and does not change its input', () => {
    const fits = pipelineWith({ conditions: [], head: { message: 'x'.repeat(256) } });
    expect(truncateToSchema(fits)).toEqual(fits);
    const long = pipelineWith({ head: { message: 'x'.repeat(257) } });
    truncateToSchema(long);
    expect(long.status).toEqual({ head: { message: 'x'.repeat(257) } });
  });
});
