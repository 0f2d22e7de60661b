import { describe, expect, it } from 'vitest';
import { behaviorDigest } from '../../../src/rollout/rule-waves/rule-digest.ts';
import { remedier } from '../../support/remediers.ts';

const BEFORE = behaviorDigest(remedier());

describe('the digest of what a rule does', () => {
  it.each<[name: string, changes: Readonly<Record<string, unknown>>]>([
    ['its owner', { '/owner': { team: 'other', runbook: 'docs/other.md' } }],
    ['its mode', { '/mode': 'Shadow' }],
    ['the name of a test', { '/tests/0/name': 'another name' }],
    ['its priority', { '/priority': 7 }],
    ['the history of its jobs', { '/job': { historyLimit: 7, ttlSeconds: 60 } }],
  ])('R10 stays the same for another version in which only %s differs', (_, changes) => {
    expect(behaviorDigest(remedier(changes))).toBe(BEFORE);
  });

  it('R10 does not depend on names or annotations of the object', () => {
    expect(
      behaviorDigest(remedier({}, { name: 'other', annotations: { 'kubenode.dev/commit': 'abc' } })),
    ).toBe(BEFORE);
  });

  it.each<[name: string, changes: Readonly<Record<string, unknown>>]>([
    ['its target', { '/target/nodeSelector': { matchLabels: { pool: 'web' } } }],
    ['its bound', { '/target/maxMatchPercent': 50 }],
    ['a condition', { '/rule/conditions/all/0/value': 'Other' }],
    ['a rung', { '/ladder/0/maxAttempts': 2 }],
    ['the deadline of its jobs', { '/job': { deadlineSeconds: 99 } }],
  ])('R10 is another one when %s differs', (_, changes) => {
    expect(behaviorDigest(remedier(changes))).not.toBe(BEFORE);
  });
});
