import { describe, expect, it } from 'vitest';
import { revertDestination } from '../../../src/sync/revert/destination.ts';
import { secretStore } from '../../support/secret-store.ts';
import { pipelineWith } from './builders.ts';

const USE = 'git-push; api.github.com, github.com';
const secretWith = (data: Readonly<Record<string, string>>, use = USE) =>
  secretStore({ name: 'push', use, data });

describe('revertDestination', () => {
  it('S35 reads the token, the branch and the way from the Pipeline', () => {
    expect(revertDestination(pipelineWith([]), secretWith({ token: 'ghp_1234' }))).toMatchObject({
      credential: { type: 'Token', token: 'ghp_1234' },
      ref: 'refs/heads/main',
      branch: 'main',
      how: 'Propose',
      repository: 'https://github.com/acme/fleet.git',
    });
    const pushing = pipelineWith([], { spec: { onFailure: 'PushRevert' }, source: { ref: 'release/1' } });
    expect(revertDestination(pushing, secretWith({ token: 'ghp_1234' }))).toMatchObject({
      how: 'Push',
      ref: 'refs/heads/release/1',
    });
  });

  it('S35 reads the signing key if the Secret has one', () => {
    const target = revertDestination(pipelineWith([]), secretWith({ token: 'ghp_1234', 'signing-key': 'k' }));
    expect(target?.signingKey).toBe('k');
    expect(revertDestination(pipelineWith([]), secretWith({ token: 'ghp_1234' }))).not.toHaveProperty(
      'signingKey',
    );
  });

  it('S35 is off by default, and needs no Secret then', () => {
    expect(
      revertDestination(pipelineWith([], { spec: { onFailure: 'Stop' } }), secretStore()),
    ).toBeUndefined();
  });

  it.each<[string, object, string, string]>([
    ['without a Secret', { writeCredentialsRef: undefined }, USE, 'set spec.source.writeCredentialsRef'],
    [
      'with the Secret of commit statuses',
      {},
      'git-status; api.github.com, github.com',
      'uses it as git-push',
    ],
    ['with a Secret for the API only', {}, 'git-push; api.github.com', 'for github.com. To permit it'],
    ['with a Secret for the repository only', {}, 'git-push; github.com', 'for api.github.com. To permit it'],
    ['for a tag', { ref: 'refs/tags/v1' }, USE, 'set spec.source.ref to refs/heads/NAME'],
    ['for a folder', { repository: 'file:///fleet' }, USE, 'has no git host'],
  ])('S35 makes no revert for a Pipeline %s', (_, source, use, because) => {
    const pipeline = pipelineWith([], { source });
    expect(() => revertDestination(pipeline, secretWith({ token: 'ghp_1234' }, use))).toThrow(because);
  });
});
