import { describe, expect, it } from 'vitest';
import {
  credentialsFailure,
  importFailure,
  importRetryMs,
} from '../../../../src/controllers/machine/import/failure.ts';
import { OsError } from '../../../../src/os/errors.ts';
import { sshError } from '../../../support/import-hosts.ts';
import { importedMachine } from './execute/import-bed.ts';
import { DOWN } from './inputs.ts';

describe('importFailure', () => {
  it.each([
    [sshError('HostKeyMismatch'), 'HostKeyMismatch', true],
    [sshError('AuthRefused'), 'AuthRefused', true],
    [sshError('InvalidTarget'), 'InvalidTarget', true],
    [sshError('NoSudo'), 'NoSudo', true],
    [sshError('SudoPassword'), 'SudoPassword', true],
    [new OsError<'HostInUse'>('HostInUse', 'it is'), 'HostInUse', true],
    [sshError('Unreachable'), 'Unreachable', false],
    [sshError('Timeout'), 'Timeout', false],
    [new OsError<'not a reason'>('not a reason', 'it is'), 'ImportFailed', false],
    [new TypeError('it is'), 'ImportFailed', false],
    ['thrown text', 'ImportFailed', false],
  ])('%s is %s', (error, reason, isFinal) => {
    const failure = importFailure(error);
    expect([failure.reason, failure.isFinal]).toEqual([reason, isFinal]);
    expect(failure.message.includes('spec.retryToken')).toBe(isFinal);
  });

  it('tells what to do', () => {
    expect(importFailure(sshError('Timeout', 'no answer')).message).toBe(
      'no answer. Check that the host is up and not overloaded, or allow more time',
    );
  });
});

describe('importRetryMs', () => {
  it('waits twice as long after each failure, and at most five minutes', () => {
    expect([1, 2, 3, 10].map((failures) => importRetryMs(DOWN, failures))).toEqual([
      5000, 10_000, 20_000, 300_000,
    ]);
  });

  it('reads a Secret again soon', () => {
    const failure = credentialsFailure(importedMachine('m'), new Error('it is missing'));
    expect([failure.blocker?.name, importRetryMs(failure, 10)]).toEqual(['rack7-ssh', 15_000]);
  });
});
