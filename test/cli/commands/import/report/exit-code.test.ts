import { describe, expect, it } from 'vitest';
import { importExitCode } from '../../../../../src/cli/commands/import/report/exit-code.ts';
import { hostReport } from './hosts.ts';

const error = (code: string) => hostReport({ state: 'Error', error: { code, message: 'x' } });

describe('importExitCode', () => {
  it.each([
    ['hosts without a failed check', [hostReport(), hostReport({ state: 'Warn' })], 0],
    ['a check that fails', [hostReport(), hostReport({ state: 'Fail' })], 3],
    ['a host that cannot be checked', [hostReport({ state: 'Fail' }), error('Timeout')], 69],
    ['a key that is refused', [error('Timeout'), error('AuthRefused')], 77],
    ['another host key', [error('HostKeyMismatch'), hostReport({ state: 'Fail' })], 77],
  ])('%s', (_, reports, expected) => {
    expect(importExitCode(reports)).toBe(expected);
  });
});
