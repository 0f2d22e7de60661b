import { describe, expect, it } from 'vitest';
import { importStatus } from '../../../../src/controllers/machine/import/status.ts';
import { condition, machine } from '../../../support/builders.ts';
import { HOST_KEY } from '../../../support/import-hosts.ts';
import { certificateRequestIn, DOWN, importInput, MISMATCH, machineAt } from './inputs.ts';

const OTHER_KEY = { ...HOST_KEY, fingerprint: `SHA256:${'b'.repeat(43)}` };
const FIRST = { hostKeyPolicy: 'TrustOnFirstUse' } as const;

describe('importStatus', () => {
  it('is nothing for a machine that is not imported, and for one that has just begun', () => {
    expect([importStatus(importInput(machine('m'))), importStatus(importInput(machineAt(0)))]).toEqual([
      {},
      {},
    ]);
  });

  it('MAC-11 records the first key once, and only with TrustOnFirstUse', () => {
    const result = { step: 'Connect', hostKey: OTHER_KEY } as const;
    const recorded = { hostKey: HOST_KEY };
    expect(importStatus(importInput(machineAt(0, { host: FIRST }), { result })).import).toEqual({
      hostKey: OTHER_KEY,
    });
    expect(importStatus(importInput(machineAt(0), { result }))).toEqual({});
    expect(importStatus(importInput(machineAt(0, { host: FIRST, recorded }), { result })).import).toEqual(
      recorded,
    );
  });

  it('records what identifies the host, also of a preflight that failed', () => {
    const ids = { machineID: 'a', systemUUID: 'b' };
    const preflight = { results: [{ check: 'Swap', result: 'Fail' }] } as const;
    const result = { step: 'Preflight', ids, preflight, failure: DOWN } as const;
    expect(importStatus(importInput(machineAt(1), { result }))).toEqual({ import: ids, preflight });
  });

  it.each([
    [
      'a certificate that was delivered',
      importInput(machineAt(3, { spec: { agentEpoch: 2 } }), { result: { step: 'Deliver' } }),
      2,
    ],
    [
      'one that was not',
      importInput(machineAt(3), { result: { step: 'Deliver', failure: DOWN } }),
      undefined,
    ],
    [
      'an epoch that was raised since',
      importInput(machineAt(3, { spec: { agentEpoch: 2 }, recorded: { agentEpoch: 1 } })),
      1,
    ],
    [
      'an agent that was there first',
      importInput(machineAt(0, { conditions: [condition('AgentReady', 'True')] })),
      0,
    ],
  ])('has the epoch of %s', (_, input, expected) => {
    expect(importStatus(input).import?.agentEpoch).toBe(expected);
  });

  it('remembers the attempt that failed for good, until there is another one', () => {
    const failed = importInput(machineAt(0), { result: { step: 'Connect', failure: MISMATCH } });
    const { attempt } = failed;
    const denied = importInput(machineAt(3), { request: certificateRequestIn('Denied') });
    const recorded = { failedAttempt: attempt };
    expect(
      [failed, denied, importInput(machineAt(0, { recorded }))].map((input) => importStatus(input).import),
    ).toEqual(Array.from({ length: 3 }, () => recorded));
    const changed = importInput(machineAt(0, { recorded, spec: { retryToken: 'again' } }));
    const down = importInput(machineAt(0), { result: { step: 'Connect', failure: DOWN } });
    expect([importStatus(changed), importStatus(down)]).toEqual([{}, {}]);
  });
});
