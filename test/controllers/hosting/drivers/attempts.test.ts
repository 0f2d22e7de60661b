import { describe, expect, it } from 'vitest';
import { begunAttempt, failedAttempt } from '../../../../src/controllers/hosting/drivers/attempts.ts';
import type { BackupAttempt } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { NOW } from '../../../support/builders.ts';

const LATER = new Date(+NOW + 300_000);
const INTERRUPTED = 'it was interrupted';

describe('an attempt at the upkeep of etcd', () => {
  it.each<readonly [string, BackupAttempt | undefined, Partial<BackupAttempt>]>([
    ['is the first one', undefined, { since: LATER }],
    ['follows one that succeeded', { at: NOW }, { since: LATER }],
    [
      'follows one that failed',
      { at: NOW, problem: 'no disk', since: NOW },
      { since: NOW, former: 'no disk' },
    ],
    [
      'follows one that a crash ended after a failure',
      { at: NOW, problem: INTERRUPTED, since: NOW, former: 'no disk' },
      { since: NOW, former: 'no disk' },
    ],
    ['follows one that a crash ended', { at: NOW, problem: INTERRUPTED, since: NOW }, { since: NOW }],
  ])('HOS-32 counts as interrupted from its beginning when it %s', (_, before, expected) => {
    const begun = begunAttempt(before, LATER);
    expect(begun).toEqual({ at: LATER, problem: INTERRUPTED, ...expected });
    const { since } = expected;
    expect(failedAttempt(begun, 'x'.repeat(2000))).toEqual({ at: LATER, problem: 'x'.repeat(1000), since });
  });
});
