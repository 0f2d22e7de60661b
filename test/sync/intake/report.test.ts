import { describe, expect, it } from 'vitest';
import { webhookReport } from '../../../src/sync/intake/report.ts';
import { secretStore } from '../../support/secret-store.ts';
import { hookPipeline } from './hook-pipeline.ts';

const good = secretStore({ name: 'hook', use: 'git-webhook', data: { secret: '0123456789abcdef' } });

describe('webhookReport', () => {
  it('reports nothing for a Pipeline that is not there, or has no webhook', () => {
    const { webhookSecretRef: _, ...source } = hookPipeline().spec.source;
    const without = { ...hookPipeline(), spec: { source } } as never;
    expect(webhookReport(undefined, good, { receivesWebhooks: true })).toBeUndefined();
    expect(webhookReport(without, good, { receivesWebhooks: true })).toBeUndefined();
  });

  it('reports a webhook that is received, and why one is not', () => {
    const reasonOf = (secrets: typeof good, receivesWebhooks: boolean): string | undefined =>
      webhookReport(hookPipeline(), secrets, { receivesWebhooks })?.problem?.reason;
    expect(webhookReport(hookPipeline(), good, { receivesWebhooks: true })).toEqual({});
    expect(reasonOf(good, false)).toBe('NotServed');
    expect(reasonOf(secretStore(), true)).toBe('SecretInvalid');
  });
});
