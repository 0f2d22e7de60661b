import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import {
  importAttempt,
  isEpochRaised,
  isRegistered,
  isRegisteringAgain,
} from '../../../../src/controllers/machine/import/attempt.ts';
import { condition } from '../../../support/builders.ts';
import { machineAt } from './inputs.ts';

const spoken = [condition('AgentReady', 'True')];
const silent = [condition('AgentReady', 'Unknown'), condition('SSHCredentialsNeeded', 'False')];

describe('importAttempt', () => {
  it('is the same while the host goes on, and another one after each change of a person', () => {
    const first = importAttempt(machineAt(0));
    expect(importAttempt(machineAt(3, { conditions: spoken, spec: { minReadySeconds: 9 } }))).toBe(first);
    const others = [
      machineAt(0, { host: { address: '10.0.0.2' } }),
      machineAt(0, { spec: { retryToken: 'again' } }),
      machineAt(0, { spec: { agentEpoch: 1 } }),
    ].map(importAttempt);
    expect(new Set([first, ...others]).size).toBe(4);
    expect(first).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('a host', () => {
  it.each<[it: string, found: Machine, raised: boolean, registered: boolean, again: boolean]>([
    ['that is new', machineAt(0), false, false, false],
    ['that is new, with an epoch', machineAt(0, { spec: { agentEpoch: 1 } }), true, false, false],
    ['with its certificate', machineAt(3, { recorded: { agentEpoch: 0 } }), false, true, false],
    ['with an agent', machineAt(3, { conditions: spoken, recorded: { agentEpoch: 0 } }), false, true, false],
    ['with an agent that is silent', machineAt(3, { conditions: silent }), false, true, false],
    [
      'whose agent was there first',
      machineAt(0, { conditions: spoken, spec: { agentEpoch: 3 } }),
      false,
      true,
      false,
    ],
    [
      'whose agent needs another certificate',
      machineAt(3, { conditions: silent, recorded: { agentEpoch: 0 }, spec: { agentEpoch: 1 } }),
      true,
      false,
      true,
    ],
  ])('MAC-16 tells whether SSH is needed again: %s', (...row) => {
    const [, found, ...expected] = row;
    expect([isEpochRaised(found), isRegistered(found), isRegisteringAgain(found)]).toEqual(expected);
  });
});
