import { describe, expect, it } from 'vitest';
import type { JobReplacement, NodeRemedier } from '../../../../src/api/generated/types.ts';
import { createJobEvaluator, type JobTruth } from '../../../../src/controllers/remedyjob/observe/rule.ts';
import type { FactReader } from '../../../../src/rules/compiled-rule.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { remedier } from '../../../support/remediers.ts';
import { repairJob } from '../jobs.ts';

const SICK: FactReader = ({ fact, params }) => {
  if (fact !== 'condition') return { uptimeSeconds: 86_400, count: 0 };
  return params['type'] === 'Ready' ? { status: 'False' } : { status: 'True', observedSeconds: 300 };
};
const WELL: FactReader = ({ params }) => ({ status: params['type'] === 'Ready' ? 'True' : 'False' });
function onlyNewIsWell(machine: string): FactReader {
  return machine === 'web-1' ? WELL : SICK;
}
const FAILING: FactReader = () => {
  throw new Error('no facts');
};

/** The same rule for people, with another digest. */
const CHANGED = remedier({ '/priority': 501, '/rule/clearSeconds': 30 });

async function evaluated(facts: FactReader, rule: NodeRemedier = remedier()): Promise<JobTruth> {
  return await createJobEvaluator({ read: () => facts }, memoryLog()).evaluate(repairJob(), rule);
}

describe('the rule of a job', () => {
  it('R33 is evaluated with the facts of its node, as the verification is', async () => {
    expect(await evaluated(SICK)).toMatchObject({
      rule: 'Match',
      presentFault: { outcome: 'Match' },
      verified: 'False',
    });
    expect(await evaluated(WELL)).toMatchObject({
      rule: 'NoMatch',
      presentFault: { outcome: 'NoMatch' },
      verified: 'True',
    });
  });

  it('R33 refutes nothing once it has changed, but shows whether the fault is present', async () => {
    expect(await evaluated(WELL, CHANGED)).toMatchObject({
      rule: 'Indeterminate',
      presentFault: { outcome: 'NoMatch', clearSeconds: 30 },
    });
  });

  it('R33 refutes nothing once it is deleted', async () => {
    const evaluator = createJobEvaluator({ read: () => WELL }, memoryLog());
    const { rule, presentFault } = await evaluator.evaluate(repairJob(), undefined);
    expect([rule, presentFault]).toEqual(['Indeterminate', undefined]);
  });

  it('R37 verifies a replacement by the facts of the new machine, and not before it exists', async () => {
    const evaluator = createJobEvaluator({ read: onlyNewIsWell }, memoryLog());
    const { verify } = repairJob().spec;
    const asked = { machineSet: 'web', requestedAt: '2030-01-01T00:00:00Z' };
    const verifiedWith = async (replacement: JobReplacement): Promise<string> => {
      const spec = verify ? { verify: { ...verify, target: 'Replacement' as const } } : {};
      return (await evaluator.evaluate(repairJob({ spec, status: { replacement } }), remedier())).verified;
    };
    expect(await verifiedWith(asked)).toBe('Unknown');
    expect(await verifiedWith({ ...asked, machine: 'web-1', uid: 'u' })).toBe('True');
  });

  it('R1 is Indeterminate while its facts cannot be read', async () => {
    expect(await evaluated(FAILING)).toMatchObject({
      rule: 'Indeterminate',
      presentFault: { outcome: 'Indeterminate' },
      verified: 'Unknown',
    });
  });
});
