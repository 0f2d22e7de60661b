import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { APPLY, createClientBed, failing, NODE, NODES, status } from '../../support/kube/client-bed.ts';

describe('the limiter', () => {
  it('gets from each answer whether the server is overloaded', async () => {
    const slowDown = { ...status(429, 'TooManyRequests'), headers: { 'retry-after': '7' } };
    const answers = [{ body: NODE }, slowDown, status(503, 'ServiceUnavailable'), status(409, 'Conflict')];
    const { client, outcomes } = createClientBed(
      ...answers,
      new KubeError('Timeout', 'late'),
      new KubeError('Unreachable', 'no'),
    );
    for (let call = 0; call < 6; call += 1) await client.get(NODES, { name: 'a' }).catch(() => {});
    expect(outcomes).toEqual([
      { overloaded: false },
      { overloaded: true, retryAfterSeconds: 7 },
      { overloaded: true },
      { overloaded: false },
      { overloaded: true },
      { overloaded: false },
    ]);
  });
});

function denial(causes: readonly object[]): object {
  return {
    ...status(429, 'TooManyRequests', { details: { causes, retryAfterSeconds: 10 } }),
    headers: { 'retry-after': '10' },
  };
}

const evict = ({ client }: ReturnType<typeof createClientBed>): Promise<unknown> =>
  client.create(NODES, NODE, { subresource: 'eviction' }).catch(() => {});

describe('an eviction that a PodDisruptionBudget denies', () => {
  it('does not count as overload, so that other calls need not wait', async () => {
    const refused = createClientBed(
      denial([{ reason: 'DisruptionBudget', message: 'needs 2 healthy pods' }]),
    );
    await evict(refused);
    expect(refused.outcomes).toEqual([{ overloaded: false }]);
  });

  it('differs from a 429 of priority and fairness, which counts', async () => {
    const overloaded = createClientBed(denial([]));
    await evict(overloaded);
    expect(overloaded.outcomes).toEqual([{ overloaded: true, retryAfterSeconds: 10 }]);
  });
});

describe('reports', () => {
  it('have verb, status and duration of each call, and the error code when there was no answer', async () => {
    const { client, reports } = createClientBed(
      { body: NODE },
      status(404, 'NotFound'),
      new KubeError('Timeout', 'late'),
      '',
    );
    await client.get(NODES, { name: 'a' });
    await failing(client.get(NODES, { name: 'a' }));
    await failing(client.apply(NODES, NODE, APPLY));
    for await (const _ of client.watch(NODES, { resourceVersion: '1', timeoutSeconds: 1 })) break;
    expect(reports).toEqual([
      { verb: 'get', code: '200', seconds: 0 },
      { verb: 'get', code: '404', seconds: 0 },
      { verb: 'apply', code: 'Timeout', seconds: 0 },
      { verb: 'watch', code: '200', seconds: 0 },
    ]);
  });
});
