import { describe, expect, it } from 'vitest';
import { unblockCluster, unblockObject } from '../../../../src/views/status/tree/unblock.ts';

describe('unblockCluster', () => {
  it.each([
    ['Proven', 'Proven', ''],
    ['Held', 'DeletesHeld', 'kubenode release acknowledge prod --reason TEXT, which prints what to commit'],
    ['Held', 'InventoryDamaged', 'do what the message asks for: sync writes nothing else to it'],
    ['Paused', 'Paused', 'kubenode release resume fleet --cluster prod, or commit paused: false'],
    ['Pending', 'StageBefore', 'no action required: it goes on when the stage before has proven the commit'],
    ['Soaking', 'Soaking', 'no action required: it goes on when the soak ends'],
    ['Applying', 'NotDecrypted', 'do what the message names: docs/guides/secrets.md'],
    ['Applying', 'IdentityDenied', 'do what the message names: docs/guides/permissions.md'],
    ['Applying', 'UnitNotReady', 'do what the message names, unless that becomes ready by itself'],
    ['Held', 'RolledBack', 'kubenode rollback prod --end, or commit the content that it returned to'],
    ['Pending', 'Freeze', 'no action required: it goes on when the freeze ends'],
    ['Pending', 'InvalidWindow', 'commit a time zone that exists, such as Europe/Berlin'],
    ['Failed', 'ProgressDeadlineExceeded', 'fix what is named and commit, or revert the commit'],
    ['Unknown', '', 'check that kubenode sync is running'],
    ['Failed', 'constructor', 'fix what is named and commit, or revert the commit'],
  ])('tells what ends %s because of %s', (state, reason, text) => {
    expect(unblockCluster({ name: 'prod', pipeline: 'fleet', state, reason })).toBe(text);
  });
});

describe('unblockObject', () => {
  it.each([
    ['Timeout', 'no action required: sync retries'],
    ['Waiting', 'no action required once what it waits for is there'],
    ['UnitNotReady', 'no action required once the unit that it names is ready'],
    ['FieldConflict', 'do what the message names, and commit'],
    ['NotDecrypted', 'do what the message names: docs/guides/secrets.md'],
    ['IdentityMissing', 'do what the message names: docs/guides/permissions.md'],
    ['IdentityUnknown', 'no action required: sync asks again'],
    ['Invalid', 'fix the object and commit, or revert the commit'],
  ])('tells what ends %s', (reason, text) => {
    expect(unblockObject(reason)).toBe(text);
  });
});
