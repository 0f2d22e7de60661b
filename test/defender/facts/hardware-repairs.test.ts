import { describe, expect, it } from 'vitest';
import type { JobStepStatus, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import type { RepairFact } from '../../../src/defender/facts/facts.ts';
import { withHardwareRepairs } from '../../../src/defender/facts/hardware-repairs.ts';
import { ago, machine, NOW } from '../../support/builders.ts';
import { type JobParts, remedyJob } from '../../support/remediers.ts';

interface Parts extends JobParts {
  readonly step?: string;
  readonly state?: JobStepStatus['state'];
}

function ended({ step = 'Reboot@v1', state = 'Succeeded', ...parts }: Parts = {}): RemedyOperationJob {
  const job = remedyJob({ machine: 'old', outcome: 'Permanent', ended: 600, ...parts });
  const [first] = job.spec.plan;
  if (!first) throw new Error('the job has no step');
  return {
    ...job,
    spec: { ...job.spec, plan: [{ ...first, step }] },
    status: { conditions: [], ...job.status, steps: [{ id: first.id, state }] },
  };
}

/** Those of a Machine `new`, which was repaired a minute ago, and of jobs of earlier ones. */
function repairs(jobs: readonly RemedyOperationJob[], uids: Readonly<Record<string, string>> = {}): string[] {
  const own: RepairFact[] = [{ at: new Date(ago(60)), rebooted: true }];
  const named = machine('new', { metadata: { uid: 'uid-new' } });
  const found = withHardwareRepairs(own, named, { jobs, uidOf: (name) => uids[name] });
  return found.map(({ at, rebooted, replacedFor }) => {
    const age = (+NOW - +at) / 1000;
    return [`${age} s`, rebooted ? 'rebooted' : '', replacedFor ?? ''].filter(Boolean).join(' ');
  });
}

describe('repairs of the hardware', () => {
  const OWN = '60 s rebooted';

  it.each<[string, RemedyOperationJob, string[]]>([
    ['counts a repair of a Machine that does not exist any more', ended(), [OWN, '600 s rebooted']],
    ['counts a repair that did not reboot', ended({ risk: 'Pod' }), [OWN, '600 s']],
    ['does not count a hand-off', ended({ risk: 'None', step: 'HandOff@v1' }), [OWN]],
    ['does not count a job that did nothing', ended({ state: 'Skipped' }), [OWN]],
    ['does not count a job that has not begun', ended({ state: 'Pending' }), [OWN]],
    ['knows own repairs from the Machine itself', ended({ machine: 'new' }), [OWN]],
    [
      'tells for which rule the Machine was replaced',
      ended({ step: 'ReplaceMachine@v1', risk: 'Machine' }),
      [OWN, '600 s rebooted kernel-hang'],
    ],
  ])('R26 the history of a Machine %s', (_, job, expected) => {
    expect(repairs([job])).toEqual(expected);
  });

  it.each(['Pending', 'Skipped'] as const)(
    'R26 does not take a replacement that is %s after a drain for one',
    (state) => {
      const job = ended({ step: 'Drain@v1', risk: 'Machine' });
      const [drain] = job.spec.plan;
      if (!drain) throw new Error('the job has no step');
      const plan = [drain, { ...drain, id: 's2', step: 'ReplaceMachine@v1' }];
      const steps = [...(job.status?.steps ?? []), { id: 's2', state }];
      const status = { conditions: [], ...job.status, steps };
      expect(repairs([{ ...job, spec: { ...job.spec, plan }, status }])).toEqual([OWN, '600 s rebooted']);
    },
  );

  it('R26 leaves out jobs of another Machine that exists, and counts those of one whose name was given again', () => {
    expect(repairs([ended()], { old: 'uid-old' })).toEqual([OWN]);
    expect(repairs([ended()], { old: 'uid-of-another' })).toEqual([OWN, '600 s rebooted']);
  });

  it('R26 counts a job that has not settled until its deadline, and sorts newest first', () => {
    const open = ended({ begun: 5000 });
    const unsettled = { ...open, status: { conditions: [], steps: open.status?.steps ?? [] } };
    expect(repairs([ended(), unsettled])).toEqual(['-2200 s rebooted', OWN, '600 s rebooted']);
  });
});
