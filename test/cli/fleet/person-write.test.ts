import { describe, expect, it } from 'vitest';
import { retryConflicts } from '../../../src/cli/fleet/person-write.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';

const CONFLICT = new KubeError('Conflict', 'it was modified');

describe('retryConflicts', () => {
  it.each<[what: string, errors: readonly Error[], calls: readonly boolean[], thrown: string | undefined]>([
    ['runs once without a conflict', [], [false], undefined],
    ['runs again after conflicts', [CONFLICT, CONFLICT], [false, true, true], undefined],
    [
      'ends after five',
      Array.from({ length: 9 }, () => CONFLICT),
      [false, true, true, true, true],
      CONFLICT.message,
    ],
    [
      'does not repeat what another error ended',
      [new KubeError('Forbidden', 'no right')],
      [false],
      'no right',
    ],
  ])('%s', async (_, errors, expected, thrown) => {
    const calls: boolean[] = [];
    const running = retryConflicts(async (isAgain) => {
      const error = errors[calls.length];
      calls.push(isAgain);
      if (error) throw error;
    });
    const message = await running.then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect([calls, message]).toEqual([expected, thrown]);
  });
});
