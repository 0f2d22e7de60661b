import { describe, expect, it } from 'vitest';
import { createLatestCheck, type LatestCheck } from '../../../src/sync/hub/latest-check.ts';
import { settle } from '../../support/virtual-clock.ts';

interface Bed {
  readonly checks: LatestCheck;
  readonly journal: string[];
  /** Ends the check of that commit, with an error if there is one. */
  readonly end: (commit: string, error?: Error) => Promise<void>;
}

function createBed(): Bed {
  const journal: string[] = [];
  const running = new Map<string, PromiseWithResolvers<void>>();
  const checks = createLatestCheck({
    check: async (commit, signal) => {
      journal.push(`check ${commit}`);
      const end = Promise.withResolvers<void>();
      running.set(commit, end);
      signal.addEventListener('abort', () => {
        journal.push(`cancel ${commit}`);
        end.reject(signal.reason as Error);
      });
      await end.promise;
    },
    onEnd: (error) => void journal.push(error ? `failed: ${error.message}` : 'ended'),
  });
  return {
    checks,
    journal,
    async end(commit, error) {
      const { resolve, reject } = running.get(commit) ?? Promise.withResolvers<void>();
      if (error) reject(error);
      else resolve();
      await settle();
    },
  };
}

describe('createLatestCheck', () => {
  it('checks a commit once while it is being checked, and again afterwards', async () => {
    const { checks, journal, end } = createBed();
    for (let poll = 0; poll < 3; poll += 1) checks.start('a');
    await settle();
    await end('a');
    checks.start('a');
    await settle();
    await end('a', new Error('unreachable'));
    expect(journal).toEqual(['check a', 'ended', 'check a', 'failed: unreachable']);
  });

  it('cancels the check in progress for a newer commit, and skips those between', async () => {
    const { checks, journal, end } = createBed();
    checks.start('a');
    await settle();
    checks.start('b');
    checks.start('c');
    await settle();
    await end('c');
    expect(journal).toEqual(['check a', 'cancel a', 'check c', 'ended']);
  });

  it('cancels the check in progress when it is closed, and reports nothing', async () => {
    const { checks, journal } = createBed();
    checks.start('a');
    await settle();
    await checks.close();
    expect(journal).toEqual(['check a', 'cancel a']);
  });
});
