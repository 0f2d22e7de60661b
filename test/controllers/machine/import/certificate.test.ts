import { describe, expect, it } from 'vitest';
import { importCertificateFinding } from '../../../../src/controllers/machine/import/certificate.ts';
import type { ImportInput } from '../../../../src/controllers/machine/import/plan.ts';
import { certificateRequestIn, DOWN, importInput, machineAt } from './inputs.ts';

describe('importCertificateFinding', () => {
  it.each<[it: string, input: ImportInput, expected: string]>([
    ['an earlier step', importInput(machineAt(2)), 'False NotStarted'],
    ['the key', importInput(machineAt(3)), 'False Registering'],
    [
      'a host that is down',
      importInput(machineAt(3), { result: { step: 'Request', failure: DOWN } }),
      'False Unreachable',
    ],
    [
      'the approver',
      importInput(machineAt(3), { request: certificateRequestIn('Pending') }),
      'False RequestPending',
    ],
    [
      'the signer',
      importInput(machineAt(3), { request: certificateRequestIn('Approved') }),
      'False RequestNotSigned',
    ],
    [
      'a denial',
      importInput(machineAt(3), { request: certificateRequestIn('Denied') }),
      'False RequestDenied for good',
    ],
    [
      'the delivery',
      importInput(machineAt(3), { request: certificateRequestIn('Issued') }),
      'False Delivering',
    ],
    ['nothing', importInput(machineAt(3), { result: { step: 'Deliver' } }), 'True Delivered'],
    ['a person, in a dry run', importInput(machineAt(2, { host: { dryRun: true } })), 'False DryRun'],
  ])('waits for %s', (_, input, expected) => {
    const { status, reason, isFinal } = importCertificateFinding(input);
    expect(`${status} ${reason}${isFinal ? ' for good' : ''}`).toBe(expected);
  });

  it('names the request that was denied', () => {
    const input = importInput(machineAt(3), { request: certificateRequestIn('Denied') });
    expect(importCertificateFinding(input)).toMatchObject({
      blocker: { kind: 'CertificateSigningRequest', name: 'r1' },
      message: expect.stringContaining('spec.retryToken') as string,
    });
  });
});
