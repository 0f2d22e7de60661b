import { describe, expect, it } from 'vitest';
import { planStartFailure, planUpgrade, type UpgradeInput } from '../../../src/agent/upgrade/plan.ts';
import type { AgentUpgrade } from '../../../src/agent/upgrade/slots.ts';
import { agentUpgrade } from '../../support/agent/upgrades.ts';

const MIB = 1024 ** 2;
const NEW = { pid: 7, startId: '700' };
const OBSERVED = { agent: NEW, atMs: 1000 };
const HEALTHY = { key: 'k', pid: 7, atMs: 5000, missing: [] };
const PROBATION = { step: 'Probation', observed: OBSERVED } as const;
const CRASHED = 'Record Returning AgentCrashed: the agent of version 1.1 ended';
const HOLDING = { ...PROBATION, healthyAtMs: 5000 };

/** Unless a row overrides it: an agent that runs and has reported nothing, one second after its start. */
describe('AGT-43 plans the upgrade of the agent', () => {
  it.each<[name: string, upgrade: Partial<AgentUpgrade>, observation: Partial<UpgradeInput>, string]>([
    ['stops the old one first', {}, {}, 'Record Starting after 0 boots, Stop, Start /new, Record Probation'],
    ['begins with the process', { step: 'Probation' }, {}, 'Record Probation'],
    ['waits for a proof', PROBATION, {}, ''],
    ['waits for a proof of this process', PROBATION, { proof: { ...HEALTHY, pid: 6 } }, ''],
    ['waits for a proof of this attempt', PROBATION, { proof: { ...HEALTHY, key: 'old' } }, ''],
    ['waits for a whole proof', PROBATION, { proof: { ...HEALTHY, missing: ['its Lease'] } }, ''],
    ['notes when it is healthy', PROBATION, { proof: HEALTHY }, 'Record Probation'],
    ['holds it for a while', HOLDING, { proof: HEALTHY, uptimeMs: 14_999 }, ''],
    ['keeps it', HOLDING, { proof: HEALTHY, uptimeMs: 15_000 }, 'Settle Committed'],
    [
      'gives up after the limit and tells what is missing',
      PROBATION,
      { uptimeMs: 61_000, proof: { ...HEALTHY, missing: ['its Lease was not written'] } },
      'Record Returning AgentUnhealthy: the agent of version 1.1 is not healthy after 60 s: its Lease was not written',
    ],
    [
      'gives up on one that reports nothing',
      PROBATION,
      { uptimeMs: 61_000 },
      'Record Returning AgentUnhealthy: the agent of version 1.1 is not healthy after 60 s: it reported nothing',
    ],
    [
      'gives up on one whose loop stops',
      HOLDING,
      { proof: HEALTHY, uptimeMs: 35_001 },
      'Record Returning AgentHung: the loop of the agent of version 1.1 stopped after it was healthy',
    ],
    [
      'leaves one a while to report again that proved itself late',
      { ...HOLDING, healthyAtMs: 35_000 },
      { proof: HEALTHY, uptimeMs: 35_001 },
      '',
    ],
    ['gives up on one that ended', PROBATION, { agent: undefined as never }, CRASHED],
    ['gives up on one that never ran', { step: 'Probation', observed: { atMs: 1 } }, {}, CRASHED],
    ['gives up on one that was started again', PROBATION, { agent: agent({ pid: 8 }) }, CRASHED],
    ['gives up on another process', PROBATION, { agent: agent({ startId: '701' }) }, CRASHED],
    ['gives up on one that ends while it is held', HOLDING, { agent: undefined as never }, CRASHED],
    [
      'gives up on one that takes too much memory',
      HOLDING,
      { agent: agent({ residentBytes: 257 * MIB }), proof: HEALTHY },
      'Record Returning AgentMemory: the agent of version 1.1 takes 257 MiB of memory, expected at most 256',
    ],
    ['starts again after a reboot', HOLDING, { bootId: 'boot-2' }, 'Record Starting after 1 boots'],
    [
      'gives up after a second reboot',
      { ...HOLDING, boots: 1 },
      { bootId: 'boot-2' },
      'Record Returning Rebooted: the machine rebooted 2 times before the version was kept',
    ],
    ['returns the old one', { step: 'Returning' }, {}, 'Stop, Start /old, Settle RolledBack'],
    [
      'returns the old one after a reboot, too',
      { step: 'Returning', boots: 1 },
      { bootId: 'boot-9' },
      'Stop, Start /old, Settle RolledBack',
    ],
  ])('%s', (_, upgrade, observation, expected) => {
    expect(explain(agentUpgrade(upgrade), observation)).toBe(expected);
  });

  it('returns for a program that cannot be started, and not again while it returns', () => {
    const returning = planStartFailure(agentUpgrade(), 'no such file');
    expect(returning).toMatchObject([{ type: 'Record', upgrade: { failure: { code: 'AgentNotStarted' } } }]);
    expect(planStartFailure(agentUpgrade({ step: 'Returning' }), 'no such file')).toEqual([]);
  });

  it('forgets what it observed before a reboot', () => {
    const [action] = planUpgrade(agentUpgrade(HOLDING), observe({ bootId: 'boot-2' }));
    const { observed, healthyAtMs } = (action as { upgrade: AgentUpgrade }).upgrade;
    expect([observed, healthyAtMs]).toEqual([undefined, undefined]);
  });
});

function agent(fields: object): NonNullable<UpgradeInput['agent']> {
  return { ...NEW, residentBytes: 60 * MIB, ...fields };
}

function observe(fields: Partial<UpgradeInput>): UpgradeInput {
  return { bootId: 'boot-1', uptimeMs: 6000, agent: agent({}), ...fields };
}

function explain(upgrade: AgentUpgrade, observation: Partial<UpgradeInput>): string {
  return planUpgrade(upgrade, observe(observation))
    .map((action) => {
      if (action.type === 'Start') return `Start ${action.program}`;
      if (action.type === 'Settle') return `Settle ${action.result}`;
      return action.type === 'Record' ? `Record ${recordText(action.upgrade)}` : action.type;
    })
    .join(', ');
}

function recordText({ step, failure, boots }: AgentUpgrade): string {
  const after = step === 'Starting' ? ` after ${boots} boots` : '';
  return `${step}${after}${failure ? ` ${failure.code}: ${failure.message}` : ''}`;
}
