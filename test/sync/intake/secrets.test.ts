import { describe, expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { hookSecretReason, readHookSecrets } from '../../../src/sync/intake/secrets.ts';
import { secretStore } from '../../support/secret-store.ts';
import { hookPipeline } from './hook-pipeline.ts';

const store = (value: string, use = 'git-webhook'): ReturnType<typeof secretStore> =>
  secretStore({ name: 'hook', use, data: { secret: value } });

describe('readHookSecrets', () => {
  it('returns nothing for a Pipeline without a webhook', () => {
    const { webhookSecretRef: _, ...source } = hookPipeline().spec.source;
    const pipeline = { ...hookPipeline(), spec: { ...hookPipeline().spec, source } } as Pipeline;
    expect(readHookSecrets(pipeline, secretStore())).toBeUndefined();
    expect(hookSecretReason(pipeline, secretStore())).toBeUndefined();
  });

  it('returns the secret of each line, so that it can be changed without a gap', () => {
    expect(readHookSecrets(hookPipeline(), store(' 0123456789abcdef \n\nfedcba9876543210\n'))).toEqual([
      '0123456789abcdef',
      'fedcba9876543210',
    ]);
  });

  it.each<[what: string, secrets: ReturnType<typeof secretStore>, reason: RegExp]>([
    [
      'is missing',
      secretStore(),
      /Secret kubenode-system\/hook, which Pipeline fleet references, does not exist/,
    ],
    ['has another use', store('0123456789abcdef', 'git'), /uses it as git-webhook: name another Secret/],
    ['is short', store('0123456789abcde'), /expected at least 16 characters in each line/],
    ['has a short line', store('0123456789abcdef\nshort'), /expected at least 16 characters in each line/],
    ['is empty', store('\n'), /is not a webhook secret/],
  ])('explains that the Secret %s', (_, secrets, reason) => {
    expect(hookSecretReason(hookPipeline(), secrets)).toMatch(reason);
  });
});
