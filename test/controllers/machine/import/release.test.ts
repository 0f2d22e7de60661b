import { describe, expect, it } from 'vitest';
import {
  type ImportReleaseInput,
  planImportRelease,
} from '../../../../src/controllers/machine/import/release.ts';
import { condition, machine, NOW } from '../../../support/builders.ts';
import { DOWN, machineAt } from './inputs.ts';

const NO_SECRET = { reason: 'CredentialsMissing', message: 'Secret a is missing', isFinal: false };
const spoken = [condition('AgentReady', 'True')];
const dry = [{ ...condition('AgentInstalled', 'False'), reason: 'DryRun' }];
const late = new Date(+NOW + 7_200_000);
const soon = new Date(+NOW + 1000);

function input(more: Partial<ImportReleaseInput> = {}): ImportReleaseInput {
  return { machine: machineAt(3, { deleted: true }), isOpen: true, isRunning: false, now: NOW, ...more };
}

describe('planImportRelease', () => {
  it.each<[it: string, input: ImportReleaseInput, expected: string]>([
    ['of a machine that is not imported', input({ machine: machine('m') }), 'Done'],
    ['of a host that was only looked at', input({ machine: machineAt(1, { deleted: true }) }), 'Done'],
    ['of a dry run', input({ machine: machineAt(2, { deleted: true, conditions: dry }) }), 'Done'],
    [
      'of a host whose installation may have begun',
      input({ machine: machineAt(2, { deleted: true }) }),
      'Act',
    ],
    ['begins', input(), 'Act'],
    ['runs', input({ isRunning: true }), 'Wait Releasing'],
    ['ends', input({ result: { left: [] } }), 'Done'],
    ['leaves something', input({ result: { left: ['/var/lib/x'] } }), 'GiveUp LeftBehind'],
    ['fails', input({ result: { failure: DOWN, retryAt: soon } }), 'Wait Unreachable'],
    ['is repeated', input({ result: { failure: DOWN, retryAt: NOW } }), 'Act'],
    ['is too late', input({ result: { failure: DOWN }, now: late }), 'GiveUp Unreachable'],
    ['hangs until it is too late', input({ isRunning: true, now: late }), 'GiveUp Releasing'],
    ['needs another process', input({ isOpen: false }), 'Wait ImportsNotRun'],
    [
      'waits for the Secret of an import that is not done',
      input({ result: { failure: NO_SECRET, retryAt: soon } }),
      'Wait CredentialsMissing',
    ],
    [
      'does not wait for a Secret that was deleted since the agent reports',
      input({
        machine: machineAt(3, { deleted: true, conditions: spoken }),
        result: { failure: NO_SECRET, retryAt: soon },
      }),
      'GiveUp CredentialsMissing',
    ],
  ])('MAC-20 decides how the release ends: %s', (_, given, expected) => {
    const decision = planImportRelease(given);
    const reason = 'reason' in decision ? ` ${decision.reason}` : '';
    expect(`${decision.type}${reason}`).toBe(expected);
  });
});
